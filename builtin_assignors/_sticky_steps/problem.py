"""The problem of a sticky assignor: dense numbers in place of ids, in Kafka's orders."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignment_api.java import DEFAULT_JDK, JdkGeneration
from builtin_assignors._sticky_steps.task_orders import TaskOrders

__all__ = ["StickyProblem"]


@attrs.frozen
class StickyProblem:
    """Tasks and clients as indices.

    A task's index is its place among all task ids in ascending order. Previous tasks that no longer exist are among
    them: they fill Kafka's hash maps too. A client's index is its place in the iteration order of Kafka's map of
    clients.
    """

    #: Java's hash code of each task id.
    task_hashes: Sequence[int]
    #: The tasks that exist, in the order of the input.
    tasks: Sequence[int]
    #: Those with a changelog, which get standbys; in the order of the input.
    stateful_tasks: Sequence[int]
    #: Number of processing threads of each client.
    capacities: Sequence[int]
    #: Java's hash code of each process id.
    client_hashes: Sequence[int]
    #: Place of each process id in Java's order of process ids.
    client_ranks: Sequence[int]
    #: Previous active tasks of each client, ascending.
    previous_active: Sequence[Sequence[int]]
    #: Previous standby tasks of each client, ascending.
    previous_standby: Sequence[Sequence[int]]
    #: Standbys asked for per stateful task; a negative number counts as 0.
    num_standbys: int
    #: Whose rule the sizes of copied sets follow.
    jdk: JdkGeneration = DEFAULT_JDK
    #: The orders of the tasks, which problems with the same tasks share.
    orders: TaskOrders = attrs.field(eq=False, repr=False)

    @orders.default
    def _own_orders(self) -> TaskOrders:
        return TaskOrders(self.task_hashes, self.tasks, self.stateful_tasks, self.jdk)
