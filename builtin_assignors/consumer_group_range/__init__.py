"""The group coordinator's range assignor for consumer groups (KIP-848)."""

from builtin_assignors.consumer_group_range.assignor import ConsumerGroupRangeAssignor

__all__ = ["ConsumerGroupRangeAssignor"]
