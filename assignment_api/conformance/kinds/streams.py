"""Applications of Kafka Streams, as the kit plays them and checks answers for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs

from assignment_api.conformance.history import Capabilities, Event, History
from assignment_api.conformance.kinds.kind import Kind, Trouble, World
from assignment_api.conformance.kinds.streams_documents import streams_document
from assignment_api.conformance.subject import Answering
from assignment_api.errors import TaskAssignmentError
from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import (
    AssignedTask,
    AssignedTaskType,
    AssignmentError,
    StreamsClientAssignment,
    TaskAssignment,
)
from assignment_api.streams.client_state import LATEST_OFFSET, StreamsClientState
from assignment_api.streams.configs import ASSIGNMENT_KEYS, AssignmentConfigs
from assignment_api.streams.ids import ProcessID, TaskId
from assignment_api.streams.tasks import TaskInfo, TaskTopicPartition
from assignment_api.utils.refusals import refusal_sentence
from assignment_api.utils.validation import StrictFindingKind, strict_findings, validate_task_assignment

__all__ = ["STREAMS"]

#: Records that a changelog has at the beginning, and that an event of traffic adds: more than the acceptable lag.
_RECORDS = 50_000
_TRAFFIC = (20_000, 100)
_START_MS = 1_700_000_000_000
_STATELESS, _LOGGED = 0, 1

_RULE_OF: Mapping[StrictFindingKind, str] = {
    StrictFindingKind.TASK_NOT_ASSIGNED: "nothing lost",
    StrictFindingKind.ACTIVE_AND_STANDBY_IN_ONE_PROCESS: "copies elsewhere",
    StrictFindingKind.STANDBY_IN_ONE_PROCESS_TWICE: "copies elsewhere",
    StrictFindingKind.TOO_MANY_STANDBYS: "copies asked for",
    StrictFindingKind.STANDBY_WITHOUT_CHANGELOG: "copies asked for",
    StrictFindingKind.CLIENT_ASSIGNED_TWICE: "one entry each",
}


@attrs.define(eq=False)
class _Client:
    """An instance, with what lies on its disk: task to the offset that it has read up to."""

    number: int
    threads: int
    active: list[TaskId] = attrs.field(factory=list)
    standby: list[TaskId] = attrs.field(factory=list)
    disk: dict[TaskId, int] = attrs.field(factory=dict)

    @property
    def process_id(self) -> ProcessID:
        return ProcessID(UUID(int=self.number + 1))


class _StreamsWorld(World[ApplicationMetadata]):
    """An application whose active tasks are ready at the next rebalance, and whose copies are so after a rest."""

    def __init__(self, history: History, capabilities: Capabilities) -> None:
        self._history, self._capabilities = history, capabilities
        self._counts = [count for count, _ in history.tasks]
        self._racks = history.racks if capabilities.racks else 0
        self._configs = AssignmentConfigs(
            max_warmup_replicas=max(history.warmups, 1),
            num_standby_replicas=history.standbys if capabilities.standbys else 0,
            probing_rebalance_interval_ms=60_000,
        )
        self._number = 0
        self._clients: list[_Client] = []
        self._away: list[_Client] = []
        for threads in history.members:
            self._join(threads)
        self._ends: dict[TaskId, int] = {}
        self._time_ms = _START_MS
        self._lags_are_missing = False
        self._grow()

    @property
    def bound(self) -> int:  # type: ignore[override]
        """Kafka's own bound (TaskAssignorConvergenceTest): 2 x (stateful tasks + their standbys), at least one."""
        stateful = len(self._ends)
        return max(2 * stateful * (1 + self._configs.num_standby_replicas), 1)

    def configs(self) -> Mapping[str, Any]:
        return {key: getattr(self._configs, name) for key, (name, _) in ASSIGNMENT_KEYS.items()}

    def state(self) -> ApplicationMetadata:
        infos = [self._info(task, sort) for task, sort in self._tasks()]
        clients = [self._state_of(client, infos) for client in self._clients]
        leader = self._clients[0].process_id if self._clients else None
        return ApplicationMetadata(self._configs, infos, clients, self._time_ms, leader)

    def happens(self, event: Event) -> None:
        self._time_ms += 10_000
        happening = getattr(self, f"_{event.type}")
        happening(event)

    def carry_out(self, state: ApplicationMetadata, answer: TaskAssignment) -> None:
        self._lags_are_missing = False
        given = {client.process_id: client for client in answer.assignments}
        for client in self._clients:
            held = given.get(client.process_id)
            client.active = [] if held is None else sorted(held.active_tasks())
            client.standby = [] if held is None else sorted(held.standby_tasks())
            for task in client.active:
                if task in self._ends:
                    client.disk[task] = self._ends[task]
            for task in client.standby:
                if task in self._ends:
                    client.disk.setdefault(task, 0)

    def rest(self) -> None:
        self._time_ms += self._configs.probing_rebalance_interval_ms
        for client in self._clients:
            held = {*client.active, *client.standby}
            # What nobody holds is deleted (state.cleanup.delay.ms), what is held follows to the end.
            client.disk = {task: self._ends[task] for task in client.disk if task in held and task in self._ends}

    # --- events -----------------------------------------------------------------------------------

    def _nothing(self, event: Event) -> None:
        """Metadata changed: a rebalance without any change that concerns it."""

    def _join(self, event: Event | int) -> None:
        threads = event.size + 1 if isinstance(event, Event) else event
        if len(self._clients) < 6:
            self._clients.append(_Client(self._number, max(min(threads, 3), 1)))
            self._number += 1

    def _leave(self, event: Event) -> None:
        """Stops in order: its disk stays, and it may come back."""
        if len(self._clients) > 1:
            gone = self._clients.pop(event.which % len(self._clients))
            gone.disk = {task: offset for task, offset in gone.disk.items() if task in {*gone.active, *gone.standby}}
            gone.active, gone.standby = [], []
            self._away.append(gone)

    def _return(self, event: Event) -> None:
        if self._away and len(self._clients) < 6:
            self._clients.append(self._away.pop(event.which % len(self._away)))

    def _lose(self, event: Event) -> None:
        """Is gone with its disk; whoever comes in its place is a new process."""
        if len(self._clients) > 1:
            self._clients.pop(event.which % len(self._clients))

    def _traffic(self, event: Event) -> None:
        """Changelogs grow: copies that nobody runs now are further behind."""
        records = _TRAFFIC[event.size % 2]
        for task in self._ends:
            self._ends[task] += records
        for client in self._clients:
            for task in client.active:
                if task in client.disk:
                    client.disk[task] = self._ends[task]

    def _follow(self, event: Event) -> None:
        """Everything that was given becomes ready before this rebalance."""
        self.rest()

    def _more(self, event: Event) -> None:
        """A topic grows: one of the sub-topologies has another task."""
        if self._counts:
            which = event.which % len(self._counts)
            self._counts[which] = min(self._counts[which] + 1, 5)
            self._grow()

    def _unknown_lags(self, event: Event) -> None:
        self._lags_are_missing = self._capabilities.missing_lags

    # --- what an assignor sees --------------------------------------------------------------------

    def _tasks(self) -> list[tuple[TaskId, int]]:
        return [
            (TaskId(number, partition), sort)
            for number, (_, sort) in enumerate(self._history.tasks)
            for partition in range(self._counts[number])
        ]

    def _grow(self) -> None:
        for task, sort in self._tasks():
            if sort == _LOGGED:
                self._ends.setdefault(task, _RECORDS)

    def _rack(self, number: int) -> str | None:
        return f"rack-{number % self._racks}" if self._racks else None

    def _info(self, task: TaskId, sort: int) -> TaskInfo:
        number = task.partition + task.subtopology
        racks = None if not self._racks else (f"rack-{number % self._racks}",)
        partitions = [TaskTopicPartition(f"topic-{task.subtopology}", task.partition, True, False, racks)]
        if sort == _LOGGED:
            changelog = f"app-store-{task.subtopology}-changelog"
            partitions.append(TaskTopicPartition(changelog, task.partition, False, True, racks))
        stores = () if sort == _STATELESS else (f"store-{task.subtopology}",)
        return TaskInfo(task, sort != _STATELESS, sort == _LOGGED, stores, tuple(partitions))

    def _state_of(self, client: _Client, infos: Sequence[TaskInfo]) -> StreamsClientState:
        known = {info.id for info in infos}
        active = [task for task in client.active if task in known]
        lags = {task: self._lag(client, task) for task in self._ends}
        stored = [task for task in client.disk if task not in active]
        copies = sorted({*stored, *(task for task in client.standby if task in known)})
        consumers = tuple(f"app-{client.number}-{thread}-consumer" for thread in range(client.threads))
        reported: dict[str, list[TaskId]] = {consumer: [] for consumer in consumers}
        for number, task in enumerate((*active, *copies)):
            reported[consumers[number % len(consumers)]].append(task)
        return StreamsClientState(
            client.process_id,
            client.threads,
            consumers,
            active,
            copies,
            None if self._lags_are_missing else lags,
            {consumer: tuple(tasks) for consumer, tasks in reported.items()},
            rack_id=self._rack(client.number),
        )

    def _lag(self, client: _Client, task: TaskId) -> int:
        if task in client.active:
            return LATEST_OFFSET
        return self._ends[task] - client.disk.get(task, 0)


