"""Shared values of a generated group's states: tasks, their weights, and constant facts of each member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from assignment_api.streams import (
    HostInfo,
    ProcessID,
    StreamsClientState,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
    TaskWorkload,
    Workload,
)
from assignment_api.streams.client_state import LagGate, client_in_order
from assignment_api.streams.ids import utf16_key
from assignment_api.streams.listed_lags import ListedLags
from assignment_api.streams.task_table import TaskTable
from assignor_lab.scenarios.families.events import Session
from assignor_lab.scenarios.families.shape import GroupShape
from assignor_lab.scenarios.families.state import MemberTasks
from assignor_lab.scenarios.formats.state_parts import part_document
from assignor_lab.scenarios.scenario import ConfigValue
from assignor_lab.scenarios.state_parts import StateTask

__all__ = ["GroupValues", "FamilyTopology"]


@attrs.frozen(eq=False)
class FamilyTopology:
    """The present tasks while certain sub-topologies are hidden.

    Args:
        workload: Their weights; ``None``: unknown.
        logged: Ids of those with a changelog.
    """

    tasks: TaskTable
    workload: Workload | None
    logged: tuple[TaskId, ...]


@attrs.frozen(eq=False)
class _Facts:
    """Constant facts of a member: fields of :class:`StreamsClientState`."""

    process: ProcessID
    threads: int
    consumers: tuple[str, ...]
    host: HostInfo | None
    tags: Mapping[str, str]
    rack: str | None


class GroupValues:
    """Values of a group, created at their first use."""

    def __init__(self, group: GroupShape) -> None:
        self._group = group
        self.config: Mapping[str, ConfigValue] = MappingProxyType(group.config)
        self.forget()

    def forget(self) -> None:
        """Clears the cached values."""
        self._documents: dict[str, dict[str, Any]] = {}
        self._infos: list[TaskInfo] = []
        self._ids: list[TaskId] = []
        self._number: dict[TaskId, int] = {}
        self._is_sorted = True
        self._topologies: dict[frozenset[int], FamilyTopology] = {}
        self._facts: dict[Session, _Facts] = {}

    @property
    def number(self) -> Mapping[TaskId, int]:
        self._read_tasks()
        return self._number

    @property
    def task_documents(self) -> Mapping[str, dict[str, Any]]:
        """Task to its part of documents."""
        if not self._documents:
            self._documents = {task.id: part_document(task) for task in self._group.tasks}
        return self._documents

    def topology(self, hidden: frozenset[int]) -> FamilyTopology:
        """The tasks while these sub-topologies are hidden: the same object each time."""
        known = self._topologies.get(hidden)
        if known is None:
            self._read_tasks()
            shown = [item.number not in hidden for item in self._group.subtopology_of]
            infos = [info for info, is_shown in zip(self._infos, shown, strict=True) if is_shown]
            known = self._topologies[hidden] = FamilyTopology(
                TaskTable(infos),
                None if self._group.workload is None else _workload(self._group.workload, infos),
                tuple([info.id for info in infos if info.is_logged]),
            )
        return known

    def process(self, session: Session) -> ProcessID:
        return self._facts_of(session).process

    def clients(
        self, held: Sequence[MemberTasks], topology: FamilyTopology, *, lags_known: bool
    ) -> tuple[StreamsClientState, ...]:
        gate = LagGate()
        return tuple([self._client(each, topology.logged if lags_known else None, gate) for each in held])

    def _client(self, held: MemberTasks, logged: tuple[TaskId, ...] | None, gate: LagGate) -> StreamsClientState:
        facts, id_of = self._facts_of(held.session), self._ids.__getitem__
        reported = {
            consumer: tuple(map(id_of, indices))
            for consumer, indices in zip(held.session.consumers, held.reported, strict=True)
        }
        return client_in_order(
            facts.process,
            facts.threads,
            facts.consumers,
            self._ascending(held.active),
            self._ascending(held.stored),
            None if logged is None else ListedLags(logged, tuple(held.lags)),
            MappingProxyType(reported),
            facts.host,
            facts.tags,
            facts.rack,
            gate,
        )

    def _ascending(self, indices: Sequence[int]) -> tuple[TaskId, ...]:
        ids = map(self._ids.__getitem__, indices)
        return tuple(ids if self._is_sorted else sorted(ids, key=TaskId.sort_key))

    def _read_tasks(self) -> None:
        if not self._infos:
            self._infos = [_task_info(task) for task in self._group.tasks]
            self._ids = [info.id for info in self._infos]
            self._number = {task: index for index, task in enumerate(self._ids)}
            # States list tasks in Kafka's order, which is that of most groups.
            keys = [task.sort_key() for task in self._ids]
            self._is_sorted = keys == sorted(keys)

    def _facts_of(self, session: Session) -> _Facts:
        known = self._facts.get(session)
        if known is None:
            machine = session.machine
            known = self._facts[session] = _Facts(
                process=ProcessID.parse(session.process_id),
                threads=machine.threads,
                consumers=tuple(sorted(session.consumers, key=utf16_key)),
                host=None if machine.host is None else _host(machine.host),
                tags=MappingProxyType(dict(machine.tags)),
                rack=machine.rack,
            )
        return known


def _host(text: str) -> HostInfo:
    name, _, port = text.rpartition(":")
    return HostInfo(name, int(port))


def _task_info(task: StateTask) -> TaskInfo:
    return TaskInfo(
        id=TaskId.parse(task.id),
        is_stateful=task.stateful,
        is_logged=task.logged,
        state_store_names=tuple(task.stores or ()),
        topic_partitions=tuple(
            [
                TaskTopicPartition(each.topic, each.partition, each.source, each.changelog, tuple(each.racks or ()))
                for each in task.partitions or ()
            ]
        ),
    )


def _workload(document: Mapping[str, Any], infos: Sequence[TaskInfo]) -> Workload:
    weights = document["tasks"]
    tasks = {
        info.id: TaskWorkload(**{name: float(known) for name, known in weights[str(info.id)].items()}) for info in infos
    }
    return Workload(tasks, float(document["restore_bytes_per_s"]))
