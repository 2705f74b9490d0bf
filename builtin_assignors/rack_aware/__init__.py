"""High availability with rack awareness switched on."""

from builtin_assignors.rack_aware.assignor import RackAwareTaskAssignor

__all__ = ["RackAwareTaskAssignor"]