def _fingerprint(application: ApplicationMetadata) -> object:
    return (
        repr([*application.streams_client_states().items()]),
        repr([*application.task_infos().items()]),
        repr([*application.all_tasks()]),
        repr(application.assignment_configs()),
        application.current_time_ms(),
        application.leader_process_id(),
    )


def _badly_typed_client(client: Any) -> str | None:
    if not isinstance(client, StreamsClientAssignment):
        return f"an assignment is {type(client).__name__}, expected StreamsClientAssignment"
    process: Any = client.process_id
    if not isinstance(process, ProcessID):
        return f"a process id is {type(process).__name__}, expected ProcessID"
    deadline: Any = client.followup_rebalance_deadline_ms
    if deadline is not None and type(deadline) is not int:
        return f"the follow-up deadline of {process} is {type(deadline).__name__}, expected int"
    tasks: Any = client.tasks
    for task in tasks:
        if not isinstance(task, AssignedTask) or not _is(task.id, TaskId):
            return f"a task of {process} is {task!r:.80}, expected AssignedTask of a TaskId"
        if not _is(task.type, AssignedTaskType):
            return f"the role of {task.id} on {process} is {task.type!r:.80}, no AssignedTaskType"
    return None


def _is(value: object, expected: type) -> bool:
    return isinstance(value, expected)


