"""A small simulated application of Kafka Streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs

from assignment_api.conformance.history import Capabilities, Event, History
from assignment_api.conformance.kinds.kind import World
from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import TaskAssignment
from assignment_api.streams.client_state import LATEST_OFFSET, UNKNOWN_OFFSET_SUM, StreamsClientState
from assignment_api.streams.configs import ASSIGNMENT_KEYS, AssignmentConfigs
from assignment_api.streams.ids import HostInfo, ProcessID, TaskId
from assignment_api.streams.tasks import TaskInfo, TaskTopicPartition
from assignment_api.streams.workload import TaskWorkload, Workload

__all__ = ["StreamsWorld", "sized_application"]

#: Records of a changelog, initially and per traffic event: more than the acceptable lag.
_RECORDS = 50_000
_TRAFFIC = (20_000, 100)
_START_MS = 1_700_000_000_000
_STATELESS, _LOGGED = 0, 1
_MOST_CLIENTS = 10
_MOST_PARTITIONS = 14
_STRATEGIES = ("none", "min_traffic", "balance_subtopology")
#: Kafka's default first; the next one accepts only complete copies, the last one every copy.
_LAGS = (10_000, 0, 10_000_000)
_INTERVALS = (60_000, 600_000, 3_600_000)
_MOST_THREADS = 8
_TAGS = {"zone": 2, "cluster": 3}


@attrs.define(eq=False)
class _Client:
    """An instance with its disk: task to reached offset.

    Its number fixes consumers, rack, tags and address, which a static member keeps under another process id.
    """

    number: int
    process: int
    threads: int
    active: list[TaskId] = attrs.field(factory=list)
    standby: list[TaskId] = attrs.field(factory=list)
    disk: dict[TaskId, int] = attrs.field(factory=dict)
    unknown: set[TaskId] = attrs.field(factory=set)

    @property
    def process_id(self) -> ProcessID:
        return ProcessID(UUID(int=self.process + 1))


class StreamsWorld(World[ApplicationMetadata]):
    """Active tasks are ready at the next rebalance, copies after a rest."""

    def __init__(self, history: History, capabilities: Capabilities) -> None:
        self._history, self._capabilities = history, capabilities
        self._counts = [count for count, _ in history.tasks]
        self._racks = history.racks if capabilities.racks else 0
        tags = tuple(_TAGS)[: history.tags]
        strategy = _STRATEGIES[history.strategy % len(_STRATEGIES)] if self._racks else _STRATEGIES[0]
        self._configs = AssignmentConfigs(
            max_warmup_replicas=max(history.warmups, 1),
            num_standby_replicas=-1 if history.below and not tags else history.standbys if capabilities.standbys else 0,
            acceptable_recovery_lag=_LAGS[history.lag % len(_LAGS)],
            probing_rebalance_interval_ms=_INTERVALS[history.probing % len(_INTERVALS)],
            rack_aware_assignment_tags=tags,
            rack_aware_assignment_strategy=strategy,
        )
        self._number = 0
        self._processes = 0
        self._clients: list[_Client] = []
        self._away: list[_Client] = []
        self._leader: _Client | None = None
        for threads in history.members:
            self._join(threads)
        self._ends: dict[TaskId, int] = {}
        self._time_ms = _START_MS
        self._lags_are_missing = False
        self._grow()

    @property
    def bound(self) -> int:  # type: ignore[override]
        """Kafka's: 2 x (stateful tasks + standbys), at least one (TaskAssignorConvergenceTest)."""
        stateful = len(self._ends)
        return max(2 * stateful * (1 + max(self._configs.num_standby_replicas, 0)), 1)

    def configs(self) -> Mapping[str, Any]:
        """Kafka's keys; texts or values."""
        values = {key: getattr(self._configs, name) for key, (name, _) in ASSIGNMENT_KEYS.items()}
        if not self._history.texts:
            return values
        return {key: _text(value) for key, value in values.items() if value is not None}

    def state(self) -> ApplicationMetadata:
        """The application as its leader sees it."""
        infos = [self._info(task, sort) for task, sort in self._tasks()]
        clients = [self._state_of(client) for client in self._clients]
        leader = self._leader if self._leader in self._clients else next(iter(self._clients), None)
        return ApplicationMetadata(
            self._configs,
            infos,
            clients,
            self._time_ms,
            None if leader is None else leader.process_id,
            self._workload() if self._history.weighted else None,
        )

    def happens(self, event: Event) -> None:
        """Apply an event."""
        self._time_ms += 10_000
        happening = getattr(self, f"_{event.type}")
        happening(event)

    def carry_out(self, state: ApplicationMetadata, answer: TaskAssignment) -> None:
        """Give each client its tasks."""
        self._lags_are_missing = False
        given = {client.process_id: client for client in answer.assignments}
        for client in self._clients:
            held = given.get(client.process_id)
            client.unknown = set()
            client.active = [] if held is None else sorted(held.active_tasks())
            client.standby = [] if held is None else sorted(held.standby_tasks())
            for task in client.active:
                if task in self._ends:
                    client.disk[task] = self._ends[task]
            for task in client.standby:
                if task in self._ends:
                    client.disk.setdefault(task, 0)

    def rest(self) -> None:
        """A probing interval passes."""
        self._time_ms += self._configs.probing_rebalance_interval_ms
        for client in self._clients:
            held = {*client.active, *client.standby}
            client.unknown = set()
            # Tasks without an owner are deleted (state.cleanup.delay.ms); owned ones reach the end.
            client.disk = {task: self._ends[task] for task in client.disk if task in held and task in self._ends}

    # --- events -----------------------------------------------------------------------------------

    def _nothing(self, event: Event) -> None: ...

    def _join(self, event: Event | int) -> None:
        threads = event.size + 1 if isinstance(event, Event) else event
        if len(self._clients) < _MOST_CLIENTS:
            self._clients.append(_Client(self._number, self._processes, max(min(threads, _MOST_THREADS), 1)))
            self._number += 1
            self._processes += 1

    def _leave(self, event: Event) -> None:
        """The disk stays; the instance may return."""
        if len(self._clients) > (not self._capabilities.empty):
            gone = self._clients.pop(event.which % len(self._clients))
            gone.disk = {task: offset for task, offset in gone.disk.items() if task in {*gone.active, *gone.standby}}
            gone.active, gone.standby = [], []
            self._away.append(gone)

    def _return(self, event: Event) -> None:
        if self._away and len(self._clients) < _MOST_CLIENTS:
            self._clients.append(self._away.pop(event.which % len(self._away)))

    def _lose(self, event: Event) -> None:
        """With its disk; the replacement is a new process."""
        if len(self._clients) > 1:
            self._clients.pop(event.which % len(self._clients))

    def _restart(self, event: Event) -> None:
        """Static: with its disk and another process id."""
        if self._clients:
            self._clients[event.which % len(self._clients)].process = self._processes
            self._processes += 1

    def _lead(self, event: Event) -> None:
        if self._clients:
            self._leader = self._clients[event.which % len(self._clients)]

    def _traffic(self, event: Event) -> None:
        """Changelogs grow: unowned copies fall behind."""
        records = _TRAFFIC[event.size % 2]
        for task in self._ends:
            self._ends[task] += records
        for client in self._clients:
            for task in client.active:
                if task in client.disk:
                    client.disk[task] = self._ends[task]

    def _follow(self, event: Event) -> None:
        """All assigned tasks are ready before this rebalance."""
        self.rest()

    def _more(self, event: Event) -> None:
        """A topic grows: a sub-topology gets another task."""
        if self._counts:
            which = event.which % len(self._counts)
            self._counts[which] = min(self._counts[which] + 1, _MOST_PARTITIONS)
            self._grow()

    def _fewer(self, event: Event) -> None:
        """Clients still report the ended task."""
        if self._counts:
            which = event.which % len(self._counts)
            self._counts[which] = max(self._counts[which] - 1, 0 if self._capabilities.empty else 1)
            existing = {task for task, _ in self._tasks()}
            self._ends = {task: end for task, end in self._ends.items() if task in existing}

    def _both(self, event: Event) -> None:
        """After a pause a client reports an active task of another one."""
        if len(self._clients) > 1:
            client = self._clients[event.which % len(self._clients)]
            others = sorted({task for each in self._clients if each is not client for task in each.active})
            if others:
                task = others[event.size % len(others)]
                client.active.append(task)
                client.standby = [each for each in client.standby if each != task]

    def _forget(self, event: Event) -> None:
        """Lost checkpoints: offset sums are unknown (-3)."""
        if self._clients:
            client = self._clients[event.which % len(self._clients)]
            client.unknown = {task for task in client.disk if task not in client.active}

    def _unknown_lags(self, event: Event) -> None:
        self._lags_are_missing = self._capabilities.missing_lags

    # --- input of an assignor ---------------------------------------------------------------------

    def _tasks(self) -> list[tuple[TaskId, int]]:
        return [
            (TaskId(self._subtopology(number), partition, self._name(number)), sort)
            for number, (_, sort) in enumerate(self._history.tasks)
            for partition in range(self._counts[number])
        ]

    def _subtopology(self, number: int) -> int:
        """Each named topology numbers its own sub-topologies from 0."""
        return number // self._history.named if self._history.named else number

    def _name(self, number: int) -> str | None:
        return f"topology-{number % self._history.named}" if self._history.named else None

    def _grow(self) -> None:
        for task, sort in self._tasks():
            if sort == _LOGGED:
                self._ends.setdefault(task, _RECORDS)

    def _workload(self) -> Workload:
        """Heaviest: first task of each sub-topology; one weight is unknown."""
        weights = {}
        for task, sort in self._tasks()[1:]:
            share = 1 / (1 + task.partition)
            weights[task] = TaskWorkload(_RECORDS * 100.0 if sort else None, 1_000 * share, 2 * share)
        return Workload(weights)

    def _rack(self, number: int) -> str | None:
        if self._history.rackless and number % 2:
            return None
        return f"rack-{number % self._racks}" if self._racks else None

    def _info(self, task: TaskId, sort: int) -> TaskInfo:
        number = task.partition + task.subtopology
        racks = None if not self._racks else (f"rack-{number % self._racks}",)
        topology = f"{task.topology_name or 'app'}-{task.subtopology}"
        partitions = [TaskTopicPartition(f"topic-{topology}", task.partition, True, False, racks)]
        if sort == _LOGGED:
            changelog = f"app-store-{topology}-changelog"
            partitions.append(TaskTopicPartition(changelog, task.partition, False, True, racks))
        stores = () if sort == _STATELESS else (f"store-{topology}",)
        return TaskInfo(task, sort != _STATELESS, sort == _LOGGED, stores, tuple(partitions))

    def _state_of(self, client: _Client) -> StreamsClientState:
        lags = {task: self._lag(client, task) for task in self._ends}
        copies = sorted({*client.standby, *client.disk}.difference(client.active))
        consumers = tuple(f"app-{client.number}-{thread}-consumer" for thread in range(client.threads))
        reported: dict[str, list[TaskId]] = {consumer: [] for consumer in consumers}
        for number, task in enumerate((*client.active, *copies)):
            reported[consumers[number % len(consumers)]].append(task)
        tags = _TAGS if self._history.tags else {}
        return StreamsClientState(
            client.process_id,
            client.threads,
            consumers,
            client.active,
            copies,
            None if self._lags_are_missing else lags,
            {consumer: tuple(tasks) for consumer, tasks in reported.items()},
            HostInfo(f"host-{client.number}", 8080) if self._history.hosts else None,
            {key: f"{key}-{client.number % values}" for key, values in tags.items()},
            self._rack(client.number),
        )

    def _lag(self, client: _Client, task: TaskId) -> int:
        if task in client.active:
            return LATEST_OFFSET
        if task in client.unknown:
            return UNKNOWN_OFFSET_SUM
        return self._ends[task] - client.disk.get(task, 0)


def _text(value: object) -> str:
    """As in a ``.properties`` file."""
    return ",".join(value) if isinstance(value, tuple) else str(value)


def sized_application(number: int, standbys: int) -> ApplicationMetadata:
    """Stateful tasks, and an eighth as many clients, the last one new."""
    clients = max(number // 8, 2)
    tasks = [
        TaskInfo(
            TaskId(0, partition),
            True,
            True,
            ("store",),
            (
                TaskTopicPartition("topic", partition, True, False),
                TaskTopicPartition("app-store-changelog", partition, False, True),
            ),
        )
        for partition in range(number)
    ]
    held: list[Sequence[TaskId]] = [[task.id for task in tasks[place :: clients - 1]] for place in range(clients - 1)]
    states = []
    for place, had in enumerate([*held, ()]):
        lags = dict.fromkeys((task.id for task in tasks), _RECORDS) | dict.fromkeys(had, LATEST_OFFSET)
        states.append(StreamsClientState(ProcessID(UUID(int=place + 1)), 2, (f"consumer-{place}",), had, (), lags))
    return ApplicationMetadata(AssignmentConfigs(num_standby_replicas=standbys), tasks, states, _START_MS)
