"""An application as a question to Java, and the answer as one of ours; the driver's ``State`` is the other side.

A task is a number in it, its place among the application's tasks and then among those that it does not have (any more).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignmentConfigs,
    AssignmentError,
    GroupAssignment,
    GroupSubscription,
    ProcessID,
    StreamsClientAssignment,
    StreamsClientState,
    TaskAssignment,
    TaskId,
    TaskInfo,
    TopicPartition,
)
from assignment_api.streams.client_state import lags_of
from assignor_lab.runtime.invocation import InvalidAnswerError

__all__ = ["TaskNumbers", "answer_of", "computed_question", "question_of"]


class TaskNumbers:
    """The tasks of an application by number: most questions are about the same ones.

    Args:
        infos: The tasks, in the order of the input.
    """

    def __init__(self, infos: Sequence[TaskInfo]) -> None:
        self.infos = infos
        self.numbers = {info.id: number for number, info in enumerate(infos)}
        self.active = [AssignedTask.active(info.id) for info in infos]
        self.standby = [AssignedTask.standby(info.id) for info in infos]

    def document(self) -> list[Any]:
        """The tasks as Java reads them."""
        return [_task(info) for info in self.infos]


def question_of(
    application: ApplicationMetadata, configs: Mapping[str, str], tasks: TaskNumbers, *, tells_tasks: bool
) -> dict[str, Any]:
    """The question to place the tasks of an application.

    Args:
        application: The application.
        configs: What ``configure`` is given.
        tasks: Its tasks.
        tells_tasks: Whether Java does not know them yet.
    """
    others: dict[TaskId, int] = {}
    clients = [_client(client, tasks.numbers, others) for client in application.streams_client_states().values()]
    return {
        "do": "assign",
        "configs": configs,
        "config": _config(application.assignment_configs()),
        "now": application.current_time_ms(),
        "tasks": tasks.document() if tells_tasks else None,
        "others": [str(task) for task in others],
        "clients": clients,
    }


def _config(configs: AssignmentConfigs) -> list[Any]:
    return [
        configs.acceptable_recovery_lag,
        configs.max_warmup_replicas,
        configs.num_standby_replicas,
        configs.probing_rebalance_interval_ms,
        configs.rack_aware_assignment_tags,
        configs.rack_aware_traffic_cost,
        configs.rack_aware_non_overlap_cost,
        configs.rack_aware_assignment_strategy,
    ]


def _task(info: TaskInfo) -> list[Any]:
    partitions = [
        [each.topic, each.partition, each.is_source, each.is_changelog, each.rack_ids]
        for each in info.topic_partitions or ()
    ]
    return [str(info.id), info.is_stateful, info.is_logged, info.state_store_names or (), partitions]


def _client(client: StreamsClientState, numbers: Mapping[TaskId, int], others: dict[TaskId, int]) -> list[Any]:
    def numbered(tasks: Collection[TaskId]) -> list[int]:
        try:
            return [numbers[task] for task in tasks]
        except KeyError:
            for task in tasks:
                if task not in numbers:
                    others.setdefault(task, len(numbers) + len(others))
            return [numbers[task] if task in numbers else others[task] for task in tasks]

    lags = lags_of(client)
    return [
        str(client.process_id),
        client.num_stream_threads,
        client.consumers,
        numbered(client.previous_active_tasks),
        numbered(client.previous_standby_tasks),
        None if lags is None else [numbered(lags), list(lags.values())],
        {consumer: numbered(client.previous_tasks_of(consumer)) for consumer in client.consumers},
        None if client.host_info is None else str(client.host_info),
        dict(client.client_tags),
        client.rack_id,
    ]


def answer_of(answer: Mapping[str, Any], application: ApplicationMetadata, tasks: TaskNumbers) -> TaskAssignment:
    """What Java answered.

    Raises:
        InvalidAnswerError: if it is no assignment.
        AssignorLabError: if an id in it is none.
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


def _held(task: int | list[Any], tasks: TaskNumbers) -> AssignedTask:
    if isinstance(task, int):
        return tasks.active[task] if task >= 0 else tasks.standby[-1 - task]
    unknown = TaskId.parse(task[0])
    return AssignedTask.active(unknown) if task[1] else AssignedTask.standby(unknown)


def computed_question(
    assignment: GroupAssignment, subscription: GroupSubscription, error: AssignmentError
) -> dict[str, Any]:
    """What became of the answer, for ``onAssignmentComputed``."""
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
