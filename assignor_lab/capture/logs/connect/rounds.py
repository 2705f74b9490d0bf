"""Rebalances that a Connect worker led, with inputs and decisions, from its log."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignment_api.connect import NO_GENERATION, ConfiguredJobs, ConnectProtocol, Jobs
from assignor_lab.capture.logs.connect.lines import LogSource, WorkerLine
from assignor_lab.capture.logs.connect.messages import (
    AssignmentsSent,
    ClockRead,
    Completed,
    ConfiguredRead,
    DelayStarted,
    LoggedJoin,
    MembersRead,
    Message,
    NewAssignments,
    ProcessStarted,
    RoundStarted,
)
from assignor_lab.capture.logs.connect.processes import WorkerLog, worker_logs
from assignor_lab.kafka.wire import WireError
from assignor_lab.kafka.wire.connect import (
    AssignmentMessage,
    SubscriptionMessage,
    decode_connect_assignment,
    decode_connect_subscription,
    protocol_of_wire_name,
)

__all__ = ["ReceivedAssignment", "RecordedRound", "WorkerLife", "read_worker_log", "worker_lives"]

#: Time zones differ by quarters of an hour.
_QUARTER_MS = 900_000
#: Version of protocol sessioned.
_SESSIONED = 2


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
        lost: Jobs that no worker reported any more; ``None``: not in the log.
        is_delay_known: False: the assignments are text without the delay.
        follows_gap: True if the log lacks a generation before this one.
        is_doubtful: True if the log may lack the end of the generation before.
        resolution_ms: 1,000 if the log's times have no fraction.
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
    lost: Jobs | None = None
    is_delay_known: bool = True
    follows_gap: bool = False
    is_doubtful: bool = False
    resolution_ms: int = 1


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
        stream: Prefix of a tool, or member id, that separates the worker from others in the same log; may be empty.
    """

    file: str
    worker: str
    group: str
    number: int
    from_start: bool
    rounds: list[RecordedRound] = attrs.field(factory=list)
    received: list[ReceivedAssignment] = attrs.field(factory=list)
    max_delay_ms: int | None = None
    stream: str = ""

    @property
    def name(self) -> str:
        return f"{self.worker} ({self.stream.strip()})" if self.stream else self.worker


def read_worker_log(*sources: LogSource) -> list[WorkerLife]:
    """By start, for one log or the parts of several, in any form."""
    return worker_lives(worker_logs(sources))


def worker_lives(logs: Iterable[WorkerLog]) -> list[WorkerLife]:
    lives: list[WorkerLife] = []
    for log in logs:
        reader = _LifeReader(log, lives, _resolution_ms(log))
        for line in log.lines:
            reader.read(line)
        reader.end()
    return lives


def _resolution_ms(log: WorkerLog) -> int:
    times = [time for line in log.lines if (time := line.time_ms) is not None]
    return 1_000 if len(times) > 1 and all(time % 1_000 == 0 for time in times) else 1


