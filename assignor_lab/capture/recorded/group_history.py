"""The history of a group from its coordinator's records.

The topic is compacted: the latest record of each key survives, and older ones in the active segment. A generation that
was interrupted before the leader's response is never written. Missing numbers show as a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignment_api.connect import Jobs
from assignor_lab.capture.recorded.broker_answers import DescribedGroup
from assignor_lab.capture.recorded.connect.answers import connect_rounds
from assignor_lab.capture.recorded.connect.described import DescribedRound
from assignor_lab.capture.recorded.consumer_members import ConsumerAnswer
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_documents import sorted_tasks
from assignor_lab.capture.recorded.group_records import (
    CONSUMER_MEMBER,
    CONSUMER_METADATA,
    CONSUMER_REGEX,
    CONSUMER_TARGET,
    CONSUMER_TARGET_METADATA,
    CURRENT_ASSIGNMENT,
    GROUP_METADATA,
    SHARE_MEMBER,
    SHARE_METADATA,
    SHARE_TARGET,
    SHARE_TARGET_METADATA,
    STREAMS_MEMBER,
    STREAMS_METADATA,
    STREAMS_TOPOLOGY,
    SUBSCRIBED_RECORD_TYPES,
    TARGET_MEMBER,
    TARGET_METADATA,
    ClassicGeneration,
    read_classic_generation,
    read_epoch,
    read_group_key,
    read_streams_member,
    read_target,
    read_target_epoch,
    read_topology,
)
from assignor_lab.capture.recorded.partition_states import CONSUMER, SHARE
from assignor_lab.capture.recorded.streams_group_answers import HeldTasks
from assignor_lab.capture.recorded.subscribed_group_records import (
    HeldPartitions,
    read_expression,
    read_group_epoch,
    read_held,
    read_subscriber,
    read_target_time,
)
from assignor_lab.capture.streams_member import StreamsMember
from assignor_lab.kafka.streams_group import PROTOCOL

__all__ = ["RecordedHistory", "GroupRecord"]


#: A record within this time after a deletion may have been decided before it.
_DELETED_MS = 1_000
#: Epoch 1 of a streams group is not written; its first member raises it to 2.
_FIRST_GENERATION, _FIRST_EPOCH = 1, 2
_WITH_EPOCHS = (PROTOCOL, CONSUMER, SHARE)


@attrs.frozen
class GroupRecord:
    """A record of the coordinators' topic; ``None`` deletes the key."""

    offset: int
    time_ms: int
    key: bytes
    value: bytes | None


