"""Kafka's ``StickyAssignor`` of the consumer."""

from builtin_assignors.consumer_sticky.assignor import StickyAssignor

__all__ = ["StickyAssignor"]
