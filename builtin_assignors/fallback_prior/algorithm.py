"""Fallback prior on dense indices: as legacy sticky, but every task stays with its previous owner.

Kafka: ``FallbackPriorTaskAssignor``.
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
    place_standbys,
    promote_previous_standbys,
)
from builtin_assignors._sticky_steps.internal_rules import (
    INTERNAL_LOAD_RULE,
    internal_quotas,
    internal_standby_order,
    internal_unassigned,
)

__all__ = ["place_all"]


def place_all(problem: StickyProblem, steps: StickySteps = SILENT) -> StickyPlacement:
    """Give every task an owner and every stateful task its standbys, as long as there are clients.

    ``steps`` records the work of each rule, if given.

    Raises:
        IllegalAssignmentArgumentError: for more tasks than Kafka can pair.
        IllegalAssignmentStateError: if the clients have no threads, or one without threads has to be compared.
    """
    previous = PreviousOwners(problem)
    check_number_of_tasks(len(problem.tasks))
    quotas = internal_quotas(problem)
    placement = StickyPlacement(len(problem.task_hashes), problem.capacities, INTERNAL_LOAD_RULE)
    kept = keep_previous_owners(problem, previous, placement, None)
    steps.kept(previous, placement, None)
    if previous.has_standbys():
        promote_previous_standbys(internal_unassigned(problem, kept), previous, placement, quotas)
        steps.promoted(placement)
    place_remaining(problem, previous, placement, range(len(problem.capacities)), steps)
    place_standbys(problem, previous, placement, internal_standby_order(problem))
    steps.got_standbys(placement)
    return placement
