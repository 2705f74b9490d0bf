from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignmentConfigs,
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
from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.streams.metrics import LAB_METRICS

METRICS = {metric.name: metric for metric in LAB_METRICS}


def process(number: int) -> ProcessID:
    return ProcessID.parse(f"00000000-0000-0000-0000-{number:012d}")


@attrs.frozen
class Client:
    before: str = ""
    after: str = ""
    threads: int = 1
    tags: Mapping[str, str] = attrs.field(factory=dict)
    rack: str | None = None
    lags: Mapping[str, int] | None = attrs.field(factory=dict)


def _tasks(text: str) -> tuple[list[TaskId], list[TaskId]]:
    active, _, standby = text.partition("|")
    return [TaskId.parse(task) for task in active.split()], [TaskId.parse(task) for task in standby.split()]


def task_info(text: str, stateless: bool, sources: Sequence[str] | None, logs: Sequence[str] | None) -> TaskInfo:
    task = TaskId.parse(text)
    source = TaskTopicPartition("in", task.partition, True, False, None if sources is None else tuple(sources))
    if stateless:
        return TaskInfo(task, False, False, (), (source,))
    changelog = TaskTopicPartition("log", task.partition, False, True, None if logs is None else tuple(logs))
    return TaskInfo(task, True, True, ("store",), (source, changelog))


def figure(
    metric: str,
    clients: Sequence[Client],
    *,
    tasks: str,
    stateless: str = "",
    config: Mapping[str, Any] | None = None,
    source_racks: Mapping[str, Sequence[str]] | None = None,
    log_racks: Mapping[str, Sequence[str]] | None = None,
    workload: Workload | None = None,
    metrics: Mapping[str, MetricPlugin] | None = None,
) -> float | None:
    """The figure of a metric of the lab for the state and answer of ``clients``."""
    infos = [
        task_info(text, text in stateless.split(), (source_racks or {}).get(text), (log_racks or {}).get(text))
        for text in tasks.split()
    ]
    states, answers = [], []
    for number, client in enumerate(clients, start=1):
        active, standby = _tasks(client.before)
        states.append(
            StreamsClientState(
                process(number),
                client.threads,
                (f"consumer-{number}",),
                active,
                standby,
                None if client.lags is None else {TaskId.parse(task): lag for task, lag in client.lags.items()},
                None,
                None,
                client.tags,
                client.rack,
            )
        )
        active, standby = _tasks(client.after)
        held = [*map(AssignedTask.active, active), *map(AssignedTask.standby, standby)]
        answers.append(StreamsClientAssignment(process(number), held))
    configs = AssignmentConfigs.from_mapping(config or {})
    application = ApplicationMetadata(configs, infos, states, workload=workload)
    return (metrics or METRICS)[metric].compute(application, TaskAssignment(answers))


def weighing(text: str, restore_bytes_per_s: float | None = None) -> Workload:
    """A workload written as ``"0_0: 2 10 300"``: weight, input in bytes per second, and state in bytes of each task."""
    tasks = {}
    for entry in text.split(","):
        task, _, figures = entry.partition(":")
        weight, read, state = map(float, figures.split())
        tasks[TaskId.parse(task.strip())] = TaskWorkload(state, read, weight)
    return Workload(tasks, restore_bytes_per_s)
