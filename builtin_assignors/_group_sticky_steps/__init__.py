"""The steps that the brokers' sticky assignors of all releases share; private to the built-ins."""

from builtin_assignors._group_sticky_steps.boundary import NoProcessError, assigned
from builtin_assignors._group_sticky_steps.members import VisitedMembers, previous_standbys, spreads_of
from builtin_assignors._group_sticky_steps.placement import Placement
from builtin_assignors._group_sticky_steps.problem import Rules
from builtin_assignors._group_sticky_steps.tasks import TopologyTasks

__all__ = [
    "NoProcessError",
    "Placement",
    "Rules",
    "TopologyTasks",
    "VisitedMembers",
    "assigned",
    "previous_standbys",
    "spreads_of",
]
