"""An application in a plugin's process, and the returned answer.

An answer is JSON, in which tasks are numbers, as in the packed application; every one of them is checked.
"""

from __future__ import annotations

import pickle
from typing import Any
from uuid import UUID

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignmentConfigs,
    HostInfo,
    ProcessID,
    StreamsClientAssignment,
    StreamsClientState,
    TaskAssignment,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
    TaskWorkload,
    Workload,
)
from assignor_lab.runtime.invocation import MESSAGE_LIMIT
from assignor_lab.runtime.isolation.errors import AnswerFormatError
from assignor_lab.runtime.plain_application import plain_application, plain_tasks

__all__ = ["Expected", "Receiver", "answer_document", "answer_of", "expected_of", "fingerprint", "packed_application"]

#: Most remarks of a returned answer.
MAX_REMARKS = 1_000

_MAX_KEPT = 20_000


class Receiver:
    """Unpacks applications; ids and tasks are kept from call to call."""

    def __init__(self) -> None:
        self._ids: dict[tuple[int, int, str | None], TaskId] = {}
        self._processes: dict[int, ProcessID] = {}
        self._tasks: tuple[bytes, tuple[TaskInfo, ...]] = (b"", ())

    def application(self, application: bytes, tasks: bytes) -> ApplicationMetadata:
        """The application in the form that an assignor receives, its lags not yet computed."""
        ids, clients, configs, time_ms, leader, workload = pickle.loads(application)  # noqa: S301 - made by the lab
        if len(self._ids) > _MAX_KEPT or len(self._processes) > _MAX_KEPT:
            self._ids, self._processes = {}, {}
        table = [self._id(key) for key in ids]
        if self._tasks[0] != tasks:
            self._tasks = (tasks, self._infos(tasks))
        return ApplicationMetadata(
            AssignmentConfigs(*configs),
            self._tasks[1],
            [self._client(client, table) for client in clients],
            time_ms,
            None if leader is None else self._process(leader),
            None
            if workload is None
            else Workload({table[task]: TaskWorkload(*known) for task, *known in workload[0]}, workload[1]),
        )

    def _infos(self, tasks: bytes) -> tuple[TaskInfo, ...]:
        ids, infos = pickle.loads(tasks)  # noqa: S301 - made by the lab
        return tuple(
            TaskInfo(
                self._id(key),
                stateful,
                logged,
                stores,
                None if partitions is None else tuple(TaskTopicPartition(*each) for each in partitions),
            )
            for key, (stateful, logged, stores, partitions) in zip(ids, infos, strict=True)
        )

    def _client(self, client: tuple[Any, ...], table: list[TaskId]) -> StreamsClientState:
        process, threads, consumers, active, standby, lags, before, host, tags, rack = client
        return StreamsClientState(
            self._process(process),
            threads,
            consumers,
            [table[number] for number in active],
            [table[number] for number in standby],
            lags=None if lags is None else {table[number]: lag for number, lag in lags.items()},
            previous_tasks_by_consumer=None
            if before is None
            else {consumer: tuple([table[number] for number in tasks]) for consumer, tasks in before.items()},
            host_info=None if host is None else HostInfo(*host),
            client_tags=tags,
            rack_id=rack,
        )

    def _id(self, key: tuple[int, int, str | None]) -> TaskId:
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = TaskId(*key)
        return found

    def _process(self, number: int) -> ProcessID:
        found = self._processes.get(number)
        if found is None:
            found = self._processes[number] = ProcessID(UUID(int=number))
        return found


# --- answers --------------------------------------------------------------------------------------


def answer_document(application: ApplicationMetadata, assignment: TaskAssignment) -> dict[str, Any]:
    """An answer as JSON: for each client its id, its tasks and its deadline.

    An active task is its position among the application's, a standby is ``-1 - position``; a task that the application
    does not have is a list of its parts.
    """
    positions = {task: number for number, task in enumerate(application.all_tasks())}
    clients = []
    for client in assignment.assignments:
        tasks: list[Any] = []
        for task in client.tasks:
            number, is_active = positions.get(task.id), task.type.value == "active"
            if number is None:
                tasks.append([task.id.subtopology, task.id.partition, task.id.topology_name, is_active])
            else:
                tasks.append(number if is_active else -1 - number)
        clients.append([str(client.process_id), tasks, client.followup_rebalance_deadline_ms])
    document: dict[str, Any] = {"clients": clients}
    if assignment.remarks:
        document["remarks"] = [remark[:MESSAGE_LIMIT] for remark in assignment.remarks[:MAX_REMARKS]]
    return document


