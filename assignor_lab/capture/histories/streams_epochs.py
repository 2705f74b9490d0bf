"""Decisions of a group of the streams protocol (KIP-1071), as its coordinator's records or descriptions show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.plugins.keys import read_value
from assignment_api.plugins.layers import ConfigLayer
from assignment_api.streams.configs import NUM_STANDBY_REPLICAS
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_records import (
    CURRENT_ASSIGNMENT,
    STREAMS_MEMBER,
    STREAMS_METADATA,
    STREAMS_TOPOLOGY,
    TARGET_MEMBER,
    TARGET_METADATA,
    read_assignment_config,
    read_group_key,
    read_streams_member,
    read_target,
    read_target_epoch,
    read_topology,
)
from assignor_lab.capture.recorded.kept_records import KeptRecord, KeptRecords
from assignor_lab.capture.recorded.streams_group_answers import HeldTasks
from assignor_lab.capture.streams_member import StreamsMember
from assignor_lab.documents.errors import Place
from assignor_lab.kafka.streams_group.member_table import MemberTable
from assignor_lab.scenarios.settings import group_settings, with_given

__all__ = ["Epoch", "EpochMember", "epoch_documents", "recorded_epochs"]

_NOTHING = HeldTasks()
_OLD_TARGETS = "what members had is what they were to have before, which is what brokers before 4.4 look at"
_WHAT_THEY_HAVE = (
    "what members had is what they have, which is what brokers from 4.4 on look at; offsets are in no record"
)


@attrs.frozen
class EpochMember:
    """A member at a decision.

    Args:
        member: Who it is.
        was_to_have: Its target before.
        has: What it had at that moment.
        target: What it is to have now.
    """

    member: StreamsMember
    was_to_have: HeldTasks
    has: HeldTasks
    target: HeldTasks


@attrs.frozen
class Epoch:
    """A target assignment.

    Args:
        place: Where it was read.
        time_ms: When it was decided, or became known, in epoch milliseconds.
        number: Its epoch.
        members: Member id to member, in the order in which the broker showed them to its assignor.
        stateful: Sub-topology to whether it has changelogs; empty if that is not told.
        config: Configuration of the group that its latest target was decided with; ``None``: not told.
        is_told: Whether it is known what everybody was to have.
        further: What else its source tells, as keys of a scenario's ``source``.
    """

    place: Place
    time_ms: int
    number: int
    members: Mapping[str, EpochMember]
    stateful: Mapping[str, bool]
    config: Mapping[str, str] | None = None
    is_told: bool = True
    further: Mapping[str, Any] = attrs.field(factory=dict)


def recorded_epochs(kept: KeptRecords, on_unreadable: Callable[[str], None]) -> list[Epoch]:
    """The epochs that have a target with tasks, by time.

    A coordinator writes the members' targets first, and then that the target of an epoch is complete. While topics of
    the topology are missing, everybody's target is empty: then no assignor is asked.

    Args:
        kept: The recording.
        on_unreadable: Told of each record that cannot be read, and why.
    """
    reading = _Reading(kept.group)
    found = []
    for each in kept.records:
        try:
            epoch = reading.take(each)
        except BrokerAnswerError as error:
            on_unreadable(f"{each.place}: record {each.record.offset} is left out: {error}")
            continue
        if epoch is not None and any(member.target.active for member in epoch.members.values()):
            found.append(epoch)
    return found


@attrs.define
class _Reading:
    group: str
    members: dict[str, StreamsMember] = attrs.field(factory=dict)
    #: Whoever has gone through a request: what one writes last is what its member has now.
    table: MemberTable = attrs.field(factory=MemberTable)
    targets: dict[str, HeldTasks] = attrs.field(factory=dict)
    #: The targets of the epoch before.
    before: dict[str, HeldTasks] = attrs.field(factory=dict)
    current: dict[str, HeldTasks] = attrs.field(factory=dict)
    stateful: dict[str, bool] = attrs.field(factory=dict)
    config: dict[str, str] | None = None

    def take(self, each: KeptRecord) -> Epoch | None:
        key, value = read_group_key(each.record.key), each.record.value
        if key is None or key.group != self.group:
            return None
        member = key.member or ""
        if key.type == STREAMS_MEMBER:
            _put(self.members, member, None if value is None else read_streams_member(self.group, value))
            if value is None:
                self.table.remove(member)
            elif member in self.table:
                self.table.write_down(member)
        elif key.type == TARGET_MEMBER:
            _put(self.targets, member, None if value is None else read_target(self.group, value))
        elif key.type == CURRENT_ASSIGNMENT:
            held = None if value is None else read_target(self.group, value, current=True)
            _put(self.current, member, held)
            if held is not None and member in self.members:
                self.table.write_down(member)
        elif key.type == STREAMS_METADATA:
            self.config = None if value is None else read_assignment_config(self.group, value)
        elif key.type == STREAMS_TOPOLOGY and value is not None:
            self.stateful = {sub.id: bool(sub.changelogs) for sub in read_topology(self.group, value)}
        elif key.type == TARGET_METADATA and value is not None:
            epoch, decided_ms = read_target_epoch(self.group, value)
            return self._epoch(each, epoch, decided_ms or each.record.time_ms)
        return None

    def _epoch(self, each: KeptRecord, number: int, time_ms: int) -> Epoch:
        in_order = {name: self.members[name] for name in self.table if name in self.members}
        members = {
            name: EpochMember(
                told,
                self.before.get(name, _NOTHING),
                self.current.get(name, _NOTHING),
                self.targets.get(name, _NOTHING),
            )
            for name, told in {**in_order, **self.members}.items()
        }
        self.before = dict(self.targets)
        return Epoch(each.place, time_ms, number, members, dict(self.stateful), self.config)


def _put(held: dict[str, Any], name: str, value: object) -> None:
    if value is None:
        held.pop(name, None)
    else:
        held[name] = value


def epoch_documents(
    group: str, epochs: Sequence[Epoch], config: Iterable[ConfigLayer] = (), *, is_given_targets: bool = True
) -> Iterator[dict[str, Any]]:
    """A scenario of kind ``streams-group`` for each epoch.

    Args:
        group: The group.
        epochs: Its epochs, by time.
        config: What ``--config`` and ``-c`` say, the lowest first.
        is_given_targets: Whether the assignor is given the old targets, as by brokers before 4.4, or what members have.
    """
    sizes = _sizes(epochs)
    layers = list(config)
    standbys, told = _standbys(epochs, layers)
    is_given = any(NUM_STANDBY_REPLICAS in layer.entries for layer in layers)
    with_copies = {name for epoch in epochs for each in epoch.members.values() for name in _copied(each.target)}
    for epoch in epochs:
        own = (epoch.config or {}).get(NUM_STANDBY_REPLICAS, "")
        is_own = not is_given and own.isdecimal()
        assumptions = [] if is_own else [*told]
        if not epoch.stateful:
            assumptions.append("the topology is not told: sub-topologies have state if a member was given copies of it")
        assumptions.append(_OLD_TARGETS if is_given_targets else _WHAT_THEY_HAVE)
        timeouts = [each.member.rebalance_timeout_ms for each in epoch.members.values()]
        known = [timeout for timeout in timeouts if timeout is not None and timeout > 0]
        found = {"rebalance.timeout.ms": Counter(known).most_common(1)[0][0]} if known else {}
        found |= group_settings(epoch.config or {})
        observed = {"members": {name: _held(each.target) for name, each in epoch.members.items()}}
        document = {
            "format": 1,
            "kind": "streams-group",
            "id": f"{group}-epoch-{epoch.number}",
            "config": {NUM_STANDBY_REPLICAS: int(own) if is_own else standbys},
            "subtopologies": [
                {"id": name, "tasks": count, "stateful": epoch.stateful.get(name, name in with_copies)}
                for name, count in sizes.items()
            ],
            "members": [
                _member(name, each, each.was_to_have if is_given_targets else each.has)
                for name, each in epoch.members.items()
            ],
            **({"observed": observed} if epoch.is_told else {}),
            "source": {
                "file": epoch.place.file, "line": epoch.place.line or 0, "time_ms": epoch.time_ms, "group": group,
                "generation": epoch.number,
                "client_ids": {name: each.member.client_id for name, each in epoch.members.items()}, **epoch.further,
            },
            "assumptions": assumptions,
        }  # fmt: skip
        yield with_given(document, found, layers)


def _sizes(epochs: Iterable[Epoch]) -> dict[str, int]:
    """Sub-topology to its number of tasks: each task is always given to somebody."""
    found: dict[str, int] = {}
    for epoch in epochs:
        for each in epoch.members.values():
            for name, numbers in each.target.active.items():
                found[name] = max(found.get(name, 0), *(number + 1 for number in numbers), 0)
    return {name: found[name] for name in sorted(found, key=lambda name: (len(name), name))}


def _copied(held: HeldTasks) -> Iterator[str]:
    yield from held.standby
    yield from held.warmup


def _standbys(epochs: Iterable[Epoch], config: Iterable[ConfigLayer]) -> tuple[int, list[str]]:
    given = [layer.entries[NUM_STANDBY_REPLICAS].value for layer in config if NUM_STANDBY_REPLICAS in layer.entries]
    if given:
        return int(read_value(NUM_STANDBY_REPLICAS, given[-1])), []
    most = 0
    for epoch in epochs:
        copies: dict[tuple[str, int], int] = {}
        for each in epoch.members.values():
            for name, numbers in each.target.standby.items():
                for number in numbers:
                    copies[name, number] = copies.get((name, number), 0) + 1
        most = max(most, *copies.values(), 0)
    return most, [
        f"streams.{NUM_STANDBY_REPLICAS} of the group is in no record: taken as {most}, the most copies that a task "
        f"has (give it with -c {NUM_STANDBY_REPLICAS}=N)"
    ]


def _member(name: str, each: EpochMember, had: HeldTasks) -> dict[str, Any]:
    return {
        "id": name,
        "instance_id": each.member.instance_id,
        "rack": each.member.rack,
        "process_id": each.member.process_id,
        "tags": dict(each.member.tags),
        **_held(had),
        "task_offsets": {},
        "task_end_offsets": {},
    }


def _held(held: HeldTasks) -> dict[str, dict[str, list[int]]]:
    kinds = {"active": held.active, "standby": held.standby, "warmup": held.warmup}
    return {
        kind: {name: sorted(numbers) for name, numbers in tasks.items() if numbers} for kind, tasks in kinds.items()
    }
