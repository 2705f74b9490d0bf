"""The optimiser of Kafka's internal assignors on dense indices (KIP-925; Kafka: ``RackAwareTaskAssignor``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assignment_api.errors import IllegalAssignmentArgumentError
from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.client_state import StreamsClientState
from assignment_api.streams.configs import RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY
from assignment_api.streams.ids import TaskId
from assignment_api.streams.tasks import TaskInfo
from assignment_api.utils.rack_aware.flow_problem import HIGHEST_COST, FlowProblem
from assignment_api.utils.rack_aware.gates import internal_reason_against
from assignment_api.utils.rack_aware.placement import balance_subtopology, min_traffic
from assignment_api.utils.rack_aware.task_racks import NO_COST, task_racks
from assignment_api.utils.rack_aware.traffic import costs_of, numbered_racks

__all__ = ["MAX_STANDBY_ROUNDS", "InternalRackOptimizer"]

#: Kafka's passes over pairs of clients.
MAX_STANDBY_ROUNDS = 4

#: (task, source, destination): may a standby move?
MayMove = Callable[[int, int, int], bool]


class InternalRackOptimizer:
    """Moves tasks to reduce traffic across racks; every client keeps its number of tasks.

    Args:
        application: With racks: :func:`internal_reason_against` must return None.
        tasks: All, sorted; numbered by index.
        clients: All, sorted by process id; numbered by index.
    """

    __slots__ = ("_balanced", "_changelog", "_groups", "_rack_of", "_source")

    def __init__(
        self, application: ApplicationMetadata, tasks: Sequence[TaskId], clients: Sequence[StreamsClientState]
    ) -> None:
        racks, self._rack_of = numbered_racks(client.rack_id for client in clients)
        known = task_racks(application.task_infos())
        if list(tasks) != known.tasks:
            raise IllegalAssignmentArgumentError("the optimiser needs all tasks of the application, in ascending order")
        self._source = [known.crossed(TaskInfo.source_partitions, rack) for rack in racks]
        self._changelog = [known.crossed(TaskInfo.changelog_partitions, rack) for rack in racks]
        strategy = application.assignment_configs().rack_aware_assignment_strategy
        self._balanced = strategy == RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY
        self._groups = known.groups

    @classmethod
    def of(
        cls, application: ApplicationMetadata, tasks: Sequence[TaskId], clients: Sequence[StreamsClientState]
    ) -> InternalRackOptimizer | None:
        """``None`` if Kafka would not optimise."""
        return None if internal_reason_against(application) is not None else cls(application, tasks, clients)

    def optimize_active(
        self, tasks: Sequence[int], active: Sequence[set[int]], traffic_cost: int, non_overlap_cost: int
    ) -> None:
        """Move active ``tasks`` between clients; changes ``active``.

        Args:
            tasks: Ascending; each active on exactly one client.
            traffic_cost: Of a source partition in another rack.
            non_overlap_cost: Of a move.

        Raises:
            IllegalAssignmentArgumentError: if a task is active on no client or on several.
        """
        if not tasks:
            return
        holder_of = _holders(tasks, active)
        if self._balanced:
            ordered = sorted(tasks, key=lambda task: (self._groups[task], task))
            groups = _renumbered([self._groups[task] for task in ordered])
        else:
            ordered, groups = list(tasks), [0] * len(tasks)
        holder = [holder_of[task] for task in ordered]
        costs = costs_of(self._source, ordered, traffic_cost)
        problem = FlowProblem(groups, self._rack_of, costs, non_overlap_cost, holder)
        if self._balanced:
            counts = [0] * len(active)
            for client in holder:
                counts[client] += 1
            owner = balance_subtopology(problem, counts)
        else:
            owner = min_traffic(problem)
        for task, before, now in zip(ordered, holder, owner, strict=True):
            if before != now:
                active[before].remove(task)
                active[now].add(task)

    def optimize_standby(
        self,
        active: Sequence[set[int]],
        standby: Sequence[set[int]],
        traffic_cost: int,
        non_overlap_cost: int,
        may_move: MayMove | None,
    ) -> None:
        """Exchange standbys between pairs of clients in different racks; changes ``standby``.

        The graph is the one of minimal traffic, under any strategy.

        Args:
            traffic_cost: Of a changelog partition in another rack.
            non_overlap_cost: Of a move.
            may_move: ``None``: all standbys may.
        """
        pays = self._quick_check(standby, traffic_cost, non_overlap_cost)
        for _ in range(MAX_STANDBY_ROUNDS):
            moved = False
            for first in range(len(standby)):
                for second in range(first + 1, len(standby)):
                    if self._rack_of[first] != self._rack_of[second]:
                        pair = _Pair(first, second, active, standby, may_move)
                        if pair.there and pair.back and pays(pair):
                            moved = self._exchange(pair, traffic_cost, non_overlap_cost) or moved
            if not moved:
                return

    def _quick_check(
        self, standby: Sequence[set[int]], traffic_cost: int, non_overlap_cost: int
    ) -> Callable[[_Pair], bool]:
        """A check that is false only if no exchange of a pair pays."""
        rows = self._changelog
        counts = [row[task] for row in rows for held in standby for task in held]
        highest, lowest = max(counts, default=0), min(counts, default=NO_COST)
        # Otherwise Kafka's sums overflow, or a task has no cost: the whole rule decides.
        is_plain = min(lowest, traffic_cost, non_overlap_cost) >= 0
        if not is_plain or traffic_cost * highest + non_overlap_cost > HIGHEST_COST:
            return lambda _pair: True

        def pays(pair: _Pair) -> bool:
            here, there = rows[self._rack_of[pair.first]], rows[self._rack_of[pair.second]]
            least = min([there[task] - here[task] for task in pair.there])
            most = max([there[task] - here[task] for task in pair.back])
            return traffic_cost * (least - most) + 2 * non_overlap_cost < 0

        return pays

    def _exchange(self, pair: _Pair, traffic_cost: int, non_overlap_cost: int) -> bool:
        tasks = sorted(pair.there + pair.back)
        leaving = set(pair.there)
        rows = [self._changelog[self._rack_of[client]] for client in (pair.first, pair.second)]
        holder = [0 if task in leaving else 1 for task in tasks]
        problem = FlowProblem([0] * len(tasks), (0, 1), costs_of(rows, tasks, traffic_cost), non_overlap_cost, holder)
        owner = min_traffic(problem)
        return pair.write_back(tasks, holder, owner)


class _Pair:
    __slots__ = ("_standby", "back", "first", "second", "there")

    def __init__(
        self,
        first: int,
        second: int,
        active: Sequence[set[int]],
        standby: Sequence[set[int]],
        may_move: MayMove | None,
    ) -> None:
        self.first, self.second, self._standby = first, second, standby
        self.there = _movable(first, second, active, standby, may_move)
        # Without a task in one direction Kafka's rule need not run.
        self.back = _movable(second, first, active, standby, may_move) if self.there else []

    def write_back(self, tasks: Sequence[int], before: Sequence[int], now: Sequence[int]) -> bool:
        """Move tasks with a new owner (0 = first, 1 = second); True if any moved."""
        clients = (self.first, self.second)
        moved = False
        for task, source, destination in zip(tasks, before, now, strict=True):
            if source != destination:
                self._standby[clients[source]].remove(task)
                self._standby[clients[destination]].add(task)
                moved = True
        return moved


def _movable(
    source: int,
    destination: int,
    active: Sequence[set[int]],
    standby: Sequence[set[int]],
    may_move: MayMove | None,
) -> list[int]:
    tasks = list(standby[source] - standby[destination] - active[destination])
    return tasks if may_move is None else [task for task in tasks if may_move(task, source, destination)]


def _holders(tasks: Sequence[int], active: Sequence[set[int]]) -> dict[int, int]:
    wanted = set(tasks)
    holder_of: dict[int, int] = {}
    for client, held in enumerate(active):
        for task in sorted(held & wanted):
            if task in holder_of:
                raise IllegalAssignmentArgumentError(f"Task {task} assigned to multiple clients")
            holder_of[task] = client
    for task in tasks:
        if task not in holder_of:
            raise IllegalAssignmentArgumentError(f"Task {task} not assigned to any client")
    return holder_of


def _renumbered(groups: Sequence[int]) -> list[int]:
    """Without gaps: a group without a task to place has no nodes."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(group, len(numbers)) for group in groups]
