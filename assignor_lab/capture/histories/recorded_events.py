"""Events in the records of a group: outages, deletions, departures, moves between protocols, changed settings.

Instances have their client ids; :mod:`~assignor_lab.capture.histories.group_histories` gives them their names.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignor_lab.capture.edges.moments import CLASSIC, STREAMS
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_records import (
    CONSUMER_MEMBER,
    CONSUMER_METADATA,
    CONSUMER_TARGET_METADATA,
    GROUP_METADATA,
    SHARE_MEMBER,
    SHARE_METADATA,
    SHARE_TARGET_METADATA,
    STREAMS_MEMBER,
    STREAMS_METADATA,
    STREAMS_TOPOLOGY,
    TARGET_METADATA,
    StreamsSubtopology,
    read_assignment_config,
    read_classic_generation,
    read_epoch,
    read_group_key,
    read_streams_member,
    read_target_epoch,
    read_topology,
)
from assignor_lab.capture.recorded.kept_records import KeptRecord, KeptRecords
from assignor_lab.capture.recorded.partition_states import CONSUMER, SHARE
from assignor_lab.capture.recorded.subscribed_group_records import read_group_epoch, read_subscriber, read_target_time
from assignor_lab.capture.streams_member import StreamsMember
from assignor_lab.model.events import (
    GroupDeleted,
    GroupEmptied,
    GroupEvent,
    GroupRefilled,
    InstanceGone,
    InstanceRestartedInSession,
    ProtocolChanged,
    SettingChanged,
    TopologyChanged,
)
from assignor_lab.model.evidence import Evidence, InferenceRule
from assignor_lab.model.moment import Moment
from assignor_lab.scenarios.consumers import client_of

__all__ = ["recorded_events"]

#: Records of one request have one time; a group that moves to the other protocol is deleted and written again at once.
_AT_ONCE_MS = 1_000
#: A generation's own time, and that of the records of its request.
_ONE_REQUEST_MS = 100
_PROTOCOLS_OF_MEMBERS = {STREAMS_MEMBER: STREAMS, CONSUMER_MEMBER: CONSUMER, SHARE_MEMBER: SHARE}
#: A generation's own time precedes its record by the duration of its completion.
_CLOCK_MS = 60_000


def recorded_events(kept: KeptRecords) -> list[GroupEvent]:
    """By time. Unreadable records are left out: the reader of decisions reports them."""
    reading = _Reading(kept.group)
    for each in kept.records:
        reading.take(each)
    return sorted(reading.found(), key=lambda event: event.at.latest_ms)


@attrs.define
class _Reading:
    """The state of the group after each record."""

    group: str
    events: list[GroupEvent] = attrs.field(factory=list)
    protocol: str | None = None
    number: int | None = None
    #: Number of members of a classic group.
    classic: int = 0
    members: dict[str, StreamsMember] = attrs.field(factory=dict)
    empty_since_ms: int | None = None
    config: Mapping[str, str] | None = None
    topology: tuple[StreamsSubtopology, ...] = ()
    #: A deletion that may belong to a move between protocols.
    deleted: GroupDeleted | None = None
    #: Processes without members since the latest request, by process id.
    departing: dict[str, tuple[StreamsMember, KeptRecord]] = attrs.field(factory=dict)
    #: Time of the records of one request, and the number of events before it.
    request_ms: int | None = None
    requested: int = 0
    latest_ms: int = 0
    ahead_ms: int = 0

    def take(self, each: KeptRecord) -> None:
        try:
            key = read_group_key(each.record.key)
            if key is None or key.group != self.group:
                return
            self._depart(each.record.time_ms)
            if each.record.time_ms != self.request_ms:
                self.requested, self.request_ms = len(self.events), each.record.time_ms
            if key.type == GROUP_METADATA:
                self._classic(each)
            elif key.type in _PROTOCOLS_OF_MEMBERS:
                self._member(each, key.type, key.member or "")
            elif key.type == STREAMS_METADATA:
                self._metadata(each)
            elif key.type in (CONSUMER_METADATA, SHARE_METADATA):
                self._subscribed(each, key.type)
            elif key.type == STREAMS_TOPOLOGY:
                self._topology(each)
            elif key.type in (TARGET_METADATA, CONSUMER_TARGET_METADATA, SHARE_TARGET_METADATA):
                self._target(each, key.type)
        except BrokerAnswerError:
            return

    def found(self) -> list[GroupEvent]:
        self._depart(None)
        if self.deleted is not None:
            self.events.append(self.deleted)
        return self.events

    # --- classic protocol -------------------------------------------------------------------------------

    def _classic(self, each: KeptRecord) -> None:
        value = each.record.value
        if value is None:
            self._deleted(each, CLASSIC)
            return
        read = read_classic_generation(self.group, value)
        if not (read.members or self.protocol == CLASSIC):
            return  # a new group is written before its first member joins
        if read.members and not (read.is_connect or read.is_of_consumers or read.streams() is not None):
            return
        at = self._at(each, read.time_ms)
        if read.members:
            self._is_under(CLASSIC, at, each)
        had, self.classic, self.number = self.classic, len(read.members), read.generation
        if had and not read.members:
            self._emptied(at, each)
        elif read.members:
            self._refilled(at, each)

    # --- streams protocol -------------------------------------------------------------------------------

    def _member(self, each: KeptRecord, kind: int, member: str) -> None:
        at = self._at(each)
        if each.record.value is not None:
            self._is_under(_PROTOCOLS_OF_MEMBERS[kind], at, each)
            was_empty = not self.members
            made = self.members[member] = self._read_member(kind, member, each.record.value)
            self._replaced(made, at, each)
            if was_empty:
                self._refilled(at, each)
            return
        gone = self.members.pop(member, None)
        if gone is None:
            return
        if not any(other.process_id == gone.process_id for other in self.members.values()):
            self.departing[gone.process_id] = gone, each
        if not self.members:
            self._emptied(at, each)

    def _read_member(self, kind: int, member: str, value: bytes) -> StreamsMember:
        """A consumer is a process of its own."""
        if kind == STREAMS_MEMBER:
            return read_streams_member(self.group, value)
        made = read_subscriber(kind, self.group, value)
        return StreamsMember(made.client_id, member, made.instance_id, made.rack, {}, made.rebalance_timeout_ms)

    def _replaced(self, made: StreamsMember, at: Moment, each: KeptRecord) -> None:
        """A static member is deleted and written again in one request."""
        for process, (gone, _) in list(self.departing.items()):
            is_static = made.instance_id is not None and made.instance_id == gone.instance_id
            if process == made.process_id or is_static:
                del self.departing[process]
            if is_static and process != made.process_id:
                rewritten = Evidence.inferred(InferenceRule.REWRITTEN, each.place)
                self.events.append(InstanceRestartedInSession(at, rewritten, client_of(made.client_id), self.number))

    def _depart(self, now_ms: int | None) -> None:
        """Reports the departures of earlier requests."""
        for process, (gone, each) in list(self.departing.items()):
            if now_ms is None or each.record.time_ms != now_ms:
                del self.departing[process]
                self.events.append(InstanceGone(self._at(each), Evidence.record(each.place), client_of(gone.client_id)))

    def _metadata(self, each: KeptRecord) -> None:
        if each.record.value is None:
            self._deleted(each, STREAMS)
            return
        self._number(read_epoch(self.group, each.record.value))
        config = read_assignment_config(self.group, each.record.value)
        if config is None:
            return
        before, self.config = self.config, config
        for key in sorted({*config, *(before or {})}) if before is not None else ():
            if before is not None and before.get(key) != config.get(key):
                other = Evidence.inferred(InferenceRule.OTHER_SETTINGS, each.place)
                self.events.append(SettingChanged(self._at(each), other, key, before.get(key), config.get(key)))

    def _number(self, number: int) -> None:
        self.number = number
        last = self.events[-1] if self.events else None
        if isinstance(last, GroupEmptied) and not self.members and len(self.events) > self.requested:
            # The epoch follows the deletion of the last member in one request.
            self.events[-1] = attrs.evolve(last, number=self.number)

    def _subscribed(self, each: KeptRecord, kind: int) -> None:
        """Epochs of consumer groups and share groups."""
        if each.record.value is None:
            self._deleted(each, SHARE if kind == SHARE_METADATA else CONSUMER)
        else:
            self._number(read_group_epoch(kind, self.group, each.record.value))

    def _target(self, each: KeptRecord, kind: int) -> None:
        """A decision precedes its record, and so do the events of its request."""
        value, decided_ms = each.record.value, None
        if value is not None and kind == TARGET_METADATA:
            decided_ms = read_target_epoch(self.group, value)[1]
        elif value is not None:
            decided_ms = read_target_time(kind, self.group, value)[1]
        if decided_ms is None or decided_ms >= each.record.time_ms:
            return
        early = Moment.at(decided_ms + self.ahead_ms)
        for place in range(self.requested, len(self.events)):
            event = self.events[place]
            if event.at.latest_ms == each.record.time_ms + self.ahead_ms:
                self.events[place] = attrs.evolve(event, at=early)

    def _topology(self, each: KeptRecord) -> None:
        if each.record.value is None:
            return
        before, self.topology = self.topology, tuple(read_topology(self.group, each.record.value))
        if before and before != self.topology:
            self.events.append(TopologyChanged(self._at(each), Evidence.record(each.place)))

    # --- both -------------------------------------------------------------------------------------------

    def _is_under(self, protocol: str, at: Moment, each: KeptRecord) -> None:
        deleted, self.deleted = self.deleted, None
        before, self.protocol = self.protocol, protocol
        is_moved = before is not None and before != protocol
        if is_moved and before is not None:
            other = Evidence.inferred(InferenceRule.OTHER_PROTOCOL, each.place)
            self.events.append(ProtocolChanged(at, other, before, protocol))
            # The members move, and none of them departs.
            self.classic, self.members, self.departing = 0, {}, {}
            if self.empty_since_ms is not None and at.latest_ms - self.empty_since_ms <= _ONE_REQUEST_MS:
                self.empty_since_ms = None
                emptied = [event for event in self.events[self.requested :] if isinstance(event, GroupEmptied)]
                self.events = [event for event in self.events if event not in emptied]
        if deleted is not None and not (is_moved and at.latest_ms - deleted.at.latest_ms <= _AT_ONCE_MS):
            self.events.append(deleted)

    def _deleted(self, each: KeptRecord, protocol: str) -> None:
        if self.protocol != protocol or self.deleted is not None:
            return
        at = self._at(each)
        if self.empty_since_ms is None:
            self.empty_since_ms = at.latest_ms
        self.classic, self.members, self.config, self.topology = 0, {}, None, ()
        self.deleted = GroupDeleted(at, Evidence.record(each.place))

    def _emptied(self, at: Moment, each: KeptRecord) -> None:
        self.empty_since_ms = at.latest_ms
        self.events.append(GroupEmptied(at, Evidence.inferred(InferenceRule.EMPTY, each.place), self.number))

    def _refilled(self, at: Moment, each: KeptRecord) -> None:
        since, self.empty_since_ms = self.empty_since_ms, None
        if since is None:
            return
        emptied = [each for each in self.events[self.requested :] if isinstance(each, GroupEmptied)]
        if emptied:
            # The only member, a static one, was replaced in one request.
            self.events.remove(emptied[-1])
            return
        refilled = Evidence.inferred(InferenceRule.REFILLED, each.place)
        self.events.append(GroupRefilled(at, refilled, max(0, at.latest_ms - since)))

    def _at(self, each: KeptRecord, time_ms: int | None = None) -> Moment:
        """After a clock ran backwards, times count on from the latest one."""
        own = (each.record.time_ms if time_ms is None else time_ms) + self.ahead_ms
        if own < self.latest_ms - _CLOCK_MS:
            self.ahead_ms += self.latest_ms - own
            own = self.latest_ms
        self.latest_ms = max(self.latest_ms, own)
        return Moment.at(own)
