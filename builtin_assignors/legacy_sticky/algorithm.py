"""Legacy sticky on dense indices: stay, be promoted, fill up; then standbys (Kafka: ``LegacyStickyTaskAssignor``).

Each half takes and leaves a :class:`Placement`, so that an optimiser can come between. Cost: about one bit operation
of C bits per placed task and per group of equally loaded clients, where Kafka's grows with the square of the tasks.
"""

from __future__ import annotations

from builtin_assignors._sticky_steps import (
    Placement,
    PreviousOwners,
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


def place_actives(problem: StickyProblem, previous: PreviousOwners, steps: StickySteps | None = None) -> Placement:
    """Gives every task an owner; ``steps`` is told of each rule's work, where somebody asks.

    Raises:
        IllegalAssignmentArgumentError: for more tasks than Kafka can pair.
        IllegalAssignmentStateError: if the clients have no threads, or one without threads has to be compared.
    """
    check_number_of_tasks(len(problem.tasks))
    quotas = internal_quotas(problem)
    placement = Placement(len(problem.task_hashes), problem.capacities, INTERNAL_LOAD_RULE)
    kept = keep_previous_owners(problem, previous, placement, quotas)
    if steps is not None:
        steps.kept(previous, placement, quotas)
    if previous.has_standbys():
        promote_previous_standbys(internal_unassigned(problem, kept), previous, placement, quotas)
        if steps is not None:
            steps.promoted(placement)
    place_remaining(problem, previous, placement, range(len(problem.capacities)), steps)
    return placement


def place_standbys(problem: StickyProblem, previous: PreviousOwners, placement: Placement) -> None:
    """Gives every stateful task its standbys, as far as there are clients.

    Raises:
        IllegalAssignmentStateError: if a client without threads has to be compared.
    """
    _place_standbys(problem, previous, placement, internal_standby_order(problem))
