"""Placement of active tasks (Kafka: ``LegacyStickyTaskAssignor``), on dense indices.

Two tasks *meet* when they share a client. Kafka stores every pair that ever met, to bring new pairs together. A task
that is being placed as active never met another one, so any client with tasks brings a new pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assignment_api.errors import IllegalAssignmentArgumentError
from assignment_api.java import int32
from builtin_assignors._steps_taken import SILENT
from builtin_assignors._sticky_steps.choosing import choose_previous
from builtin_assignors._sticky_steps.placement import StickyPlacement
from builtin_assignors._sticky_steps.previous import PreviousOwners
from builtin_assignors._sticky_steps.problem import StickyProblem
from builtin_assignors._sticky_steps.tracing import StickySteps

__all__ = [
    "MAX_TASKS",
    "check_number_of_tasks",
    "keep_previous_owners",
    "place_remaining",
    "promote_previous_standbys",
    "unassigned_if_plain",
]

#: With one more task, Kafka's computation of the number of pairs overflows.
MAX_TASKS = 46_341

#: Every task, as a bitset.
_ALL = -1


def check_number_of_tasks(tasks: int) -> None:
    """Refuse more tasks than Kafka's set of task pairs can hold.

    Raises:
        IllegalAssignmentArgumentError: for more than :data:`MAX_TASKS` tasks.
    """
    if tasks > MAX_TASKS:
        pairs = int(int32(tasks * (tasks - 1)) / 2)
        raise IllegalAssignmentArgumentError(
            f"Illegal initial capacity: {pairs} ({tasks} tasks; the sticky assignors can pair at most {MAX_TASKS})"
        )


def unassigned_if_plain(problem: StickyProblem, kept: Sequence[int]) -> list[int] | None:
    """The tasks that left their owner, in the order of Kafka's copy of the set of all tasks.

    Returns:
        The tasks; None if a slot is crowded, so that removals change the order.
    """
    order = problem.orders.of_copied_set
    if order is None:
        return None
    gone = set(kept)
    return [task for task in order if task not in gone]


def keep_previous_owners(
    problem: StickyProblem, previous: PreviousOwners, placement: StickyPlacement, quotas: Sequence[int] | None
) -> list[int]:
    """Step 1: each task stays with its previous active owner while that client has room.

    Args:
        quotas: Active tasks that each client may receive in this step, or None for no limit.

    Returns:
        The tasks that stayed, in the order of the step.
    """
    if not previous.active:
        return []
    existing, owner_of = problem.orders.existing, previous.active
    return placement.keep([(task, owner_of[task]) for task in previous.active_order() if task in existing], quotas)


def promote_previous_standbys(
    unassigned: Iterable[int], previous: PreviousOwners, placement: StickyPlacement, quotas: Sequence[int]
) -> None:
    """Step 2: an unassigned task goes to a client that had it as a standby and has room.

    Args:
        unassigned: The tasks in the order of Kafka's set.
        quotas: Active tasks that each client may receive in this step.
    """
    for task in unassigned:
        for client in previous.standby_clients(task):
            if placement.active_counts[client] < quotas[client]:
                placement.put_active(task, client)
                break


def place_remaining(
    problem: StickyProblem,
    previous: PreviousOwners,
    placement: StickyPlacement,
    candidates: Sequence[int],
    steps: StickySteps = SILENT,
) -> None:
    """Step 3: every unassigned task goes, in ascending order, to its best client.

    Args:
        candidates: All clients, at least one, in the order of the search.
        steps: Records the placed tasks.
    """
    remaining = sorted(task for task in problem.tasks if placement.owner[task] < 0)
    if not remaining:
        return
    ranking = placement.ranking(candidates)
    has_choice = len(candidates) > 1
    choose = choose_previous if steps is SILENT else steps.choosing
    for task in remaining:
        client: int | None = None
        owner = previous.active.get(task)
        if has_choice and (owner is not None or previous.has_standby(task)):
            client = choose(owner, previous.standby_clients_copied(task), placement, _ALL)
        if client is None and ranking is not None:
            client = ranking.least_loaded(ranking.all, placement.tasks, _ALL)
        elif client is None:
            client = placement.least_loaded_of(candidates, _ALL)
        assert client is not None  # there is a candidate
        placement.put_active(task, client)
    placement.done_with(ranking)
    steps.placed_rest(placement, remaining if has_choice else (), previous)
