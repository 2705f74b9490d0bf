"""Passes recorded rebalances to our assignors, and compares their assignments with those of Kafka's leader.

As in Kafka, one assignor object serves all rebalances that one worker process led. Its input: the leader's log and the
members' subscription bytes. The expected assignments: the bytes that the leader sent. Under an incremental protocol
these are differences.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

import attrs

from assignment_api.connect import (
    MAX_DELAY_KEY,
    WILDCARD,
    ConfiguredJobs,
    ConnectAssignment,
    ConnectAssignor,
    ConnectProtocol,
    Jobs,
    Rebalance,
    Worker,
)
from assignment_api.errors import AssignorLabError
from assignor_lab.capture.logs.connect.rounds import ReceivedAssignment, RecordedRound, WorkerLife
from assignor_lab.kafka.wire.connect import CONFIG_MISMATCH, AssignmentMessage, encode_connect_assignment

__all__ = ["ASSIGNOR_OF", "ComparedRound", "Departure", "DepartureKind", "received_as_answered", "replay"]

#: Kafka's assignor of each protocol; for ``static`` the one that a leader would use.
ASSIGNOR_OF: Mapping[ConnectProtocol, str] = {
    ConnectProtocol.EAGER: "connect_eager",
    ConnectProtocol.COMPATIBLE: "connect_incremental",
    ConnectProtocol.SESSIONED: "connect_incremental",
    ConnectProtocol.STATIC: "connect_static",
}


class DepartureKind(enum.Enum):
    """Reason for a round without comparison, or kind of its difference.

    The value is a sentence for people.
    """

    CONFIG_MISMATCH = (
        "the leader had not read the configuration far enough and reported that to every member; no assignor ran"
    )
    UNFINISHED = "the generation ended before the leader handed in its assignments"
    UNREADABLE = "the log has only a part of the round"
    BEGINNING_MISSING = (
        "the log begins after the start of its worker, whose assignor may remember earlier rounds; the first calm "
        "round begins the comparison"
    )
    AFTER_GAP = (
        "lines of this or an earlier round are not in the log, so the memory of the leader's assignor is unknown; the "
        "next calm round continues the comparison"
    )
    DELAY_UNKNOWN = (
        "the log has no scheduled.rebalance.max.delay.ms, on which this round depends: give it with -c or --config"
    )
    FAILED = "our assignor raised an error"
    CLOCK = "the delay differs by the time between the leader's look at its clock and the line in its log"
    DELAY = "the delay differs"
    JOBS = "the assigned or revoked jobs differ"

    @property
    def is_difference(self) -> bool:
        return self in (DepartureKind.FAILED, DepartureKind.DELAY, DepartureKind.JOBS)

    @property
    def is_compared(self) -> bool:
        return self in (DepartureKind.CLOCK, DepartureKind.DELAY, DepartureKind.JOBS)


@attrs.frozen
class Departure:
    """A difference from the recording, with its reason."""

    kind: DepartureKind
    detail: str = ""


@attrs.frozen
class ComparedRound:
    """A recorded rebalance and our assignment.

    Args:
        departure: ``None`` if the assignments are the same.
        same_bytes: True if the wire form is the same too, order of lists included.
        owned_after: Jobs after our assignment; empty without one.
    """

    life: WorkerLife
    recorded: RecordedRound
    departure: Departure | None
    same_bytes: bool = False
    owned_after: Mapping[str, Jobs] = attrs.field(factory=dict)

    @property
    def is_compared(self) -> bool:
        return self.departure is None or self.departure.kind.is_compared

    @property
    def is_same(self) -> bool:
        """The delay may differ within the accuracy of the log's clock."""
        return self.departure is None or self.departure.kind is DepartureKind.CLOCK


#: Tolerance between the log's time and the leader's clock.
CLOCK_TOLERANCE_MS = 50


def replay(
    life: WorkerLife,
    assignor: Callable[[str, Mapping[str, Any]], ConnectAssignor],
    *,
    is_delay_given: bool = False,
) -> list[ComparedRound]:
    """Rounds by time.

    Args:
        is_delay_given: True if the configuration has ``scheduled.rebalance.max.delay.ms``.
    """
    return _Replay(life, assignor, is_delay_given or life.max_delay_ms is not None).rounds()


def received_as_answered(
    lives: Iterable[WorkerLife], compared: Iterable[ComparedRound]
) -> list[tuple[ReceivedAssignment, bool]]:
    """Agreement of the workers' logged jobs with our assignments, in the order of the logs."""
    answers = {
        (found.life.group, found.recorded.generation, member): jobs.sorted()
        for found in compared
        for member, jobs in found.owned_after.items()
    }
    return [
        (received, answers[key] == received.owned.sorted())
        for life in lives
        for received in life.received
        if (key := (life.group, received.generation, received.member)) in answers
    ]


