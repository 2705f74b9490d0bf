"""Rules of Kafka's internal sticky assignors (legacy sticky, fallback) that the public one lacks.

Kafka: ``LegacyStickyTaskAssignor``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from assignment_api.errors import IllegalAssignmentStateError
from assignment_api.java import JavaHashTable, iteration_order
from builtin_assignors._sticky_steps.actives import unassigned_if_plain
from builtin_assignors._sticky_steps.problem import StickyProblem
from builtin_assignors._sticky_steps.ranking import LoadRule, Rank

__all__ = ["INTERNAL_LOAD_RULE", "internal_quotas", "internal_standby_order", "internal_unassigned"]


class _NoThreads:
    """Rank of a client without threads, which Kafka refuses to compare."""

    def _refuse(self, other: object) -> NoReturn:
        del other
        raise IllegalAssignmentStateError("Capacity of this ClientState must be greater than 0.")

    __lt__ = __gt__ = _refuse


_NO_THREADS = _NoThreads()
_IDLE = (-1.0, 0)


def _rank(tasks: int, threads: int) -> Rank:
    if threads <= 0:
        return _NO_THREADS
    if not tasks:
        return _IDLE
    # Of equally loaded clients the one with more threads counts as less loaded.
    return (tasks / threads, -threads)


#: Tasks per thread, then threads (``ClientState.hasMoreAvailableCapacityThan``).
INTERNAL_LOAD_RULE = LoadRule(_rank, is_idle_without_threads=True)


def internal_quotas(problem: StickyProblem) -> list[int]:
    """Active tasks that each client may keep or take over: an even share per thread, rounded down.

    Raises:
        IllegalAssignmentStateError: if the clients have no threads.
    """
    total = sum(problem.capacities)
    if total == 0:
        raise IllegalAssignmentStateError(
            "there are no clients, or none of them has a thread: their total capacity must be greater than 0"
        )
    per_thread = len(problem.tasks) // total
    return [capacity * per_thread for capacity in problem.capacities]


def internal_unassigned(problem: StickyProblem, kept: Sequence[int]) -> list[int]:
    """The tasks that left their owner, in the order of Kafka's set.

    Kafka copies the set of all tasks and removes the tasks that stayed in one bulk operation.
    """
    plain = unassigned_if_plain(problem, kept)
    if plain is not None:
        return plain
    hashes = problem.task_hashes
    table = JavaHashTable.set_copy(problem.orders.of_map, hashes.__getitem__, jdk=problem.jdk)
    table.remove_all(iteration_order(kept, [hashes[task] for task in kept]), len(kept))
    return list(table)


def internal_standby_order(problem: StickyProblem) -> list[int]:
    """The stateful tasks in the order of the ``HashSet`` that Kafka's partition assignor passes on."""
    return problem.orders.stateful_of_set
