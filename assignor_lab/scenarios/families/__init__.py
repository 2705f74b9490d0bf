"""Families of generated scenarios: a seed is all that travels."""

from assignor_lab.scenarios.families.streams_histories import streams_4x40, streams_histories

__all__ = ["streams_4x40", "streams_histories"]
