"""High availability with rack awareness switched on; costs and flow are in ``assignment_api/utils/rack_aware``."""

from builtin_assignors.rack_aware.assignor import RackAwareTaskAssignor

__all__ = ["RackAwareTaskAssignor"]