@attrs.define
class RecordedHistory:
    """One group, built from records in the order of their offsets."""

    group: str
    #: Generations and epochs, in order.
    generations: list[dict[str, Any]] = attrs.field(factory=list)
    unreadable: list[tuple[int, str]] = attrs.field(factory=list)
    topics: set[str] = attrs.field(factory=set)
    _members: dict[str, StreamsMember] = attrs.field(factory=dict)
    _targets: dict[str, HeldTasks] = attrs.field(factory=dict)
    #: Member to its client id, and to its target, in consumer groups and share groups.
    _subscribers: dict[str, str] = attrs.field(factory=dict)
    _partitions: dict[str, HeldPartitions] = attrs.field(factory=dict)
    _current: dict[str, HeldTasks] = attrs.field(factory=dict)
    #: Some observed epochs have no decision.
    _epochs: set[int] = attrs.field(factory=set)

    @property
    def is_streams(self) -> bool:
        """Of the latest generation or epoch."""
        return any(_is_streams(each) for each in self.generations[-1:])

    def take(self, record: GroupRecord) -> bool:
        """Returns True after a new or changed generation or epoch. Ignores other groups."""
        try:
            key = read_group_key(record.key)
            if key is None or key.group != self.group:
                return False
            if key.type == GROUP_METADATA:
                return self._classic(record)
            if key.type in SUBSCRIBED_RECORD_TYPES:
                return self._subscribed(record, key.type, key.member or "")
            return self._streams(record, key.type, key.member or "")
        except BrokerAnswerError as error:
            self.unreadable.append((record.offset, str(error)))
            return False

    # --- classic protocol ---------------------------------------------------------------------------------

    def _classic(self, record: GroupRecord) -> bool:
        if record.value is None:
            return self._append({"generation": None, "t": record.time_ms, "deleted": True, "members": {}})
        read = read_classic_generation(self.group, record.value)
        document = {
            "generation": read.generation,
            "t": read.time_ms if read.time_ms is not None else record.time_ms,
            "protocol": read.protocol,
            "leader": read.leader,
            "members": self._classic_members(read),
        }
        # A coordinator rewrites a generation when a static member returns or offsets expire.
        last = self.generations[-1] if self.generations else None
        if last is not None and last["generation"] == read.generation and not _is_streams(last):
            del self.generations[-1]
        return self._append(document)

    def _classic_members(self, read: ClassicGeneration) -> dict[str, dict[str, Any]]:
        members: dict[str, dict[str, Any]] = {
            name: {"client_id": client, "had": None, "got": None} for name, client in read.members.items()
        }
        if read.is_connect:
            for each in connect_rounds([read.message]):
                _fill_connect(members, each)
        elif (consumers := read.consumers()) is not None:
            _fill_consumers(members, consumers)
            for consumer in consumers.members:
                self.topics.update(consumer.subscription.topics)
        elif (answer := read.streams()) is not None:
            _fill_streams(members, answer)
            for member in answer.members:
                self.topics.update(() if member.subscription is None else member.subscription.topics)
        return members

    # --- streams protocol ---------------------------------------------------------------------------------

    def _streams(self, record: GroupRecord, kind: int, member: str) -> bool:
        value = record.value
        if kind == STREAMS_METADATA:
            if value is None:
                # A new group counts from the start.
                self._epochs.clear()
            else:
                return self._epoch(record, read_epoch(self.group, value))
        elif kind == STREAMS_MEMBER:
            _put(self._members, member, None if value is None else read_streams_member(self.group, value))
        elif kind == TARGET_MEMBER:
            _put(self._targets, member, None if value is None else read_target(self.group, value))
        elif kind == CURRENT_ASSIGNMENT:
            held = None if value is None else read_target(self.group, value, current=True)
            _put(self._current, member, held)
        elif kind == STREAMS_TOPOLOGY:
            for each in () if value is None else read_topology(self.group, value):
                self.topics.update((*each.sources, *each.changelogs))
        elif kind == TARGET_METADATA:
            return self._target(record)
        return False

    def _epoch(self, record: GroupRecord, epoch: int) -> bool:
        """A group without members has no target: its epoch alone shows the outage."""
        self._epochs.add(epoch)
        before = self.generations[-1] if self.generations else None
        if self._members or before is None or not before["members"] or not _is_streams(before):
            return False
        return self._append({"generation": epoch, "t": record.time_ms, "protocol": PROTOCOL, "members": {}})

    def _target(self, record: GroupRecord) -> bool:
        if record.value is None:
            return self._append({"generation": None, "t": record.time_ms, "deleted": True, "members": {}})
        epoch, decided_ms = read_target_epoch(self.group, record.value)
        members = {}
        for name in dict.fromkeys((*self._members, *self._targets)):
            member = self._members.get(name)
            members[name] = {
                "client_id": None if member is None else member.client_id,
                "process_id": None if member is None else member.process_id,
                "had": _held(self._current.get(name)),
                "got": _held(self._targets.get(name)),
            }
        return self._append({
            "generation": epoch, "t": decided_ms or record.time_ms, "protocol": PROTOCOL, "members": members,
        })  # fmt: skip

    # --- consumer and share groups ------------------------------------------------------------------------

    def _subscribed(self, record: GroupRecord, kind: int, member: str) -> bool:
        value = record.value
        if kind in (CONSUMER_MEMBER, SHARE_MEMBER):
            made = None if value is None else read_subscriber(kind, self.group, value)
            self.topics.update(() if made is None else made.topics)
            _put(self._subscribers, member, None if made is None else made.client_id)
        elif kind == CONSUMER_REGEX:
            self.topics.update(() if value is None else read_expression(self.group, value))
        elif kind in (CONSUMER_TARGET, SHARE_TARGET):
            _put(self._partitions, member, None if value is None else read_held(kind, self.group, value))
        elif kind in (CONSUMER_METADATA, SHARE_METADATA) and value is not None:
            self._epochs.add(read_group_epoch(kind, self.group, value))
        elif kind in (CONSUMER_METADATA, SHARE_METADATA):
            self._epochs.clear()
        elif kind in (CONSUMER_TARGET_METADATA, SHARE_TARGET_METADATA) and value is not None:
            epoch, decided_ms = read_target_time(kind, self.group, value)
            members = {
                name: {"client_id": client, "had": None, "got": self._partitions.get(name)}
                for name, client in self._subscribers.items()
            }
            protocol = SHARE if kind == SHARE_TARGET_METADATA else CONSUMER
            return self._append(
                {"generation": epoch, "t": decided_ms or record.time_ms, "protocol": protocol, "members": members}
            )
        return False

    # --- both ---------------------------------------------------------------------------------------------

    def _append(self, document: dict[str, Any]) -> bool:
        before = self.generations[-1] if self.generations else None
        earlier = set() if before is None else set(before["members"])
        now = set(document["members"])
        document["joined"], document["left"] = sorted(now - earlier), sorted(earlier - now)
        number, last = document["generation"], None if before is None else before["generation"]
        begins = _FIRST_EPOCH if document.get("protocol") in _WITH_EPOCHS else _FIRST_GENERATION
        first = begins if last is None else last + 1
        if number is not None and first is not None and number > first and not self._all_seen(first, number):
            document["hole"] = [first, number - 1]
        back_ms = 0 if before is None else before["t"] - document["t"]
        # Time of a decision: its computation; of a deletion: its write.
        if back_ms > 0 and (back_ms >= _DELETED_MS or not (before or {}).get("deleted")):
            # Records are in write order, even if the clock ran backwards.
            document["clock_back_ms"] = back_ms
        lived = next((each for each in reversed(self.generations) if "protocol" in each), None)
        if lived is not None and "protocol" in document and _is_streams(lived) != _is_streams(document):
            document["was_before"] = "streams" if _is_streams(lived) else "classic"
        self.generations.append(document)
        return True

    def _all_seen(self, first: int, end: int) -> bool:
        """All known without a decision: then none is missing."""
        return sum(first <= epoch < end for epoch in self._epochs) == end - first


