"""Kafka's ``CooperativeStickyAssignor`` of the consumer."""

from builtin_assignors.consumer_cooperative_sticky.assignor import CooperativeStickyAssignor

__all__ = ["CooperativeStickyAssignor"]
