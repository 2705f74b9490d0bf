"""The group coordinator's sticky assignor for Streams groups (KIP-1071)."""

from builtin_assignors.group_sticky.assignor import GroupStickyTaskAssignor

__all__ = ["GroupStickyTaskAssignor"]
