"""What logs tell around the decisions: the coordinator's reasons, starts and stops of instances, racks of consumers.

None of it is needed to read a decision. It may stand in any file and come before or after, so it is gathered while all
logs are read, and put to the decisions when they are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assignor_lab.capture.logs.coordinated_epochs import CoordinatedEpochs
from assignor_lab.capture.logs.messages import OF_EPOCHS, Kind
from assignor_lab.capture.logs.records import LogRecord
from assignor_lab.capture.logs.restorations import Restorations
from assignor_lab.capture.logs.timestamps import LogTime

__all__ = ["SURROUNDING", "Coordinated", "Done", "LoggedSurroundings"]

#: Messages that are no part of a leader's decision.
SURROUNDING = frozenset(
    {
        Kind.PREPARING,
        Kind.STABILIZED,
        Kind.RECEIVED,
        Kind.CLIENT,
        Kind.CONSUMER_CONFIG,
        Kind.JOINING,
        Kind.CORRUPTED,
        Kind.END_OFFSET,
        Kind.RESTORED,
        Kind.RESTORED_TASK,
        Kind.CONNECT_WORKER,
        *OF_EPOCHS,
    }
)

_PREPARING = re.compile(
    r"\APreparing to rebalance group (?>(.+?) in state \w+ with old generation (\d{1,10})(?: \([^()]*\))? \(reason: )"
    r"(.*?)\)\.?(?: \([\w.$]+\))?\s*\Z"
)
_STABILIZED = re.compile(r"\AStabilized group (.+?) generation (\d{1,10}) (?:\([^()]*\) )?with (\d{1,10}) members")
_RECEIVED = re.compile(r"\AAssignment received from leader (?>(.+?) for group )(.+?) for generation (\d{1,10})(?!\d)")
_CLIENT = re.compile(r"\Astream-client \[(.*?)\] (?:Kafka Streams version: |State transition from (\w+) to (\w+))")
_STREAMS_PROTOCOL = "] Streams rebalance protocol enabled"
_ENTRY = re.compile(r"(?<![\w.])(client\.id|client\.rack|group\.id) = ([^\r\n\\]*)")
#: States of an instance on whose coming it begins, or is asked to end.
_BEGUN, _STOPPING, _ENDED = ("CREATED", "REBALANCING"), "PENDING_SHUTDOWN", ("PENDING_SHUTDOWN", "NOT_RUNNING")
#: What the client id of a thread's consumer has behind that of its instance.
_OF_CONSUMER = re.compile(r"-StreamThread-\d+-consumer\Z")
#: Names of tasks in a list of Java, or as keys of a map (to 2.7), and what is between them.
_TASK, _AROUND_TASKS = re.compile(r"\A(?:[^\s=]{1,200}__)?\d{1,9}_\d{1,9}\Z"), re.compile(r"[\[\]{}=,\s]")
#: Longest reason that is kept, in characters.
_LONGEST_REASON = 1_000


@attrs.define
class Coordinated:
    """What the coordinator logged of one generation.

    Args:
        prepared: When the rebalance began.
        reason: Why.
        joined: When all had joined.
        assigned: When the leader's assignment came.
        leader: Member id of the leader.
    """

    prepared: LogTime | None = None
    reason: str = ""
    joined: LogTime | None = None
    assigned: LogTime | None = None
    leader: str | None = None


@attrs.frozen
class Done:
    """Something that an instance logged of itself.

    Args:
        time: When.
        type: ``start`` (its process), ``begun`` (its threads), ``stop``, ``corrupt`` (the state of tasks), and of
            ``moments`` ``ended`` or ``joining``.
        client: Its ``client.id``.
        tasks: The tasks of ``corrupt``.
    """

    time: LogTime
    type: str
    client: str
    tasks: tuple[str, ...] = ()


@attrs.define
class LoggedSurroundings:
    """What was gathered so far."""

    #: Group and generation to what the coordinator logged; a group that was made anew has a list of several.
    _generations: dict[tuple[str, int], list[Coordinated]] = attrs.field(init=False, factory=dict)
    #: Whether somebody speaks the streams protocol, in which no instance decides.
    is_streams_protocol: bool = attrs.field(init=False, default=False)
    #: Whether there are lines of a Connect worker.
    is_connect: bool = attrs.field(init=False, default=False)
    #: What instances did, in the order of reading.
    done: list[Done] = attrs.field(init=False, factory=list)
    #: What coordinators of the streams protocol decided.
    epochs: CoordinatedEpochs = attrs.field(init=False, factory=CoordinatedEpochs)
    #: What instances restored.
    restorations: Restorations = attrs.field(init=False, factory=Restorations)
    #: When instances had closed, and when their consumers asked to be let into the group: ``ended`` and ``joining``.
    moments: list[Done] = attrs.field(init=False, factory=list)
    #: Client id of an instance to its group.
    group_of: dict[str, str] = attrs.field(init=False, factory=dict)
    #: Group and client id of a consumer to its ``client.rack``; ``None``: not configured.
    _racks: dict[tuple[str, str], str | None] = attrs.field(init=False, factory=dict)

    def take(self, record: LogRecord) -> None:
        """Adds a message of :data:`SURROUNDING`; one that is cut off is passed over."""
        if record.kind is Kind.PREPARING and (found := _PREPARING.match(record.text)):
            self._prepared(found[1], int(found[2]) + 1, record.time, found[3][:_LONGEST_REASON])
        elif record.kind is Kind.STABILIZED and (found := _STABILIZED.match(record.text)):
            self._latest(found[1], int(found[2])).joined = record.time
        elif record.kind is Kind.RECEIVED and (found := _RECEIVED.match(record.text)):
            of = self._latest(found[2], int(found[3]))
            of.assigned, of.leader = record.time, found[1]
        elif record.kind is Kind.CLIENT and _STREAMS_PROTOCOL in record.text:
            self.is_streams_protocol = True
        elif record.kind is Kind.CLIENT and record.time is not None and (found := _CLIENT.match(record.text)):
            self._client(record.time, found[1], found[2], found[3])
        elif record.kind is Kind.CONNECT_WORKER:
            self.is_connect = True
        elif record.kind is Kind.JOINING:
            self._joining(record)
        elif record.kind is Kind.CORRUPTED:
            self._corrupted(record)
        elif record.kind in (Kind.END_OFFSET, Kind.RESTORED, Kind.RESTORED_TASK):
            self.restorations.take(record)
        elif record.kind is Kind.CONSUMER_CONFIG:
            self._consumer(record.text)
        elif record.kind in OF_EPOCHS:
            self.is_streams_protocol = True
            self.epochs.take(record)

    def belongs(self, consumer: str, group: str) -> str | None:
        """Notes which group a consumer is in; the client id of its instance, ``None`` if it is no thread's consumer."""
        found = _OF_CONSUMER.search(consumer)
        if found is None:
            return None
        client = consumer[: found.start()]
        self.group_of[client] = group
        return client

    def of(self, group: str | None, generation: int | None, leader: str | None) -> Coordinated | None:
        """What the coordinator logged of a generation; of several with that number the one with that leader.

        Args:
            group: The group, or ``None``: any that the logs tell of, if it is the only one.
            generation: The generation.
            leader: The leader's member id, or what it begins with.
        """
        if generation is None:
            return None
        groups = {name for name, _ in self._generations}
        name = group if group is not None else next(iter(groups)) if len(groups) == 1 else None
        found = self._generations.get((name or "", generation), [])
        led = [each for each in found if leader and each.leader and f"{each.leader}-".startswith(f"{leader}-")]
        return next(reversed(led or found), None)

    def rack(self, group: str | None, consumer: str) -> tuple[bool, str | None]:
        """Whether the ``client.rack`` of a consumer is known, and what it is.

        Args:
            group: Its group.
            consumer: Its member id, which begins with its client id.
        """
        for (of, client), rack in self._racks.items():
            if (group is None or of == group) and consumer.startswith(f"{client}-"):
                return True, rack
        return False, None

    def generations(self, group: str) -> Iterator[tuple[int, Coordinated]]:
        """The generations of a group that the coordinator's lines are about, in the order of the lines."""
        for (name, number), found in self._generations.items():
            if name == group:
                yield from ((number, each) for each in found)

    def groups(self) -> Iterator[str]:
        """The groups that the coordinator's lines are about, each once."""
        yield from dict.fromkeys(group for group, _ in self._generations)

    # --- messages ---------------------------------------------------------------------------------

    def _prepared(self, group: str, generation: int, time: LogTime | None, reason: str) -> None:
        found = self._generations.setdefault((group, generation), [])
        # A rebalance that is interrupted begins again with the same number.
        if found and found[-1].joined is None:
            return
        found.append(Coordinated(time, reason))

    def _latest(self, group: str, generation: int) -> Coordinated:
        found = self._generations.setdefault((group, generation), [])
        if not found:
            found.append(Coordinated())
        return found[-1]

    def _client(self, time: LogTime, client: str, before: str | None, after: str | None) -> None:
        if after is None:
            self.done.append(Done(time, "start", client))
        elif (before, after) == _BEGUN:
            self.done.append(Done(time, "begun", client))
        elif after == _STOPPING:
            self.done.append(Done(time, "stop", client))
        elif (before, after) == _ENDED:
            self.moments.append(Done(time, "ended", client))

    def _joining(self, record: LogRecord) -> None:
        client = self.belongs(record.thread or "", record.group or "")
        if client is not None and record.time is not None:
            self.moments.append(Done(record.time, "joining", client))

    def _corrupted(self, record: LogRecord) -> None:
        client, thread, _ = (record.layout_thread or "").partition("-StreamThread-")
        text, end, _ = record.text.partition(" are corrupted")
        tasks = tuple(word for word in _AROUND_TASKS.split(text) if _TASK.fullmatch(word))
        if thread and end and tasks and record.time is not None:
            self.done.append(Done(record.time, "corrupt", client, tasks))

    def _consumer(self, text: str) -> None:
        entries: Mapping[str, Any] = {found[1]: found[2].strip() for found in _ENTRY.finditer(text)}
        group, client = entries.get("group.id"), entries.get("client.id")
        if group and client and group != "null" and "client.rack" in entries:
            self._racks[group, client] = entries["client.rack"] or None
