"""Legacy sticky on dense indices: keep, promote, fill up; then standbys (Kafka: ``LegacyStickyTaskAssignor``).

Each half changes a :class:`StickyPlacement`, so that an optimiser can run between them. Cost: about one bit operation
of C bits per placed task and per group of equally loaded clients. Kafka's cost grows with the square of the tasks.
"""

from __future__ import annotations

from builtin_assignors._steps_taken import SILENT
from builtin_assignors._sticky_steps import (
    PreviousOwners,
    StickyPlacement,
    StickyProblem,
    StickySteps,
    check_number_of_tasks,
    keep_previous_owners,
    place_remaining,
    promote_previous_standbys,
)
from builtin_assignors._sticky_steps import place_standbys as _place_standbys
from builtin_assignors._sticky_steps.internal_rules import (
    INTERNAL_LOAD_RULE,
    internal_quotas,
    internal_standby_order,
    internal_unassigned,
)

__all__ = ["place_actives", "place_standbys"]


def place_actives(problem: StickyProblem, previous: PreviousOwners, steps: StickySteps = SILENT) -> StickyPlacement:
    """Give every task an owner; ``steps`` records the work of each rule, if given.

    Raises:
        IllegalAssignmentArgumentError: for more tasks than Kafka can pair.
        IllegalAssignmentStateError: if the clients have no threads, or one without threads has to be compared.
    """
    check_number_of_tasks(len(problem.tasks))
    quotas = internal_quotas(problem)
    placement = StickyPlacement(len(problem.task_hashes), problem.capacities, INTERNAL_LOAD_RULE)
    kept = keep_previous_owners(problem, previous, placement, quotas)
    steps.kept(previous, placement, quotas)
    if previous.has_standbys():
        promote_previous_standbys(internal_unassigned(problem, kept), previous, placement, quotas)
        steps.promoted(placement)
    place_remaining(problem, previous, placement, range(len(problem.capacities)), steps)
    return placement


def place_standbys(problem: StickyProblem, previous: PreviousOwners, placement: StickyPlacement) -> None:
    """Give every stateful task its standbys, as long as there are clients.

    Raises:
        IllegalAssignmentStateError: if a client without threads has to be compared.
    """
    _place_standbys(problem, previous, placement, internal_standby_order(problem))
