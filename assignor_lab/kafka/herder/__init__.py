"""Decisions of a Connect herder."""
