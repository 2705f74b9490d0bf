"""The group coordinator's sticky assignor for Streams groups in Kafka 4.4.0 (KIP-1071, KIP-1357)."""

from builtin_assignors.group_sticky_4_4.assignor import GroupStickyTaskAssignor

__all__ = ["GroupStickyTaskAssignor"]
