"""Logged facts around decisions: reasons, starts and stops of instances, racks of consumers.

They can be in any file, before or after the decision: they are collected while all logs are read, and added at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from operator import itemgetter
from typing import Any

import attrs

from assignor_lab.capture.errors import TopologyTextError
from assignor_lab.capture.logs.cause_lines import CauseLines, GroupCause
from assignor_lab.capture.logs.coordinated_epochs import CoordinatedEpochs
from assignor_lab.capture.logs.logged_topics import LoggedTopics, restored_changelogs
from assignor_lab.capture.logs.member_waits import MemberWaits
from assignor_lab.capture.logs.messages import CAUSES, OF_EPOCHS, MessageKind
from assignor_lab.capture.logs.records import LogMessage
from assignor_lab.capture.logs.restorations import Restorations
from assignor_lab.capture.logs.timestamps import LogTime
from assignor_lab.capture.topology.description import TopologyDescription, parse_topology

__all__ = ["SURROUNDING", "Coordinated", "InstanceEvent", "LoggedSurroundings"]

SURROUNDING = frozenset(
    {
        MessageKind.PREPARING,
        MessageKind.STABILIZED,
        MessageKind.RECEIVED,
        MessageKind.CLIENT,
        MessageKind.CONSUMER_CONFIG,
        MessageKind.JOINING,
        MessageKind.REVOKED,
        MessageKind.NOTIFIED,
        MessageKind.STATIC_MEMBER,
        MessageKind.CORRUPTED,
        MessageKind.TOPOLOGY,
        MessageKind.END_OFFSET,
        MessageKind.RESTORED,
        MessageKind.RESTORED_TASK,
        MessageKind.CONNECT_WORKER,
        *OF_EPOCHS,
        *CAUSES,
    }
)

_PREPARING = re.compile(
    r"\APreparing to rebalance group (?>(.+?) in state \w+ with old generation (\d{1,10})(?: \([^()]*\))? \(reason: )"
    r"(.*?)\)\.?(?: \([\w.$]+\))?\s*\Z"
)
_STABILIZED = re.compile(r"\AStabilized group (.+?) generation (\d{1,10}) (?:\([^()]*\) )?with (\d{1,10}) members")
_RECEIVED = re.compile(r"\AAssignment received from leader (?>(.+?) for group )(.+?) for generation (\d{1,10})(?!\d)")
_CLIENT = re.compile(
    r"\Astream-client \[(.*?)\] (?:State transition from (\w+) to (\w+)|Kafka Streams version: ([\w.-]{0,50}))"
)
_STREAMS_PROTOCOL = "] Streams rebalance protocol enabled"
_SETTINGS = ("heartbeat.interval.ms", "max.poll.interval.ms", "session.timeout.ms")
_ENTRY = re.compile(
    r"(?<![\w.])("
    + "|".join(map(re.escape, ("client.id", "client.rack", "group.id", "group.instance.id", *_SETTINGS)))
    + r") = ([^\r\n\\]*)"
)
_BEGUN, _STOPPING, _ENDED = ("CREATED", "REBALANCING"), "PENDING_SHUTDOWN", ("PENDING_SHUTDOWN", "NOT_RUNNING")
_OF_CONSUMER = re.compile(r"-StreamThread-\d+-consumer\Z")
_THREAD = re.compile(r"-StreamThread-\d+(?:-consumer)?(?:-|\Z)")
#: In a Java list, or as keys of a map (up to 2.7).
_TASK, _AROUND_TASKS = re.compile(r"\A(?:[^\s=]{1,200}__)?\d{1,9}_\d{1,9}\Z"), re.compile(r"[\[\]{}=,\s]")
_DIGITS = 20
_MOST_PRINTED = 100
_LONGEST_REASON = 1_000


@attrs.define
class Coordinated:
    """Facts that the coordinator logged about one generation."""

    prepared: LogTime | None = None
    reason: str = ""
    joined: LogTime | None = None
    assigned: LogTime | None = None
    leader: str | None = None


@attrs.frozen
class InstanceEvent:
    """An event that an instance logged about itself.

    Args:
        type: ``start`` (its process), ``begun`` (its threads), ``stop``, ``corrupt`` (the state of tasks), and in
        ``moments`` ``ended`` or ``joining``.
    """

    time: LogTime
    type: str
    client: str
    tasks: tuple[str, ...] = ()


@attrs.define
class LoggedSurroundings:
    """The collected facts."""

    #: Several for a group that was deleted and created again.
    _generations: dict[tuple[str, int], list[Coordinated]] = attrs.field(init=False, factory=dict)
    #: No instance decides in it.
    is_streams_protocol: bool = attrs.field(init=False, default=False)
    is_connect: bool = attrs.field(init=False, default=False)
    #: Files with messages of a release before 2.6.
    too_old: list[str] = attrs.field(init=False, factory=list)
    done: list[InstanceEvent] = attrs.field(init=False, factory=list)
    epochs: CoordinatedEpochs = attrs.field(init=False, factory=CoordinatedEpochs)
    causes: CauseLines = attrs.field(init=False, factory=CauseLines)
    restorations: Restorations = attrs.field(init=False, factory=Restorations)
    waits: MemberWaits = attrs.field(init=False, factory=MemberWaits)
    topics: LoggedTopics = attrs.field(init=False, factory=LoggedTopics)
    #: Descriptions that applications printed, each once.
    printed: list[TopologyDescription] = attrs.field(init=False, factory=list)
    #: ``ended`` and ``joining``.
    moments: list[InstanceEvent] = attrs.field(init=False, factory=list)
    #: Client id of an instance to the release of each of its starts, in the order of the lines.
    _versions: dict[str, list[tuple[LogTime | None, str]]] = attrs.field(init=False, factory=dict)
    group_of: dict[str, str] = attrs.field(init=False, factory=dict)
    #: Group and client id to ``client.rack``; ``None``: not configured.
    _racks: dict[tuple[str, str], str | None] = attrs.field(init=False, factory=dict)
    _settings: dict[tuple[str, str], dict[str, Any]] = attrs.field(init=False, factory=dict)
    #: Group and instance id to the consumer's client ids, each from its first line on.
    _static: dict[tuple[str, str], list[tuple[LogTime | None, str]]] = attrs.field(init=False, factory=dict)

    def take(self, record: LogMessage) -> None:
        if record.instance is not None and record.thread is not None:
            self._static_member(record.group or "", record.instance, record.thread, record.time)
        if record.kind is MessageKind.PREPARING and (found := _PREPARING.match(record.text)):
            self._prepared(found[1], int(found[2]) + 1, record.time, found[3][:_LONGEST_REASON])
        elif record.kind is MessageKind.STABILIZED and (found := _STABILIZED.match(record.text)):
            self._latest(found[1], int(found[2])).joined = record.time
        elif record.kind is MessageKind.RECEIVED and (found := _RECEIVED.match(record.text)):
            of = self._latest(found[2], int(found[3]))
            of.assigned, of.leader = record.time, found[1]
        elif record.kind is MessageKind.CLIENT and _STREAMS_PROTOCOL in record.text:
            self.is_streams_protocol = True
        elif record.kind is MessageKind.CLIENT and (found := _CLIENT.match(record.text)):
            if record.time is not None:
                self._client(record.time, found[1], found[2], found[3])
            if found[4]:
                self._versions.setdefault(found[1], []).append((record.time, found[4]))
        elif record.kind is MessageKind.CONNECT_WORKER:
            self.is_connect = True
        elif record.kind is MessageKind.JOINING:
            self._joining(record)
        elif record.kind in (MessageKind.REVOKED, MessageKind.NOTIFIED):
            self.waited(record)
        elif record.kind is MessageKind.CORRUPTED:
            self._corrupted(record)
        elif record.kind in (MessageKind.END_OFFSET, MessageKind.RESTORED, MessageKind.RESTORED_TASK):
            self.restorations.take(record)
        elif record.kind in CAUSES:
            self.causes.take(record)
        elif record.kind is MessageKind.TOPOLOGY:
            self._described(record)
        elif record.kind is MessageKind.CONSUMER_CONFIG:
            self._consumer(record.text, record.time)
        elif record.kind in OF_EPOCHS:
            self.is_streams_protocol = True
            self.epochs.take(record)

    def waited(self, record: LogMessage) -> None:
        """Notes a line of a consumer between a JoinGroup response and the end of the rebalance."""
        client = self.belongs(record.thread or "", record.group or "")
        if client is not None:
            self.waits.take(record, client)

    def belongs(self, consumer: str, group: str) -> str | None:
        """Returns the client id of the instance; ``None`` without a thread."""
        found = _OF_CONSUMER.search(consumer)
        if found is None:
            return None
        client = consumer[: found.start()]
        self.group_of[client] = group
        return client

    def of(self, group: str | None, generation: int | None, leader: str | None) -> Coordinated | None:
        """Of several with that number the one with that leader."""
        if generation is None:
            return None
        groups = {name for name, _ in self._generations}
        name = group if group is not None else next(iter(groups)) if len(groups) == 1 else None
        found = self._generations.get((name or "", generation), [])
        led = [each for each in found if leader and each.leader and f"{each.leader}-".startswith(f"{leader}-")]
        return next(reversed(led or found), None)

    def rack(self, group: str | None, consumer: str) -> tuple[bool, str | None]:
        """True if the rack is logged. ``consumer`` is the member id, which starts with the client id."""
        for (of, client), rack in self._racks.items():
            if (group is None or of == group) and consumer.startswith(f"{client}-"):
                return True, rack
        return False, None

    def settings(self, group: str | None) -> list[dict[str, Any]]:
        """From each consumer's latest start."""
        return [found for (of, _), found in self._settings.items() if group in (None, of)]

    def releases(self, group: str | None, consumers: Iterable[str], at_ms: int | None, zone: tzinfo) -> dict[str, str]:
        """Client id of each instance to its release at a time, as far as logged.

        Args:
            consumers: Client ids or member ids of the members of that time; instances without one are left out, if the
            others have a release.
            at_ms: ``None``: at the end of the logs.
        """
        present = {consumer[: named.start()] for consumer in consumers if (named := _THREAD.search(consumer))}
        of_group = {client for client, of in self.group_of.items() if of == group}
        members = {client for client in present if self.group_of.get(client, group) == group}
        known = (members & self._versions.keys()) or (of_group & self._versions.keys())
        return {client: _shown_at(starts, at_ms, zone) for client, starts in self._versions.items() if client in known}

    def client_of_static(self, group: str | None, instance: str, at_ms: int | None, zone: tzinfo) -> str | None:
        """Its client id at a time; another process may have taken the instance id since."""
        found = (clients for (of, name), clients in self._static.items() if name == instance and group in (None, of))
        return next((_shown_at(clients, at_ms, zone) for clients in found), None)

    def changelogs(self, group: str | None) -> dict[str, str | None]:
        """``None``: from two."""
        return restored_changelogs(
            self.restorations.stores, [each for each, of in self.group_of.items() if of == group]
        )

    def caused(self, zone: tzinfo, decided: Iterable[int]) -> list[GroupCause]:
        """Events that lines with causes show; instances have their client ids.

        Args:
            decided: Times of the decisions, in ms.
        """
        stopping = [(each.client, each.time.epoch_ms(zone)) for each in self.done if each.type == "stop"]
        return self.causes.events(zone, self.group_of, stopping, decided)

    def generations(self, group: str) -> Iterator[tuple[int, Coordinated]]:
        for (name, number), found in self._generations.items():
            if name == group:
                yield from ((number, each) for each in found)

    def groups(self) -> Iterator[str]:
        yield from dict.fromkeys(group for group, _ in self._generations)

    # --- messages ---------------------------------------------------------------------------------

    def _prepared(self, group: str, generation: int, time: LogTime | None, reason: str) -> None:
        found = self._generations.setdefault((group, generation), [])
        # An interrupted rebalance starts again with the same number.
        if found and found[-1].joined is None:
            return
        found.append(Coordinated(time, reason))

    def _latest(self, group: str, generation: int) -> Coordinated:
        found = self._generations.setdefault((group, generation), [])
        if not found:
            found.append(Coordinated())
        return found[-1]

    def _client(self, time: LogTime, client: str, before: str | None, after: str | None) -> None:
        if after is None or after == _STOPPING or before == _BEGUN[0]:
            self.waits.restarted(client)
        if after is None:
            self.done.append(InstanceEvent(time, "start", client))
        elif (before, after) == _BEGUN:
            self.done.append(InstanceEvent(time, "begun", client))
        elif after == _STOPPING:
            self.done.append(InstanceEvent(time, "stop", client))
        elif (before, after) == _ENDED:
            self.moments.append(InstanceEvent(time, "ended", client))

    def _joining(self, record: LogMessage) -> None:
        client = self.belongs(record.thread or "", record.group or "")
        if client is not None and record.time is not None:
            self.moments.append(InstanceEvent(record.time, "joining", client))

    def _described(self, record: LogMessage) -> None:
        with suppress(TopologyTextError):
            found = parse_topology(record.text, record.file)
            if len(self.printed) < _MOST_PRINTED and all(
                found.subtopologies != each.subtopologies for each in self.printed
            ):
                self.printed.append(found)

    def _corrupted(self, record: LogMessage) -> None:
        client, thread, _ = (record.layout_thread or "").partition("-StreamThread-")
        text, end, _ = record.text.partition(" are corrupted")
        tasks = tuple(word for word in _AROUND_TASKS.split(text) if _TASK.fullmatch(word))
        if thread and end and tasks and record.time is not None:
            self.done.append(InstanceEvent(record.time, "corrupt", client, tasks))

    def _consumer(self, text: str, time: LogTime | None) -> None:
        entries: Mapping[str, Any] = {found[1]: found[2].strip() for found in _ENTRY.finditer(text)}
        group, client = entries.get("group.id"), entries.get("client.id")
        if not group or not client or group == "null":
            return
        if "client.rack" in entries:
            self._racks[group, client] = entries["client.rack"] or None
        self._settings[group, client] = {
            key: int(entries[key])
            for key in _SETTINGS
            if entries.get(key, "").isdecimal() and len(entries[key]) < _DIGITS
        }
        instance = entries.get("group.instance.id", "null")
        if instance != "null":
            self._static_member(group, instance, client, time)

    def _static_member(self, group: str, instance: str, client: str, time: LogTime | None) -> None:
        found = self._static.setdefault((group, instance), [])
        if not found or found[-1][1] != client:
            found.append((time, client))


def _shown_at(shown: Sequence[tuple[LogTime | None, str]], at_ms: int | None, zone: tzinfo) -> str:
    """The last value before a time, such as the release of a start, or else the first one."""
    if at_ms is None or any(time is None for time, _ in shown):
        return shown[-1][1]
    timed = sorted(((time.epoch_ms(zone), value) for time, value in shown if time), key=itemgetter(0))
    return next((value for from_ms, value in reversed(timed) if from_ms <= at_ms), timed[0][1])
