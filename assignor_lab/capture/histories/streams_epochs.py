"""Decisions of a streams group (KIP-1071), from its coordinator's records or from descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.keys import read_value
from assignment_api.plugins.layers import ConfigLayer
from assignment_api.releases import RELEASE_KEY, behaviour
from assignment_api.streams.configs import NUM_STANDBY_REPLICAS
from assignor_lab.capture.logs.topology_file import described_topology
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
from assignor_lab.capture.recorded.sampled_topics import SampledTopics, subtopology_weights
from assignor_lab.capture.recorded.streams_group_answers import HeldTasks
from assignor_lab.capture.streams_member import StreamsMember
from assignor_lab.capture.topology.reported_subtopologies import ReportedSubTopology, conflicts_with_reported
from assignor_lab.documents.errors import Place
from assignor_lab.kafka.streams_group.member_table import MemberTable
from assignor_lab.scenarios.consumers import hosts_of
from assignor_lab.scenarios.settings import Settings, group_settings, with_given

__all__ = ["CurrentTasks", "Epoch", "EpochMember", "epoch_documents", "recorded_epochs"]

_NOTHING = HeldTasks()
#: Releases of brokers whose assignor receives the previous targets, and of those whose assignor receives the tasks.
_UP_TO, _SINCE = behaviour("brokers_show_targets").until, behaviour("brokers_show_offsets").since
_OLD_TARGETS = "the previous tasks of members are their previous targets, as in brokers before 4.4"
_WHAT_THEY_HAVE = (
    "the previous tasks of members are their present tasks, as in brokers from 4.4; offsets are in no record"
)


@attrs.frozen
class EpochMember:
    """A member at a decision: previous target, current tasks, new target."""

    member: StreamsMember
    was_to_have: HeldTasks
    has: HeldTasks
    target: HeldTasks


@attrs.frozen
class CurrentTasks:
    """Active tasks from a moment on: the current assignment without tasks to revoke; none for a member that is gone."""

    time_ms: int
    member: str
    active: Mapping[str, Sequence[int]]

    def document(self) -> dict[str, Any]:
        active = {name: sorted(numbers) for name, numbers in self.active.items() if numbers}
        return {"time_ms": self.time_ms, "member": self.member, "active": active}


@attrs.frozen
class Epoch:
    """A target assignment.

    Args:
        time_ms: Of the decision, or of its first sign.
        members: In the order in which the broker passed them to its assignor.
        stateful: True with changelogs; empty if unknown.
        config: Of the group for its latest target.
        is_known: The previous target of every member is known.
        further: Keys of a scenario's ``source``.
        subtopologies: As members sent them; empty if unknown.
        current: Changes of the members' active tasks until the next epoch, by time. The first epoch also has earlier
        ones.
    """

    place: Place
    time_ms: int
    number: int
    members: Mapping[str, EpochMember]
    stateful: Mapping[str, bool]
    config: Mapping[str, str] | None = None
    is_known: bool = True
    further: Mapping[str, Any] = attrs.field(factory=dict)
    subtopologies: tuple[ReportedSubTopology, ...] = ()
    current: Sequence[CurrentTasks] = ()

    def later(self, by_ms: int) -> Epoch:
        current = tuple(attrs.evolve(each, time_ms=each.time_ms + by_ms) for each in self.current)
        return attrs.evolve(self, time_ms=self.time_ms + by_ms, current=current)


def recorded_epochs(kept: KeptRecords, on_unreadable: Callable[[str], None]) -> list[Epoch]:
    """Epochs that have a target with tasks, by time.

    A coordinator writes the members' targets first, and then a record that completes the epoch. While topics are
    missing, every target is empty and no assignor runs.
    """
    reading = _Reading(kept.group)
    found: list[Epoch] = []
    current: list[CurrentTasks] = []
    for each in kept.records:
        try:
            epoch = reading.take(each)
        except BrokerAnswerError as error:
            on_unreadable(f"{each.place}: record {each.record.offset} is left out: {error}")
            continue
        if epoch is not None and any(member.target.active for member in epoch.members.values()):
            if found:
                found[-1] = attrs.evolve(found[-1], current=tuple(current))
                current = []
            found.append(epoch)
        current += reading.changed
        reading.changed.clear()
    if found:
        found[-1] = attrs.evolve(found[-1], current=tuple(current))
    return found


@attrs.define
class _Reading:
    group: str
    members: dict[str, StreamsMember] = attrs.field(factory=dict)
    #: The latest record of a member is its present state.
    table: MemberTable = attrs.field(factory=MemberTable)
    targets: dict[str, HeldTasks] = attrs.field(factory=dict)
    before: dict[str, HeldTasks] = attrs.field(factory=dict)
    current: dict[str, HeldTasks] = attrs.field(factory=dict)
    subtopologies: tuple[ReportedSubTopology, ...] = ()
    config: dict[str, str] | None = None
    changed: list[CurrentTasks] = attrs.field(factory=list)

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
            active, before = (_NOTHING if held is None else held).active, self.current.get(member, _NOTHING).active
            if active != before:
                self.changed.append(CurrentTasks(each.record.time_ms, member, active))
            _put(self.current, member, held)
            if held is not None and member in self.members:
                self.table.write_down(member)
        elif key.type == STREAMS_METADATA:
            self.config = None if value is None else read_assignment_config(self.group, value)
        elif key.type == STREAMS_TOPOLOGY and value is not None:
            read = read_topology(self.group, value)
            self.subtopologies = tuple(ReportedSubTopology(sub.id, sub.sources, sub.changelogs) for sub in read)
        elif key.type == TARGET_METADATA and value is not None:
            epoch, decided_ms = read_target_epoch(self.group, value)
            return self._epoch(each, epoch, decided_ms or each.record.time_ms)
        return None

    def _epoch(self, each: KeptRecord, number: int, time_ms: int) -> Epoch:
        in_order = {name: self.members[name] for name in self.table if name in self.members}
        members = {
            name: EpochMember(
                metadata,
                self.before.get(name, _NOTHING),
                self.current.get(name, _NOTHING),
                self.targets.get(name, _NOTHING),
            )
            for name, metadata in {**in_order, **self.members}.items()
        }
        self.before = dict(self.targets)
        stateful = {sub.id: bool(sub.changelogs) for sub in self.subtopologies}
        return Epoch(each.place, time_ms, number, members, stateful, self.config, subtopologies=self.subtopologies)


def _put(held: dict[str, Any], name: str, value: object) -> None:
    if value is None:
        held.pop(name, None)
    else:
        held[name] = value


def epoch_documents(
    group: str,
    epochs: Sequence[Epoch],
    config: Iterable[ConfigLayer] = (),
    topology: Path | None = None,
    topics: SampledTopics | None = None,
    settings: Settings | None = None,
    *,
    is_given_targets: bool = True,
) -> Iterator[dict[str, Any]]:
    """A scenario of kind ``streams-group`` for each epoch.

    Args:
        config: Layers of ``--config`` and ``-c``, the lowest first.
        topology: Checked against the group's own.
        settings: At brokers, below those of each epoch.
        is_given_targets: The assignor receives the old targets, as in brokers before 4.4.
    """
    sizes = _sizes(epochs)
    layers = list(config)
    text = None if topology is None else described_topology(topology)
    standbys, standby_notes = _standbys(epochs, layers)
    is_given = any(NUM_STANDBY_REPLICAS in layer.entries for layer in layers)
    with_copies = {name for epoch in epochs for each in epoch.members.values() for name in _copied(each.target)}
    for epoch in epochs:
        own = (epoch.config or {}).get(NUM_STANDBY_REPLICAS, "")
        is_own = not is_given and own.isdecimal()
        assumptions = [] if is_own else [*standby_notes]
        if not epoch.stateful:
            assumptions.append(
                "the topology is unknown: a sub-topology counts as stateful if a member has copies of it"
            )
        if text is not None and epoch.subtopologies:
            assumptions += conflicts_with_reported(text, group, epoch.subtopologies)
        assumptions.append(_OLD_TARGETS if is_given_targets else _WHAT_THEY_HAVE)
        timeouts = [each.member.rebalance_timeout_ms for each in epoch.members.values()]
        known = [timeout for timeout in timeouts if timeout is not None and timeout > 0]
        found = {
            RELEASE_KEY: _UP_TO if is_given_targets else _SINCE,
            **({"rebalance.timeout.ms": Counter(known).most_common(1)[0][0]} if known else {}),
            **(settings or {}),
            **group_settings(epoch.config or {}),
        }
        observed = {"members": {name: _held(each.target) for name, each in epoch.members.items()}}
        document: dict[str, Any] = {
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
            **({"observed": observed} if epoch.is_known else {}),
            "source": {
                "file": epoch.place.file, "line": epoch.place.line or 0, "time_ms": epoch.time_ms, "group": group,
                "generation": epoch.number,
                "client_ids": {name: each.member.client_id for name, each in epoch.members.items()}, **epoch.further,
                **hosts_of({name: each.member.host for name, each in epoch.members.items()}),
                **({"current": [each.document() for each in epoch.current]} if epoch.current else {}),
            },
            "assumptions": assumptions,
        }  # fmt: skip
        if topics is not None and (weights := _weights(epoch, sizes, topics)):
            document["workload"] = {"tasks": weights}
        yield with_given(document, found, layers)


def _weights(epoch: Epoch, sizes: Mapping[str, int], topics: SampledTopics) -> dict[str, dict[str, Any]]:
    changelogs = [
        (topic, n) for sub in epoch.subtopologies for topic in sub.changelogs for n in range(sizes.get(sub.id, 0))
    ]
    sources = [(topic, n) for sub in epoch.subtopologies for topic in sub.sources for n in range(sizes.get(sub.id, 0))]
    ends, held = topics.ends(epoch.time_ms)(changelogs), topics.sizes(changelogs)
    return subtopology_weights(epoch.subtopologies, sizes, ends, held, topics.rates(sources))


def _sizes(epochs: Iterable[Epoch]) -> dict[str, int]:
    """Every task always has a target."""
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
        "client_id": each.member.client_id,
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
