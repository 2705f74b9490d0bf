"""Applications of Kafka Streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from assignment_api.conformance.history import Capabilities, History
from assignment_api.conformance.kinds.kind import Kind, Trouble, World
from assignment_api.conformance.kinds.streams_documents import streams_document
from assignment_api.conformance.kinds.streams_world import StreamsWorld, sized_application
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
from assignment_api.streams.assignor import (
    ConsumerAssignment,
    ConsumerAssignments,
    GroupSubscription,
    MemberSubscription,
    TaskAssignor,
    TopicPartition,
)
from assignment_api.streams.client_state import StreamsClientState, lags_of
from assignment_api.streams.ids import ProcessID, TaskId
from assignment_api.streams.listed_lags import listed
from assignment_api.streams.workload import Workload
from assignment_api.utils.refusals import refusal_sentence
from assignment_api.utils.validation import StrictFindingKind, strict_findings, validate_task_assignment

__all__ = ["STREAMS"]

_RULE_OF: Mapping[StrictFindingKind, str] = {
    StrictFindingKind.TASK_NOT_ASSIGNED: "nothing lost",
    StrictFindingKind.ACTIVE_AND_STANDBY_IN_ONE_PROCESS: "copies elsewhere",
    StrictFindingKind.STANDBY_IN_ONE_PROCESS_TWICE: "copies elsewhere",
    StrictFindingKind.TOO_MANY_STANDBYS: "copies asked for",
    StrictFindingKind.STANDBY_WITHOUT_CHANGELOG: "copies asked for",
    StrictFindingKind.CLIENT_ASSIGNED_TWICE: "one entry each",
}


#: A follow-up deadline later than this (a leap year) is none.
_LATEST_MS = 366 * 24 * 3_600_000


def _fingerprint(application: ApplicationMetadata) -> Mapping[Any, object]:
    parts: dict[Any, object] = {
        "the clients": tuple(application.streams_client_states()),
        "the tasks": tuple(application.all_tasks()),
        "the stateful tasks": tuple(application.stateful_tasks()),
        "the task infos": tuple(map(hash, application.task_infos().values())),
        "the configuration": attrs.astuple(application.assignment_configs(), recurse=False),
        "the time": application.current_time_ms(),
        "the leader": application.leader_process_id(),
        "the workload": _of_workload(application.workload()),
    }
    for process, client in application.streams_client_states().items():
        lags = lags_of(client)
        reported = client._previous_tasks_by_consumer
        parts["client", process] = (client.num_stream_threads, client.consumers, client.host_info, client.rack_id)
        parts["the previous tasks of client", process] = (
            client.previous_active_tasks,
            client.previous_standby_tasks,
            None if reported is None else tuple(reported.items()),
        )
        parts["the lags of client", process] = None if lags is None else listed(lags)
        parts["the tags of client", process] = tuple(client.client_tags.items())
    return parts


def _of_workload(workload: Workload | None) -> object:
    if workload is None:
        return None
    # Values, as an assignor could change even a frozen object.
    tasks = [(task, each.state_bytes, each.input_bytes_per_s, each.weight) for task, each in workload.tasks.items()]
    return workload.restore_bytes_per_s, tasks


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


def _computed(assignor: Any, state: ApplicationMetadata, answer: Any) -> None:
    if getattr(assignor.on_assignment_computed, "__func__", None) is TaskAssignor.on_assignment_computed:
        return
    error = validate_task_assignment(state, answer)
    sources = {
        task: tuple(TopicPartition(each.topic, each.partition) for each in info.source_partitions())
        for task, info in state.task_infos().items()
    }

    def partitions(tasks: Sequence[TaskId]) -> tuple[TopicPartition, ...]:
        return tuple(each for task in tasks for each in sources.get(task, ()))

    subscribed: dict[str, MemberSubscription] = {}
    for client in state.streams_client_states().values():
        owned = MemberSubscription(partitions(client.previous_active_tasks), None, client.rack_id)
        subscribed.update(dict.fromkeys(client.consumers, owned))
    given: dict[str, ConsumerAssignment] = {}
    if error not in (AssignmentError.UNKNOWN_PROCESS_ID, AssignmentError.UNKNOWN_TASK_ID):
        held = {each.process_id: sorted(each.active_tasks()) for each in answer.assignments}
        for process, client in state.streams_client_states().items():
            active = held.get(process, [])
            for number, consumer in enumerate(client.consumers):
                given[consumer] = ConsumerAssignment(partitions(active[number :: len(client.consumers)]))
    members = ConsumerAssignments(dict(sorted(given.items())))
    assignor.on_assignment_computed(members, GroupSubscription(subscribed), error)


def _copies(state: ApplicationMetadata, answer: TaskAssignment) -> Iterator[Trouble]:
    """Missing standbys, and warm-ups that nothing ends."""
    standbys = max(state.assignment_configs().num_standby_replicas, 0)
    possible = min(standbys, len(state.streams_client_states()) - 1)
    copies = Counter(task for client in answer.assignments for task in client.standby_tasks())
    is_followed = any(client.followup_rebalance_deadline_ms is not None for client in answer.assignments)
    for task in state.stateful_tasks():
        if copies[task] < possible:
            yield (
                "copies made",
                f"task {task} has {copies[task]} standbys; {standbys} are configured, {possible} possible",
            )
        if copies[task] > standbys and not is_followed:
            yield (
                "copies asked for",
                f"task {task} has {copies[task]} standbys, {standbys} are configured, and no follow-up rebalance ends "
                "the warm-up",
            )


def _badly_typed(answer: object) -> str | None:
    if not isinstance(answer, TaskAssignment):
        return f"the answer is {type(answer).__name__}, expected TaskAssignment"
    # An author's answer may contain anything.
    clients: Any = answer.assignments
    for client in clients:
        wrong = _badly_typed_client(client)
        if wrong is not None:
            return wrong
    return None


class _StreamsKind(Kind[ApplicationMetadata]):
    name = "streams"
    events = (
        "nothing", "join", "leave", "lose", "return", "follow", "traffic", "more", "unknown_lags",
        "fewer", "both", "forget", "lead", "restart",
    )  # fmt: skip
    settings = MappingProxyType(
        {"named": 2, "hosts": 1, "tags": 2, "strategy": 2, "weighted": 1, "texts": 1}
        | {"below": 1, "lag": 2, "probing": 2, "rackless": 1}
    )
    most_of_member = 6
    parts = (1, 1, 2, 2, 2, 3, 3, 4)
    most_standbys = 3
    is_called_without_members = False
    answering = Answering(
        call=lambda assignor, state: assignor.assign(state),
        fingerprint=_fingerprint,
        shown=ApplicationMetadata.for_next_assignor,
        badly_typed=_badly_typed,
        refusals=(TaskAssignmentError,),
        computed=_computed,
        has_members=lambda state: any(each.num_stream_threads for each in state.streams_client_states().values()),
    )

    def world(self, history: History, capabilities: Capabilities) -> World[ApplicationMetadata]:
        return StreamsWorld(history, capabilities)

    def troubles(self, state: ApplicationMetadata, answer: TaskAssignment) -> Iterator[Trouble]:
        error = validate_task_assignment(state, answer)
        if error is not AssignmentError.NONE:
            yield "accepted", f"Kafka refuses it with {error.name}: {refusal_sentence(state, answer, error)}"
            return
        if not self.has_members(state):
            return
        for finding in strict_findings(state, answer):
            yield _RULE_OF[finding.kind], finding.message
        yield from _copies(state, answer)
        now = state.current_time_ms()
        for client in answer.assignments:
            deadline = client.followup_rebalance_deadline_ms
            if deadline is not None and deadline != 0 and not now <= deadline <= now + _LATEST_MS:
                yield (
                    "point in time",
                    f"client {client.process_id} is to request a rebalance at {deadline} ms, and it is {now} ms now",
                )

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

    def threads(self, state: ApplicationMetadata) -> Mapping[str, int]:
        return {str(process): each.num_stream_threads for process, each in state.streams_client_states().items()}

    def to_restore(self, state: ApplicationMetadata, answer: TaskAssignment) -> float:
        lags = {process: lags_of(client) or {} for process, client in state.streams_client_states().items()}
        held = [(client.process_id, task) for client in answer.assignments for task in client.active_tasks()]
        return float(sum(max(lags[process].get(task, 0), 0) for process, task in held))

    def racks_crossed(self, state: ApplicationMetadata, answer: TaskAssignment) -> float:
        racks = {process: client.rack_id for process, client in state.streams_client_states().items()}
        infos = state.task_infos()
        return float(
            sum(
                racks[client.process_id] not in (partition.rack_ids or ())
                for client in answer.assignments
                for task in client.active_tasks()
                for partition in infos[task].source_partitions()
            )
        )

    def turned(self, state: ApplicationMetadata) -> ApplicationMetadata:
        # Clients only: the topology fixes the order of tasks.
        clients = [*map(_turned_client, state.for_next_assignor().streams_client_states().values())]
        return ApplicationMetadata(
            state.assignment_configs(),
            state.task_infos().values(),
            reversed(clients),
            state.current_time_ms(),
            state.leader_process_id(),
            state.workload(),
        )

    def documents(self, states: Sequence[ApplicationMetadata], name: str) -> list[dict[str, Any]]:
        return [streams_document(state, f"{name}-{number}") for number, state in enumerate(states)]

    def sized(self, number: int, capabilities: Capabilities) -> ApplicationMetadata:
        return sized_application(number, 1 if capabilities.standbys else 0)


def _turned_client(client: StreamsClientState) -> StreamsClientState:
    """The client with its tags and lags listed backwards."""
    lags = lags_of(client)
    return StreamsClientState(
        client.process_id,
        client.num_stream_threads,
        client.consumers,
        client.previous_active_tasks,
        client.previous_standby_tasks,
        None if lags is None else dict(reversed(list(lags.items()))),
        client._previous_tasks_by_consumer,
        client.host_info,
        dict(reversed(list(client.client_tags.items()))),
        client.rack_id,
    )


STREAMS = _StreamsKind()