@attrs.define
class _Replay:
    life: WorkerLife
    make: Callable[[str, Mapping[str, Any]], ConnectAssignor]
    knows_delay: bool
    made: dict[str, ConnectAssignor] = attrs.field(factory=dict)
    #: Reason for which the memory of the leader's assignor is unknown; ``None``: ours has the same.
    unknown: DepartureKind | None = None
    #: True if the lengths of earlier pauses between revocations are unknown.
    forgets_pauses: bool = False
    #: True if lines since the last calm round may be missing.
    doubts: bool = False

    def rounds(self) -> list[ComparedRound]:
        if not self.life.from_start:
            self._forget(DepartureKind.BEGINNING_MISSING)
        return [self._compared(recorded) for recorded in self.life.rounds]

    def _forget(self, reason: DepartureKind) -> None:
        self.unknown, self.forgets_pauses = self.unknown or reason, True
        self.made.clear()

    def _compared(self, recorded: RecordedRound) -> ComparedRound:
        if recorded.follows_gap and recorded.protocol.is_incremental:
            self._forget(DepartureKind.AFTER_GAP)
        self.doubts |= recorded.is_doubtful or (recorded.lost is None and recorded.protocol.is_incremental)
        obstacle = _obstacle(recorded)
        if obstacle is not None and obstacle.kind is not DepartureKind.UNFINISHED:
            if obstacle.kind is DepartureKind.UNREADABLE:
                self._forget(DepartureKind.AFTER_GAP)
            return ComparedRound(self.life, recorded, obstacle)
        rebalance = _rebalance(recorded)
        if isinstance(rebalance, Departure):
            self._forget(DepartureKind.AFTER_GAP)
            return ComparedRound(self.life, recorded, rebalance)
        if self.unknown is not None and not (_is_calm(recorded) or not recorded.protocol.is_incremental):
            return ComparedRound(self.life, recorded, Departure(self.unknown))
        try:
            found = self._answered(recorded, rebalance)
        except AssignorLabError as error:
            return ComparedRound(self.life, recorded, Departure(DepartureKind.FAILED, str(error)))
        if found is None:
            self.doubts = True
            return ComparedRound(self.life, recorded, obstacle)
        if self.unknown is not None and not found.is_same:
            self.made.clear()
            return ComparedRound(self.life, recorded, Departure(self.unknown))
        self.unknown = None
        if found.is_same:
            self.doubts &= not _is_calm(recorded)
        elif self.doubts or (self.forgets_pauses and _has_pause(recorded, found.owned_after)):
            # The length of a pause depends on the revocations before a gap.
            self._forget(DepartureKind.AFTER_GAP)
            return ComparedRound(self.life, recorded, Departure(DepartureKind.AFTER_GAP))
        elif not self.knows_delay and _has_pause(recorded, found.owned_after):
            self._forget(DepartureKind.AFTER_GAP)
            return ComparedRound(self.life, recorded, Departure(DepartureKind.DELAY_UNKNOWN))
        return found

    def _answered(self, recorded: RecordedRound, rebalance: Rebalance) -> ComparedRound | None:
        """``None`` if the leader sent nothing.

        A time without a fraction stands for a whole second: any of its moments may be the leader's.
        """
        assignor = self._assignor(recorded.protocol)
        moments = [rebalance.time_ms]
        if recorded.resolution_ms > 1 and not recorded.time_is_exact:
            moments = [rebalance.time_ms + part * (recorded.resolution_ms - 1) // 2 for part in range(3)]
        first: tuple[ComparedRound | None, ConnectAssignor] | None = None
        for time_ms in moments:
            tried = assignor if len(moments) == 1 else deepcopy(assignor)
            found = self._at(recorded, attrs.evolve(rebalance, time_ms=time_ms), tried)
            if first is None or (found is not None and found.is_same):
                first = found, tried
            if found is None or found.is_same:
                break
        assert first is not None
        self.made[ASSIGNOR_OF[recorded.protocol]] = first[1]
        return first[0]

    def _at(self, recorded: RecordedRound, rebalance: Rebalance, assignor: ConnectAssignor) -> ComparedRound | None:
        answer = assignor.assign(rebalance)
        if recorded.assignments is None:
            return None
        return ComparedRound(
            self.life,
            recorded,
            _departure(recorded, recorded.assignments, answer),
            _same_bytes(recorded.assignments, answer),
            answer.owned_after(rebalance),
        )

    def _assignor(self, protocol: ConnectProtocol) -> ConnectAssignor:
        name = ASSIGNOR_OF[protocol]
        if name not in self.made:
            delay = self.life.max_delay_ms
            self.made[name] = self.make(name, {} if delay is None else {MAX_DELAY_KEY: delay})
        return self.made[name]


def _is_calm(recorded: RecordedRound) -> bool:
    """True if the answer, and the assignor's memory afterwards, depend on no earlier round.

    No job is lost, waits or is revoked. Without the line of lost jobs, no job is new either.
    """
    messages = list((recorded.assignments or {}).values())
    if not messages or (not recorded.is_delay_known and recorded.lost is None):
        return False
    if any(message.delay_ms or len(message.revoked) for message in messages):
        return False
    if recorded.lost is not None:
        return not len(recorded.lost)
    return not any(len(message.assigned) for message in messages)


def _has_pause(recorded: RecordedRound, ours: Mapping[str, Jobs]) -> bool:
    """True if this or our answer revokes jobs, or waits."""
    for member, message in (recorded.assignments or {}).items():
        subscription = recorded.subscriptions.get(member)
        owned = Jobs() if subscription is None else subscription.owned
        if message.delay_ms or len(message.revoked) or len(owned.minus(ours.get(member, owned))):
            return True
    return False


def _obstacle(recorded: RecordedRound) -> Departure | None:
    if recorded.problem:
        return Departure(DepartureKind.UNREADABLE, recorded.problem)
    if recorded.assignments is None:
        kind = DepartureKind.UNFINISHED if recorded.assignor_ran else DepartureKind.CONFIG_MISMATCH
        return Departure(kind)
    errors = [message.error for message in recorded.assignments.values()]
    if not recorded.assignor_ran or CONFIG_MISMATCH in errors:
        return Departure(DepartureKind.CONFIG_MISMATCH)
    return None


def _rebalance(recorded: RecordedRound) -> Rebalance | Departure:
    configured = recorded.configured
    if configured is None and not recorded.protocol.is_incremental and recorded.assignments is not None:
        configured = _all_assigned(recorded.assignments)
        if configured is None:
            return Departure(DepartureKind.UNREADABLE, "tasks are missing among those that were assigned")
    if configured is None:
        return Departure(DepartureKind.UNREADABLE, "the configured jobs are not in the log")
    if recorded.protocol.is_incremental and recorded.time_ms is None:
        return Departure(DepartureKind.UNREADABLE, "the lines have no time, or no date")
    try:
        return Rebalance(
            configured,
            tuple(
                Worker(member, subscription.owned, subscription.static or WILDCARD, url=subscription.url)
                for member, subscription in recorded.subscriptions.items()
            ),
            recorded.protocol,
            recorded.time_ms or 1,
            recorded.generation,
            recorded.last_completed,
            recorded.previous_protocol,
        )
    except AssignorLabError as error:
        return Departure(DepartureKind.UNREADABLE, str(error))


def _all_assigned(assignments: Mapping[str, AssignmentMessage]) -> ConfiguredJobs | None:
    # The eager leader places every job each time; only the distribution is comparable.
    tasks: dict[str, set[int]] = {}
    for message in assignments.values():
        for connector in message.connectors:
            tasks.setdefault(connector, set())
        for task in message.tasks:
            tasks.setdefault(task.connector, set()).add(task.task)
    if any(numbers != set(range(len(numbers))) for numbers in tasks.values()):
        return None
    return ConfiguredJobs({connector: len(numbers) for connector, numbers in tasks.items()})


def _departure(
    recorded: RecordedRound, assignments: Mapping[str, AssignmentMessage], answer: ConnectAssignment
) -> Departure | None:
    if set(answer.workers) != set(assignments):
        return Departure(DepartureKind.JOBS, "other members than recorded")
    for member, message in assignments.items():
        ours = answer.workers[member]
        for part, theirs, mine in (
            ("assigned", message.assigned, ours.assigned),
            ("revoked", message.revoked, ours.revoked),
        ):
            if theirs.sorted() != mine.sorted():
                return Departure(DepartureKind.JOBS, f"{member}: {part} {_shown(mine)}, recorded {_shown(theirs)}")
    if not recorded.is_delay_known:
        return None
    delays = [message.delay_ms for message in assignments.values()]
    gap = max(abs(answer.delay_ms - delay) for delay in delays)
    if gap == 0:
        return None
    known = not recorded.time_is_exact and gap <= CLOCK_TOLERANCE_MS + recorded.resolution_ms - 1
    kind = DepartureKind.CLOCK if known else DepartureKind.DELAY
    return Departure(kind, f"{answer.delay_ms} ms, recorded {delays[0]} ms")


def _shown(jobs: Jobs) -> str:
    ordered = jobs.sorted()
    return "[" + ", ".join([*ordered.connectors, *map(str, ordered.tasks)]) + "]"


def _same_bytes(assignments: Mapping[str, AssignmentMessage], answer: ConnectAssignment) -> bool:
    return all(
        member in answer.workers
        and encode_connect_assignment(message)
        == encode_connect_assignment(
            attrs.evolve(
                message,
                connectors=answer.workers[member].assigned.connectors,
                tasks=answer.workers[member].assigned.tasks,
                revoked_connectors=answer.workers[member].revoked.connectors,
                revoked_tasks=answer.workers[member].revoked.tasks,
                delay_ms=answer.delay_ms,
            )
        )
        for member, message in assignments.items()
    )
