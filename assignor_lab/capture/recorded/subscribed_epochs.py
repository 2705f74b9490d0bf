"""Decisions of consumer groups (KIP-848) and share groups (KIP-932), from their coordinator's records.

A coordinator writes the changed targets of members, and then a record that completes the epoch. Its assignor received
the members in the order of the group's own table, then a member that joins in the same request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_records import (
    CONSUMER_CURRENT,
    CONSUMER_MEMBER,
    CONSUMER_METADATA,
    CONSUMER_REGEX,
    CONSUMER_TARGET,
    CONSUMER_TARGET_METADATA,
    CONSUMER_TOPICS,
    GROUP_METADATA,
    SHARE_CURRENT,
    SHARE_MEMBER,
    SHARE_METADATA,
    SHARE_TARGET,
    SHARE_TARGET_METADATA,
    SHARE_TOPICS,
    read_group_key,
)
from assignor_lab.capture.recorded.kept_records import KeptRecord, KeptRecords
from assignor_lab.capture.recorded.subscribed_group_records import (
    HeldPartitions,
    RecordedTopic,
    SubscriberRecord,
    read_expression,
    read_group_epoch,
    read_held,
    read_initialized,
    read_subscriber,
    read_target_time,
    read_topics,
)
from assignor_lab.documents.errors import Place
from assignor_lab.kafka.streams_group.member_table import MemberTable

__all__ = ["SubscribedEpoch", "SubscribedEpochMember", "subscribed_epochs"]

_MEMBERS, _EPOCHS = (CONSUMER_MEMBER, SHARE_MEMBER), (CONSUMER_METADATA, SHARE_METADATA)
_TARGETS, _CURRENTS = (CONSUMER_TARGET, SHARE_TARGET), (CONSUMER_CURRENT, SHARE_CURRENT)
_TARGET_ENDS, _TOPICS = (CONSUMER_TARGET_METADATA, SHARE_TARGET_METADATA), (CONSUMER_TOPICS, SHARE_TOPICS)
_OF_SHARES = (SHARE_MEMBER, SHARE_METADATA, SHARE_TARGET, SHARE_CURRENT, SHARE_TARGET_METADATA, SHARE_TOPICS)
#: The first member of a group raises its epoch from 0 or 1.
_FIRST_EPOCH = 2


@attrs.frozen
class SubscribedEpochMember:
    """A member at a decision, with its previous target and its new one."""

    record: SubscriberRecord
    before: HeldPartitions
    target: HeldPartitions


@attrs.frozen
class SubscribedEpoch:
    """A target assignment.

    Args:
        time_ms: Of the decision.
        members: In the order in which the broker passed them to its assignor.
        expressions: Regular expression to its topics.
        topics: Topics in the group's records; empty if the brokers do not write them.
        initialized: Of a share group; ``None``: all partitions.
        is_known: False if the previous targets are in no record.
    """

    place: Place
    time_ms: int
    number: int
    members: Mapping[str, SubscribedEpochMember]
    expressions: Mapping[str, tuple[str, ...]]
    topics: tuple[RecordedTopic, ...] = ()
    initialized: HeldPartitions | None = None
    is_share: bool = False
    is_known: bool = True

    def later(self, by_ms: int) -> SubscribedEpoch:
        return attrs.evolve(self, time_ms=self.time_ms + by_ms)


def subscribed_epochs(kept: KeptRecords, on_unreadable: Callable[[str], None]) -> list[SubscribedEpoch]:
    """Epochs with members and a target, by time."""
    reading = _Reading(kept.group)
    found: list[SubscribedEpoch] = []
    for each in kept.records:
        try:
            epoch = reading.take(each)
        except BrokerAnswerError as error:
            on_unreadable(f"{each.place}: record {each.record.offset} is left out: {error}")
            continue
        if epoch is not None and any(member.target for member in epoch.members.values()):
            found.append(epoch)
    return found


@attrs.define
class _Reading:
    group: str
    members: dict[str, SubscriberRecord] = attrs.field(factory=dict)
    table: MemberTable = attrs.field(factory=MemberTable)
    targets: dict[str, HeldPartitions] = attrs.field(factory=dict)
    #: Targets that no record has completed yet, and the time of their request.
    pending: dict[str, HeldPartitions] = attrs.field(factory=dict)
    pending_ms: int = 0
    expressions: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    topics: tuple[RecordedTopic, ...] = ()
    initialized: HeldPartitions | None = None
    epochs: set[int] = attrs.field(factory=set)
    #: Static members that are gone since this request began: instance to the target.
    gone: dict[str, HeldPartitions] = attrs.field(factory=dict)
    gone_ms: int = 0
    #: Time of a classic group's deletion: its members move to this protocol in the same request.
    moved_ms: int | None = None
    has_decided: bool = False

    def take(self, each: KeptRecord) -> SubscribedEpoch | None:
        key, value, at_ms = read_group_key(each.record.key), each.record.value, each.record.time_ms
        if key is None or key.group != self.group:
            return None
        member = key.member or ""
        if at_ms != self.gone_ms:
            self.gone, self.gone_ms = {}, at_ms
        if key.type == GROUP_METADATA:
            self.moved_ms = at_ms if value is None else None
        elif key.type in _MEMBERS:
            self._member(key.type, member, value)
        elif key.type in _TARGETS:
            self._target(key.type, member, value, at_ms)
        elif key.type in _CURRENTS:
            if value is not None and member in self.members:
                self.table.write_down(member)
        elif key.type == CONSUMER_REGEX:
            if value is None:
                self.expressions.pop(member, None)
            else:
                self.expressions[member] = read_expression(self.group, value)
        elif key.type in _TOPICS:
            self._topics(key.type, value)
        elif key.type in _EPOCHS and value is not None:
            self.epochs.add(read_group_epoch(key.type, self.group, value))
        elif key.type in _EPOCHS:
            self._forget()
        elif key.type in _TARGET_ENDS and value is not None:
            return self._epoch(key.type, each, value)
        return None

    def _member(self, kind: int, member: str, value: bytes | None) -> None:
        if value is None:
            gone = self.members.pop(member, None)
            self.table.remove(member)
            held = self.targets.pop(member, None)
            if gone is not None and gone.instance_id is not None:
                self.gone[gone.instance_id] = self.gone.get(gone.instance_id, held or {})
            return
        self.members[member] = read_subscriber(kind, self.group, value)
        if member in self.table:
            self.table.write_down(member)

    def _target(self, kind: int, member: str, value: bytes | None, at_ms: int) -> None:
        if self.pending and at_ms != self.pending_ms:
            self.targets |= self.pending
            self.pending = {}
        self.pending_ms = at_ms
        if value is None:
            held = self.targets.pop(member, None)
            self.pending.pop(member, None)
            known = self.members.get(member)
            if known is not None and known.instance_id is not None:
                self.gone[known.instance_id] = held or {}
            return
        target = read_held(kind, self.group, value)
        known = self.members.get(member)
        instance = None if known is None else known.instance_id
        if instance is not None and member not in self.targets and self.gone.get(instance) == target:
            # A static member that returns under another id inherits the target of its predecessor.
            self.targets[member] = target
            return
        self.pending[member] = target

    def _topics(self, kind: int, value: bytes | None) -> None:
        self.topics = () if value is None else read_topics(kind, self.group, value)
        if kind == SHARE_TOPICS:
            self.initialized = None if value is None else read_initialized(self.group, value)

    def _forget(self) -> None:
        """The group is deleted, or its members move to the classic protocol."""
        self.epochs, self.targets, self.pending, self.members = set(), {}, {}, {}
        self.table, self.expressions = MemberTable(), {}

    def _epoch(self, kind: int, each: KeptRecord, value: bytes) -> SubscribedEpoch | None:
        number, decided_ms = read_target_time(kind, self.group, value)
        before, self.targets = self.targets, {**self.targets, **self.pending}
        self.pending = {}
        is_moving = self.moved_ms == each.record.time_ms and self.moved_ms is not None
        self.moved_ms = None
        if is_moving:
            # The targets are the classic members' partitions: no assignor decided them.
            self.has_decided = True
            return None
        is_known = self.has_decided or all(epoch in self.epochs for epoch in range(_FIRST_EPOCH, number + 1))
        if not self.members:
            return None
        self.has_decided = True
        in_order = {name: self.members[name] for name in self.table if name in self.members}
        is_share = kind in _OF_SHARES
        return SubscribedEpoch(
            each.place,
            decided_ms or each.record.time_ms,
            number,
            {
                name: SubscribedEpochMember(record, before.get(name, {}), self.targets.get(name, {}))
                for name, record in {**in_order, **self.members}.items()
            },
            dict(self.expressions),
            self.topics,
            (self.initialized or {}) if is_share else None,
            is_share,
            is_known,
        )
