"""Rebalances that a Connect worker led, with inputs and decisions, from its log."""

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
    LoggedJoin,
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
_HEAD, _BEFORE_MESSAGE = 2_000, 120


@attrs.frozen
class RecordedRound:
    """A rebalance in its leader's log.

    Args:
        previous_protocol: Of this process's previous generation; ``None`` without one.
        subscriptions: In the coordinator's order.
        time_ms: Best estimate of the leader's clock.
        configured: ``None`` if the log does not name all jobs (the eager assignor logs none).
        assignor_ran: False if the leader had not read the configuration far enough to decide.
        last_completed: The last generation for which this process had an assignment.
        assignments: ``None`` if nothing was sent.
        problem: Reason for an incomplete round, or empty.
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
    """A worker's jobs after a rebalance, from its own log."""

    line: int
    generation: int
    member: str
    owned: Jobs


@attrs.define
class WorkerLife:
    """One process of a worker.

    Args:
        from_start: False: its assignors may have unlogged memory.
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
    """By start; plain or gzip."""
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
        try:
            message = read_message(text)
        except GarbledMessageError as error:
            if self.pending is not None:
                self.pending = attrs.evolve(self.pending, problem=f"line {line}: {error}")
            return
        if message is not None:
            self._take(message, line, text)

    def end(self) -> None:
        self._keep_pending()

    def _take(self, message: Message, line: int, text: str) -> None:
        if isinstance(message, ProcessStarted):
            self._start()
        elif isinstance(message, LoggedJoin):
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
        # Nothing can have happened between two consecutive messages of a start.
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

    def _join(self, joined: LoggedJoin, line: int) -> None:
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
