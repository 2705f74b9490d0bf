"""High availability with rack awareness; costs and flow are in ``assignment_api/utils/rack_aware``."""

from builtin_assignors.rack_aware.assignor import RackAwareTaskAssignor

__all__ = ["RackAwareTaskAssignor"]
