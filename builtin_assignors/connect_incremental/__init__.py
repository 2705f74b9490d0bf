"""Incremental cooperative assignment (KIP-415); its steps are in ``builtin_assignors/_connect_incremental_steps``."""

from builtin_assignors.connect_incremental.assignor import IncrementalCooperativeAssignor

__all__ = ["IncrementalCooperativeAssignor"]
