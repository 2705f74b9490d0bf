"""Kafka's internal sticky assignor."""

from builtin_assignors.legacy_sticky.assignor import LegacyStickyTaskAssignor

__all__ = ["LegacyStickyTaskAssignor"]