def answer_of(application: ApplicationMetadata, document: object) -> TaskAssignment:
    """The answer in ``document``, which a plugin may have forged, so everything in it is checked.

    Raises:
        AnswerFormatError: if it is none.
        AssignorLabError: a subclass, if an id is none or a task occurs twice on a client.
    """
    if not isinstance(document, dict):
        raise _no_answer("no JSON object")
    expected = expected_of(application)
    assignments = []
    for entry in _listed(document.get("clients")):
        if type(entry) is not list or len(entry) != 3 or type(entry[0]) is not str:
            raise _no_answer("a client that is none")
        text, tasks, deadline = entry
        if deadline is not None and type(deadline) is not int:
            raise _no_answer("a deadline that is no number")
        process = expected.processes.get(text) or ProcessID.parse(text)
        held = [_task(task, expected.actives, expected.standbys) for task in _listed(tasks)]
        assignments.append(StreamsClientAssignment(process, held, deadline))
    remarks = _listed(document.get("remarks", []))
    if len(remarks) > MAX_REMARKS or not all(type(remark) is str for remark in remarks):
        raise _no_answer("remarks that are no texts")
    return TaskAssignment(tuple(assignments), tuple(remark[:MESSAGE_LIMIT] for remark in remarks))


@attrs.frozen(eq=False)
class Expected:
    """The valid names in an answer: tasks by their numbers, as actives and as standbys, and clients by their texts."""

    application: ApplicationMetadata
    actives: list[AssignedTask]
    standbys: list[AssignedTask]
    processes: dict[str, ProcessID]


_last_expected: Expected | None = None


def expected_of(application: ApplicationMetadata) -> Expected:
    """The valid names in an answer to ``application``; the latest ones are kept."""
    global _last_expected  # noqa: PLW0603 - a memory of one: it is made while the answer is waited for
    # Other threads may check answers to other applications meanwhile.
    known = _last_expected
    if known is None or known.application is not application:
        known = _last_expected = Expected(
            application,
            [AssignedTask.active(task) for task in application.all_tasks()],
            [AssignedTask.standby(task) for task in application.all_tasks()],
            {str(process): process for process in application.streams_client_states()},
        )
    return known


def _task(task: object, actives: list[AssignedTask], standbys: list[AssignedTask]) -> AssignedTask:
    if type(task) is int and -len(standbys) <= task < len(actives):
        return actives[task] if task >= 0 else standbys[-1 - task]
    if type(task) is list and [type(part) for part in task[:2]] == [int, int]:
        parts: list[Any] = task
        if len(parts) == 4 and isinstance(parts[2], str | None) and type(parts[3]) is bool:
            unknown = TaskId(parts[0], parts[1], parts[2])
            return AssignedTask.active(unknown) if parts[3] else AssignedTask.standby(unknown)
    raise _no_answer("a task that is none")


def _listed(value: object) -> list[Any]:
    if type(value) is not list:
        raise _no_answer("something else than a list")
    return value


def _no_answer(fault: str) -> AnswerFormatError:
    return AnswerFormatError(f"its answer holds {fault}")


def fingerprint(application: ApplicationMetadata) -> tuple[bytes, ...]:
    """An assignor's whole input, for comparison within this process."""
    ids = [info.id for info in application.task_infos().values()]
    keys = (
        [(task.subtopology, task.partition, task.topology_name) for task in ids],
        [process.id.int for process in application.streams_client_states()],
    )
    return (*packed_application(application), pickle.dumps(keys, protocol=5))


def packed_application(application: ApplicationMetadata) -> tuple[bytes, bytes]:
    """The application and its tasks, each as bytes: pickled plain data."""
    plain = plain_application(application)
    # As plain tuples, without the names of their parts.
    whole = (plain.ids, [tuple(client) for client in plain.clients], *plain[2:])
    return (
        pickle.dumps(whole, protocol=5),
        pickle.dumps(plain_tasks(list(application.task_infos().values())), protocol=5),
    )
