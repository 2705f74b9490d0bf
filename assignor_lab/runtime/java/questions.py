"""Applications as questions to Java, and Java's answers; the driver's ``State`` is the other side.

Tasks are numbers: positions among the application's tasks, then among tasks that it does not have (any more).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignmentError,
    ConsumerAssignments,
    GroupSubscription,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskId,
    TaskInfo,
    TopicPartition,
)
from assignor_lab.runtime.invocation import InvalidAnswerError
from assignor_lab.runtime.plain_application import PlainApplication, PlainClient, PlainId

__all__ = ["TaskNumbers", "answer_document", "answer_of", "computed_question", "question_of"]


class TaskNumbers:
    """The numbered tasks of an application, kept because most questions have the same ones."""

    def __init__(self, infos: Sequence[TaskInfo]) -> None:
        self.infos = infos
        self.active = [AssignedTask.active(info.id) for info in infos]
        self.standby = [AssignedTask.standby(info.id) for info in infos]


def question_of(
    application: PlainApplication,
    configs: Mapping[str, str],
    number_of_tasks: int,
    tasks: tuple[list[PlainId], list[tuple[Any, ...]]] | None,
) -> dict[str, Any]:
    return {
        "do": "assign",
        "configs": configs,
        "config": application.configs,
        "now": application.time_ms,
        "tasks": None if tasks is None else [_task(key, *parts) for key, parts in zip(*tasks, strict=True)],
        "others": [_id_text(key) for key in application.ids[number_of_tasks:]],
        "clients": [_client(client) for client in application.clients],
    }


def _id_text(key: PlainId) -> str:
    subtopology, partition, topology = key
    return f"{subtopology}_{partition}" if topology is None else f"{topology}__{subtopology}_{partition}"


def _task(key: PlainId, stateful: bool, logged: bool, stores: Any, partitions: Any) -> list[Any]:  # noqa: FBT001 - as packed
    return [_id_text(key), stateful, logged, stores or (), partitions or ()]


def _client(client: PlainClient) -> list[Any]:
    before = client.before or {}
    return [
        str(UUID(int=client.process)),
        client.threads,
        client.consumers,
        client.active,
        client.standby,
        None if client.lags is None else [list(client.lags), list(client.lags.values())],
        {consumer: before.get(consumer, ()) for consumer in client.consumers},
        None if client.host is None else f"{client.host[0]}:{client.host[1]}",
        client.tags,
        client.rack,
    ]


def answer_of(answer: Mapping[str, Any], application: ApplicationMetadata, tasks: TaskNumbers) -> TaskAssignment:
    """The assignment in Java's answer.

    Raises:
        InvalidAnswerError: if it is no assignment.
        AssignorLabError: if an id in it is invalid.
    """
    if "invalid" in answer:
        raise InvalidAnswerError(str(answer["invalid"]))
    processes = {str(process): process for process in application.streams_client_states()}
    return TaskAssignment(
        tuple(
            StreamsClientAssignment(
                processes.get(process) or ProcessID.parse(process), [_held(task, tasks) for task in held], deadline
            )
            for process, held, deadline in answer["assignment"]
        )
    )


def answer_document(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Java's answer in its form for the transfer from a plugin's process; the reader checks all of it.

    Raises:
        InvalidAnswerError: if it is no assignment.
        AssignorLabError: if the id of a task is invalid.
    """
    if "invalid" in answer:
        raise InvalidAnswerError(str(answer["invalid"]))
    clients = answer["assignment"]
    for client in clients:
        tasks = client[1]
        if any(type(task) is list for task in tasks):
            client[1] = [_unknown_document(task) if type(task) is list else task for task in tasks]
    return {"clients": clients}


def _unknown_document(task: list[Any]) -> list[Any]:
    unknown = TaskId.parse(task[0])
    return [unknown.subtopology, unknown.partition, unknown.topology_name, task[1]]


def _held(task: int | list[Any], tasks: TaskNumbers) -> AssignedTask:
    if isinstance(task, int):
        return tasks.active[task] if task >= 0 else tasks.standby[-1 - task]
    unknown = TaskId.parse(task[0])
    return AssignedTask.active(unknown) if task[1] else AssignedTask.standby(unknown)


def computed_question(
    assignment: ConsumerAssignments, subscription: GroupSubscription, error: AssignmentError
) -> dict[str, Any]:
    """The result of the answer, for ``onAssignmentComputed``."""
    return {
        "do": "computed",
        "error": error.name,
        "assignment": [[member, _partitions(given.partitions)] for member, given in assignment.members.items()],
        "subscription": [
            [member, _partitions(sent.owned_partitions), sent.rack_id] for member, sent in subscription.members.items()
        ],
    }


def _partitions(partitions: Sequence[TopicPartition]) -> list[list[Any]]:
    return [[each.topic, each.partition] for each in partitions]
