"""Durations in real groups: timelines of recorded experiments and of logs, and constants derived from them."""