class _StreamsKind(Kind[ApplicationMetadata]):
    """Task assignors of KIP-924."""

    name = "streams"
    events = ("nothing", "join", "leave", "lose", "return", "follow", "traffic", "more", "unknown_lags")
    answering = Answering(
        call=lambda assignor, state: assignor.assign(state),
        fingerprint=_fingerprint,
        shown=ApplicationMetadata.for_next_assignor,
        refusals=(TaskAssignmentError,),
    )

    def world(self, history: History, capabilities: Capabilities) -> World[ApplicationMetadata]:
        return _StreamsWorld(history, capabilities)

    def badly_typed(self, answer: object) -> str | None:
        if not isinstance(answer, TaskAssignment):
            return f"the answer is {type(answer).__name__}, expected TaskAssignment"
        # What an author returns may hold anything, whatever the types say.
        clients: Any = answer.assignments
        for client in clients:
            wrong = _badly_typed_client(client)
            if wrong is not None:
                return wrong
        return None

    def troubles(self, state: ApplicationMetadata, answer: TaskAssignment) -> Iterator[Trouble]:
        error = validate_task_assignment(state, answer)
        if error is not AssignmentError.NONE:
            yield "accepted", f"Kafka refuses it with {error.name}: {refusal_sentence(state, answer, error)}"
            return
        for finding in strict_findings(state, answer):
            yield _RULE_OF[finding.kind], finding.message

    def placement(self, state: ApplicationMetadata, answer: TaskAssignment) -> Any:
        return {
            str(client.process_id): [
                [str(task) for task in sorted(client.active_tasks())],
                [str(task) for task in sorted(client.standby_tasks())],
            ]
            for client in sorted(answer.assignments, key=lambda client: client.process_id)
        }

    def asks_again(self, state: ApplicationMetadata, answer: TaskAssignment) -> bool:
        return any(client.followup_rebalance_deadline_ms is not None for client in answer.assignments)

    def turned(self, state: ApplicationMetadata) -> ApplicationMetadata:
        # Clients only: the order of tasks follows from the topology, that of clients from who joined when.
        clients = list(state.for_next_assignor().streams_client_states().values())
        return ApplicationMetadata(
            state.assignment_configs(),
            state.task_infos().values(),
            reversed(clients),
            state.current_time_ms(),
            state.leader_process_id(),
        )

    def documents(self, states: Sequence[ApplicationMetadata], name: str) -> list[dict[str, Any]]:
        return [streams_document(state, f"{name}-{number}") for number, state in enumerate(states)]

    def sized(self, number: int) -> ApplicationMetadata:
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
        states = []
        for place in range(clients):
            had = [task.id for task in tasks if task.id.partition % (clients - 1) == place]
            lags = {task.id: LATEST_OFFSET if task.id in had else _RECORDS for task in tasks}
            states.append(StreamsClientState(ProcessID(UUID(int=place + 1)), 2, (f"consumer-{place}",), had, (), lags))
        return ApplicationMetadata(AssignmentConfigs(num_standby_replicas=1), tasks, states, _START_MS)


#: The one object.
STREAMS = _StreamsKind()
