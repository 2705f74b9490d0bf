"""The steps that the brokers' sticky assignors of all releases share; private to the built-ins."""

from builtin_assignors._group_sticky_steps.boundary import NoProcessError, assigned
from builtin_assignors._group_sticky_steps.layout import GroupLayout, spreads_of
from builtin_assignors._group_sticky_steps.placement import GroupStickyPlacement
from builtin_assignors._group_sticky_steps.previous import ReturnCandidates, previous_standbys
from builtin_assignors._group_sticky_steps.problem import Choice, Rules
from builtin_assignors._group_sticky_steps.tasks import TopologyTasks

__all__ = [
    "ReturnCandidates",
    "Choice",
    "GroupLayout",
    "NoProcessError",
    "GroupStickyPlacement",
    "Rules",
    "TopologyTasks",
    "assigned",
    "previous_standbys",
    "spreads_of",
]
