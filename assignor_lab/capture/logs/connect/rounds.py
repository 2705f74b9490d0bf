"""From the log of a Connect worker to the rebalances that it led, with everything that it knew and what it decided."""

from __future__ import annotations

import re
from os import PathLike
from typing import BinaryIO

import attrs

from assignment_api.connect import NO_GENERATION, ConfiguredJobs, ConnectProtocol, Jobs
from assignor_lab.capture.logs.connect.errors import GarbledMessageError
from assignor_lab.capture.logs.connect.messages import (
    AssignmentsSent,
    ClockRead,
    Completed,
    ConfiguredRead,
    DelayStarted,
    Joined,
    Message,
    ProcessStarted,
    RoundStarted,
    read_message,
)
from assignor_lab.capture.logs.timestamps import find_time
from assignor_lab.documents.lines import bounded_lines, source_name
from assignor_lab.kafka.wire import WireError
from assignor_lab.kafka.wire.connect import (
    AssignmentMessage,
    SubscriptionMessage,
    decode_connect_assignment,
    decode_connect_subscription,
    protocol_of_wire_name,
)

__all__ = ["ReceivedAssignment", "RecordedRound", "WorkerLife", "read_worker_log"]

_WORKER = re.compile(r"\A(?>.*?\[Worker clientId=)(?>(.*?), groupId=)(.*?)\]")
#: So far into a line its worker is looked for, and its time.
_HEAD, _BEFORE_MESSAGE = 2_000, 120


@attrs.frozen
class RecordedRound:
    """A rebalance as its leader's log tells it.

    Args:
        line: Line of the log in which the leader learns of its members.
        generation: Number of the generation.
        protocol: What the members agreed on.
        previous_protocol: What the generation before spoke that this process was in; ``None`` if there was none.
        leader: Member id of the leader.
        subscriptions: Member id to what it joined with, in the coordinator's order.
        time_ms: The leader's clock as near as the log tells it; ``None`` if it tells no time.
        time_is_exact: Whether the log says what the leader's clock said.
        configured: All jobs, or ``None``: the log does not say (the eager assignor logs nothing of the kind).
        assignor_ran: Whether an assignor decided; otherwise the leader had not read the configuration far enough.
        last_completed: The last generation that this process had an assignment of.
        assignments: Member id to what it was sent; ``None`` if nothing was sent.
        problem: Why the round cannot be read in full; empty if it can.
    """

    line: int
    generation: int
    protocol: ConnectProtocol
    previous_protocol: ConnectProtocol | None
    leader: str
    subscriptions: dict[str, SubscriptionMessage]
    time_ms: int | None = None
    time_is_exact: bool = False
    configured: ConfiguredJobs | None = None
    assignor_ran: bool = False
    last_completed: int = NO_GENERATION
    assignments: dict[str, AssignmentMessage] | None = None
    problem: str = ""


@attrs.frozen
class ReceivedAssignment:
    """What a worker runs after a rebalance, as it says itself.

    Args:
        line: Line of the log.
        generation: Number of the generation.
        member: The worker's member id; empty where the log does not tell it.
        owned: Its connector instances and tasks.
    """

    line: int
    generation: int
    member: str
    owned: Jobs


@attrs.define
class WorkerLife:
    """One process of a worker, from its start to its end.

    Args:
        file: Name of the log.
        worker: The worker's client id.
        group: Its group.
        number: Which process of that worker in the log this is, from 1.
        from_start: Whether the log has the process's beginning; otherwise its assignors may remember things that the
            log does not tell.
        rounds: The rebalances that it led, in order.
        received: What it was to run after each rebalance, in order.
        max_delay_ms: Its ``scheduled.rebalance.max.delay.ms``, where the log tells it.
    """

    file: str
    worker: str
    group: str
    number: int
    from_start: bool
    rounds: list[RecordedRound] = attrs.field(factory=list)
    received: list[ReceivedAssignment] = attrs.field(factory=list)
    max_delay_ms: int | None = None


