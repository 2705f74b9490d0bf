"""Incremental cooperative assignment (KIP-415)."""

from builtin_assignors.connect_incremental.assignor import IncrementalCooperativeAssignor

__all__ = ["IncrementalCooperativeAssignor"]