@attrs.define
class _LifeReader:
    log: WorkerLog
    lives: list[WorkerLife]
    resolution_ms: int
    life: WorkerLife | None = None
    number: int = 0
    completed: int = NO_GENERATION
    protocol: ConnectProtocol | None = None
    member: str = ""
    pending: RecordedRound | None = None
    joined: int = NO_GENERATION
    #: The generation that this process joined before.
    seen: int = NO_GENERATION
    #: Leaders of generations of this process without a line of its join.
    unseen_leaders: set[str] = attrs.field(factory=set)

    def read(self, line: WorkerLine) -> None:
        if line.problem:
            if self.pending is not None:
                self.pending = attrs.evolve(self.pending, problem=line.problem)
        elif line.message is not None:
            self._take(line.message, line)

    def end(self) -> None:
        self._keep_pending()

    def _take(self, message: Message, line: WorkerLine) -> None:
        if isinstance(message, ProcessStarted):
            self._start()
        elif isinstance(message, LoggedJoin):
            self._join(message, line.line)
        elif isinstance(message, MembersRead):
            self._members(message, line.line)
        elif isinstance(message, Completed):
            self._complete(message, line.line)
        elif self.pending is not None:
            self.pending = self._with(self.pending, message, line)
            if isinstance(message, AssignmentsSent):
                self._keep_pending()

    def _start(self) -> None:
        # Nothing can have happened between two consecutive messages of a start.
        if self.life is not None and self.life.from_start and self.completed == NO_GENERATION and not self.life.rounds:
            return
        self._keep_pending()
        self.life = self._new_life(from_start=True)
        self.completed, self.protocol, self.member, self.joined = NO_GENERATION, None, "", NO_GENERATION
        self.seen = NO_GENERATION
        self.unseen_leaders.clear()

    def _new_life(self, *, from_start: bool) -> WorkerLife:
        self.number += 1
        log = self.log
        stream = log.members[0] if log.is_separated and log.members else log.stream
        life = WorkerLife(log.file, log.worker, log.group, self.number, from_start, stream=stream)
        self.lives.append(life)
        return life

    def _join(self, joined: LoggedJoin, line: int) -> None:
        self._keep_pending()
        follows_gap = joined.member in self.unseen_leaders or (
            self.member == joined.member and joined.generation > self.joined + 1
        )
        self.seen = self.joined
        self.unseen_leaders.discard(joined.member)
        self.member, self.joined = joined.member, joined.generation
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
                follows_gap=follows_gap,
                is_doubtful=self.completed != self.seen,
                resolution_ms=self.resolution_ms,
            )
        self.protocol = protocol

    def _members(self, read: MembersRead, line: int) -> None:
        """Opens a round if the assignor alone logs at DEBUG."""
        if self.pending is not None and self.pending.subscriptions and self.pending.configured is None:
            return
        self._keep_pending()
        owned = next((each.assignment for _, each in read.subscriptions if each.assignment is not None), None)
        protocol = self.protocol or ConnectProtocol.SESSIONED
        self.pending = RecordedRound(
            line,
            NO_GENERATION,
            protocol,
            self.protocol,
            "" if owned is None else owned.leader,
            dict(read.subscriptions),
            last_completed=self.completed,
            follows_gap=bool(self.unseen_leaders),
            resolution_ms=self.resolution_ms,
        )
        self.unseen_leaders.clear()
        self.protocol = protocol

    def _complete(self, message: Completed, line: int) -> None:
        pending = self.pending
        if pending is not None and not pending.is_delay_known and pending.generation == message.generation:
            assignments = pending.assignments or {}
            known = {
                member: attrs.evolve(each, delay_ms=message.message.delay_ms) for member, each in assignments.items()
            }
            self.pending = attrs.evolve(pending, assignments=known, is_delay_known=True)
        if message.generation != self.joined and (pending is None or pending.generation != message.generation):
            self.unseen_leaders.add(message.message.leader)
        self._keep_pending()
        self.completed = message.generation
        self._life().received.append(ReceivedAssignment(line, message.generation, self.member, message.owned))

    def _with(self, pending: RecordedRound, message: Message, line: WorkerLine) -> RecordedRound:
        if isinstance(message, RoundStarted):
            generation, leader = pending.generation, pending.leader
            if generation == NO_GENERATION:
                generation, leader = message.generation, message.member or leader
            return attrs.evolve(pending, assignor_ran=True, time_ms=line.time_ms, generation=generation, leader=leader)
        if isinstance(message, ConfiguredRead):
            return attrs.evolve(pending, configured=message.jobs, assignor_ran=True)
        if isinstance(message, ClockRead):
            return attrs.evolve(pending, time_ms=line.time_ms, lost=message.lost, assignor_ran=True)
        if isinstance(message, DelayStarted):
            self._life().max_delay_ms = message.max_delay_ms
            return attrs.evolve(pending, time_ms=_on_clock_of(line, message.epoch_ms), time_is_exact=True)
        if isinstance(message, AssignmentsSent) and message.generation == pending.generation:
            try:
                assignments = {member: decode_connect_assignment(data) for member, data in message.assignments}
            except WireError as error:
                return attrs.evolve(pending, problem=str(error))
            return attrs.evolve(pending, assignments=assignments, is_delay_known=True)
        if isinstance(message, NewAssignments) and pending.assignments is None:
            return _written(pending, message)
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


def _on_clock_of(line: WorkerLine, epoch_ms: int) -> int:
    """The leader's clock in the time zone of the log, and on the log's day if it has no dates."""
    if line.time_ms is None:
        return epoch_ms
    return epoch_ms - round((epoch_ms - line.time_ms) / _QUARTER_MS) * _QUARTER_MS


def _written(pending: RecordedRound, written: NewAssignments) -> RecordedRound:
    """Assignments from the assignor's text; bytes replace them if they are logged, too."""
    if written.sent:
        return attrs.evolve(pending, assignments=dict(written.sent))
    assignments = {}
    for member, owned in written.owned:
        subscription = pending.subscriptions.get(member)
        before = Jobs() if subscription is None else subscription.owned
        new, gone = owned.minus(before), before.minus(owned)
        assignments[member] = AssignmentMessage(
            _SESSIONED, 0, pending.leader, "", 0, new.connectors, new.tasks, gone.connectors, gone.tasks
        )
    return attrs.evolve(pending, assignments=assignments, is_delay_known=False)
