"""The group coordinator's simple assignor for share groups (KIP-932)."""

from builtin_assignors.share_simple.assignor import ShareSimpleAssignor

__all__ = ["ShareSimpleAssignor"]
