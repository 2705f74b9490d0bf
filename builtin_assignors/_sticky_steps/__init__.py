"""The steps that the sticky assignors share; private to the built-ins."""

from builtin_assignors._sticky_steps.actives import (
    MAX_TASKS,
    check_number_of_tasks,
    keep_previous_owners,
    place_remaining,
    promote_previous_standbys,
    unassigned_if_plain,
)
from builtin_assignors._sticky_steps.boundary import StickyIds, client_map_order, steps_of, to_assignment, to_problem
from builtin_assignors._sticky_steps.placement import StickyPlacement
from builtin_assignors._sticky_steps.previous import PreviousOwners
from builtin_assignors._sticky_steps.problem import StickyProblem
from builtin_assignors._sticky_steps.ranking import LoadRule, Rank
from builtin_assignors._sticky_steps.standbys import place_standbys
from builtin_assignors._sticky_steps.tracing import StickySteps

__all__ = [
    "MAX_TASKS",
    "LoadRule",
    "StickyPlacement",
    "PreviousOwners",
    "Rank",
    "StickyIds",
    "StickyProblem",
    "StickySteps",
    "check_number_of_tasks",
    "client_map_order",
    "keep_previous_owners",
    "place_remaining",
    "place_standbys",
    "promote_previous_standbys",
    "steps_of",
    "unassigned_if_plain",
    "to_assignment",
    "to_problem",
]
