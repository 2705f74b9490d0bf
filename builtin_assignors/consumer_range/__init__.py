"""Kafka's ``RangeAssignor`` of the consumer."""

from builtin_assignors.consumer_range.assignor import RangeAssignor

__all__ = ["RangeAssignor"]
