"""Input of a sticky assignor: dense numbers instead of ids, in Kafka's orders."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignment_api.java import DEFAULT_JDK, JdkGeneration
from builtin_assignors._sticky_steps.task_orders import TaskOrders

__all__ = ["StickyProblem"]


@attrs.frozen
class StickyProblem:
    """Tasks and clients as indices.

    A task's index is its rank among all task ids. Previous tasks that no longer exist are included: they fill Kafka's
    hash maps, too. A client's index is its place in the iteration order of Kafka's map of clients.
    """

    #: Java's hash code of each task id.
    task_hashes: Sequence[int]
    #: The tasks that exist, in the order of the input.
    tasks: Sequence[int]
    #: Tasks with a changelog, which get standbys; in the order of the input.
    stateful_tasks: Sequence[int]
    capacities: Sequence[int]
    client_hashes: Sequence[int]
    client_ranks: Sequence[int]
    #: Previous active tasks of each client, ascending.
    previous_active: Sequence[Sequence[int]]
    #: Previous standby tasks of each client, ascending.
    previous_standby: Sequence[Sequence[int]]
    #: Configured standbys per stateful task; a negative number counts as 0.
    num_standbys: int
    #: JDK generation that sets the sizes of copied sets.
    jdk: JdkGeneration = DEFAULT_JDK
    #: Orders of the tasks, shared by problems with the same tasks.
    orders: TaskOrders = attrs.field(eq=False, repr=False)

    @orders.default
    def _own_orders(self) -> TaskOrders:
        return TaskOrders(self.task_hashes, self.tasks, self.stateful_tasks, self.jdk)