def read_worker_log(source: str | PathLike[str] | BinaryIO) -> list[WorkerLife]:
    """The lives of all workers in a log, plain or gzip, in the order of their beginnings.

    Raises:
        DocumentFormatError: if the file cannot be read or a line is too long.
    """
    name = source_name(source)
    lives: list[WorkerLife] = []
    readers: dict[tuple[str, str], _LifeReader] = {}
    for number, line in bounded_lines(source):
        text = line.decode("utf-8", "replace")
        worker = _WORKER.search(text, 0, _HEAD)
        if worker is None:
            continue
        reader = readers.setdefault((worker[1], worker[2]), _LifeReader(name, worker[1], worker[2], lives))
        reader.read(number, text)
    for reader in readers.values():
        reader.end()
    return lives


@attrs.define
class _LifeReader:
    """Follows one worker through its log."""

    file: str
    worker: str
    group: str
    lives: list[WorkerLife]
    life: WorkerLife | None = None
    number: int = 0
    completed: int = NO_GENERATION
    protocol: ConnectProtocol | None = None
    member: str = ""
    pending: RecordedRound | None = None

    def read(self, line: int, text: str) -> None:
        """Takes a line of this worker."""
        try:
            message = read_message(text)
        except GarbledMessageError as error:
            if self.pending is not None:
                self.pending = attrs.evolve(self.pending, problem=f"line {line}: {error}")
            return
        if message is not None:
            self._take(message, line, text)

    def end(self) -> None:
        """The log ends: a round that it does not finish is kept as far as it got."""
        self._keep_pending()

    def _take(self, message: Message, line: int, text: str) -> None:
        if isinstance(message, ProcessStarted):
            self._start()
        elif isinstance(message, Joined):
            self._join(message, line)
        elif isinstance(message, Completed):
            self._keep_pending()
            self.completed = message.generation
            self._life().received.append(ReceivedAssignment(line, message.generation, self.member, message.owned))
        elif self.pending is not None:
            self.pending = self._with(self.pending, message, text)
            if isinstance(message, AssignmentsSent):
                self._keep_pending()

    def _start(self) -> None:
        # Two messages of a start follow one another; between them nothing can have happened.
        if self.life is not None and self.life.from_start and self.completed == NO_GENERATION and not self.life.rounds:
            return
        self._keep_pending()
        self.life = self._new_life(from_start=True)
        self.completed, self.protocol, self.member = NO_GENERATION, None, ""

    def _new_life(self, *, from_start: bool) -> WorkerLife:
        self.number += 1
        life = WorkerLife(self.file, self.worker, self.group, self.number, from_start)
        self.lives.append(life)
        return life

    def _join(self, joined: Joined, line: int) -> None:
        self._keep_pending()
        self.member = joined.member
        try:
            protocol = protocol_of_wire_name(joined.protocol)
            problem = ""
            subscriptions = {member: decode_connect_subscription(data) for member, data in joined.subscriptions}
        except WireError as error:
            protocol, subscriptions, problem = self.protocol or ConnectProtocol.EAGER, {}, f"line {line}: {error}"
        if joined.leader == joined.member:
            self.pending = RecordedRound(
                line,
                joined.generation,
                protocol,
                self.protocol,
                joined.leader,
                subscriptions,
                last_completed=self.completed,
                assignor_ran=not protocol.is_incremental,
                problem=problem,
            )
        self.protocol = protocol

    def _with(self, pending: RecordedRound, message: Message, text: str) -> RecordedRound:
        if isinstance(message, RoundStarted):
            return attrs.evolve(pending, assignor_ran=True, time_ms=_time_of(text))
        if isinstance(message, ConfiguredRead):
            return attrs.evolve(pending, configured=message.jobs)
        if isinstance(message, ClockRead):
            return attrs.evolve(pending, time_ms=_time_of(text))
        if isinstance(message, DelayStarted):
            self._life().max_delay_ms = message.max_delay_ms
            return attrs.evolve(pending, time_ms=message.epoch_ms, time_is_exact=True)
        if isinstance(message, AssignmentsSent) and message.generation == pending.generation:
            try:
                assignments = {member: decode_connect_assignment(data) for member, data in message.assignments}
            except WireError as error:
                return attrs.evolve(pending, problem=str(error))
            return attrs.evolve(pending, assignments=assignments)
        return pending

    def _keep_pending(self) -> None:
        if self.pending is None:
            return
        self._life().rounds.append(self.pending)
        self.pending = None

    def _life(self) -> WorkerLife:
        if self.life is None:
            self.life = self._new_life(from_start=False)
        return self.life


def _time_of(text: str) -> int | None:
    time = find_time(text[:_BEFORE_MESSAGE])
    return None if time is None else time.epoch_ms()