def _is_streams(document: Mapping[str, Any]) -> bool:
    return bool(document.get("protocol") == PROTOCOL)


def _put(held: dict[str, Any], member: str, value: object) -> None:
    if value is None:
        held.pop(member, None)
    else:
        held[member] = value


def _fill_streams(members: Mapping[str, dict[str, Any]], answer: DescribedGroup) -> None:
    for member in answer.members:
        document = members[member.member_id]
        if member.subscription is not None:
            info = member.subscription.info
            document["process_id"] = str(info.process_id)
            document["rack"] = member.subscription.rack
            document["had"] = {
                "partitions": [f"{topic}-{number}" for topic, number in member.subscription.owned_partitions],
                "offset_sums": {
                    str(task): info.task_offset_sums[task]
                    for task in sorted(info.task_offset_sums, key=lambda task: task.sort_key())
                },
            }
        if member.assignment is not None:
            given = member.assignment.info
            document["got"] = {
                "active": sorted_tasks(given.active_tasks),
                "standby": sorted_tasks(given.standby_tasks),
                "next_rebalance_ms": given.next_rebalance_ms,
            }


def _fill_consumers(members: Mapping[str, dict[str, Any]], answer: ConsumerAnswer) -> None:
    for member in answer.members:
        given = member.assignment
        members[member.member_id]["had"] = _by_topic(member.subscription.owned)
        members[member.member_id]["got"] = None if given is None else _by_topic(given.partitions)


def _fill_connect(members: Mapping[str, dict[str, Any]], each: DescribedRound) -> None:
    for member in each.members:
        document = members[member.member_id]
        document["had"] = _jobs(member.subscription.owned)
        document["got"] = {"assigned": _jobs(member.assignment.assigned), "revoked": _jobs(member.assignment.revoked)}


def _by_topic(partitions: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, number in partitions:
        found.setdefault(topic, []).append(number)
    return found


def _jobs(jobs: Jobs) -> dict[str, list[str]]:
    return {"connectors": list(jobs.connectors), "tasks": [str(task) for task in jobs.tasks]}


def _held(held: HeldTasks | None) -> dict[str, dict[str, list[int]]] | None:
    if held is None:
        return None
    kinds = {"active": held.active, "standby": held.standby, "warmup": held.warmup}
    return {kind: {name: list(numbers) for name, numbers in tasks.items()} for kind, tasks in kinds.items()}
