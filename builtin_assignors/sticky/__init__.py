"""Kafka's public sticky assignor (KIP-924)."""

from builtin_assignors.sticky.assignor import StickyTaskAssignor

__all__ = ["StickyTaskAssignor"]
