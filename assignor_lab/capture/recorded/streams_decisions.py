"""Decisions of a group of the streams protocol, as scenarios, from the records that its coordinator wrote.

What the assignor was given is in the records but for three things: numbers of tasks, which are those of the target, as
every task is in it; offsets of tasks, which no record has (Kafka 4.4 reads them); and the order of the coordinator's
map of members, which decides between equals alone. Brokers before 4.4 give the assignor the old target of each
member, those from 4.4 what it has at that moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.capture.recorded.group_records import (
    CURRENT_ASSIGNMENT,
    STREAMS_MEMBER,
    STREAMS_METADATA,
    STREAMS_TOPOLOGY,
    TARGET_MEMBER,
    TARGET_METADATA,
    StreamsMember,
    StreamsSubtopology,
    read_assignment_config,
    read_group_key,
    read_streams_member,
    read_target,
    read_target_epoch,
    read_topology,
)
from assignor_lab.capture.recorded.streams_group_answers import HeldTasks

__all__ = ["streams_decisions"]

_STANDBYS, _TAGS = "num.standby.replicas", "rack.aware.assignment.tags"
_NOTHING = HeldTasks()


def streams_decisions(
    group: str, records: Iterable[GroupRecord], *, is_given_targets: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    """A scenario of kind ``streams-group`` for each epoch with members that was decided on, and the record's offset.

    Args:
        group: The group's id.
        records: Its records, by offset.
        is_given_targets: Whether the assignor was given the old targets, as by brokers before 4.4, or what members
            had.

    Raises:
        BrokerAnswerError: if a record is garbled or of an unknown version.
    """
    state = _State(group, is_given_targets)
    for record in records:
        document = state.take(record)
        if document is not None:
            yield record.offset, document


@attrs.define(eq=False)
class _State:
    group: str
    is_given_targets: bool
    members: dict[str, StreamsMember] = attrs.field(factory=dict)
    targets: dict[str, HeldTasks] = attrs.field(factory=dict)
    current: dict[str, HeldTasks] = attrs.field(factory=dict)
    #: Targets of the decision before.
    decided: dict[str, HeldTasks] = attrs.field(factory=dict)
    topology: list[StreamsSubtopology] = attrs.field(factory=list)
    config: Mapping[str, str] | None = None
    #: Whether the records begin with the group: else what members had before the first decision may be missing.
    has_decided: bool = False

    def take(self, record: GroupRecord) -> dict[str, Any] | None:
        key = read_group_key(record.key)
        if key is None or key.group != self.group:
            return None
        value, member = record.value, key.member or ""
        if key.type == STREAMS_METADATA:
            self.config = None if value is None else read_assignment_config(self.group, value)
        elif key.type == STREAMS_TOPOLOGY:
            self.topology = [] if value is None else read_topology(self.group, value)
        elif key.type == STREAMS_MEMBER:
            _put(self.members, member, None if value is None else read_streams_member(self.group, value))
        elif key.type == TARGET_MEMBER:
            _put(self.targets, member, None if value is None else read_target(self.group, value))
        elif key.type == CURRENT_ASSIGNMENT:
            held = None if value is None else read_target(self.group, value, current=True)
            _put(self.current, member, held)
        elif key.type == TARGET_METADATA and value is not None:
            return self._decision(record, *read_target_epoch(self.group, value))
        return None

    def _decision(self, record: GroupRecord, epoch: int, decided_ms: int | None) -> dict[str, Any] | None:
        before, self.decided = self.decided, dict(self.targets)
        if not self.members:
            return None
        had = before if self.is_given_targets else self.current
        assumptions = [] if self.is_given_targets else ["no record has the offsets of tasks that members reported"]
        if not self.has_decided and epoch > len(self.members) + 1:
            assumptions.append("what members had before the first decision that is recorded may be unknown")
        self.has_decided = True
        return {
            "format": 1,
            "kind": "streams-group",
            "id": f"{self.group}-epoch-{epoch}",
            "config": self._config(assumptions),
            "subtopologies": [
                {"id": each.id, "tasks": self._tasks(each.id), "stateful": bool(each.changelogs)}
                for each in self.topology
            ],
            "members": [_member(name, told, had.get(name, _NOTHING)) for name, told in self.members.items()],
            "observed": {"members": {name: _held(self.targets.get(name, _NOTHING)) for name in self.members}},
            "source": {"time_ms": decided_ms or record.time_ms, "group": self.group, "generation": epoch},
            "assumptions": assumptions,
        }

    def _config(self, assumptions: list[str]) -> dict[str, Any]:
        told = self.config or {}
        standbys = told.get(_STANDBYS, "")
        if not standbys.isdecimal():
            assumptions.append(f"streams.{_STANDBYS} of the group is not recorded: taken as 0, Kafka's default")
            return {_STANDBYS: 0}
        tags = [tag for tag in told.get(_TAGS, "").split(",") if tag]
        return {_STANDBYS: int(standbys), **({_TAGS: tags} if tags else {})}

    def _tasks(self, subtopology: str) -> int:
        numbers = [number for held in self.targets.values() for number in held.active.get(subtopology, ())]
        return max(numbers, default=-1) + 1


def _member(name: str, told: StreamsMember, had: HeldTasks) -> dict[str, Any]:
    return {
        "id": name,
        "instance_id": told.instance_id,
        "rack": told.rack,
        "process_id": told.process_id,
        "tags": dict(told.tags),
        **_held(had),
        "task_offsets": {},
        "task_end_offsets": {},
    }


def _held(held: HeldTasks) -> dict[str, dict[str, list[int]]]:
    kinds = {"active": held.active, "standby": held.standby, "warmup": held.warmup}
    return {
        kind: {subtopology: sorted(numbers) for subtopology, numbers in tasks.items() if numbers}
        for kind, tasks in kinds.items()
    }


def _put(held: dict[str, Any], member: str, value: object) -> None:
    if value is None:
        held.pop(member, None)
    else:
        held[member] = value
