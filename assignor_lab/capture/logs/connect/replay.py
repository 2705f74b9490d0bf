"""Passes recorded rebalances to our assignors, and compares their assignments with those of Kafka's leader.

As in Kafka, one assignor object serves all rebalances that one worker process led. Its input: the leader's log and the
members' subscription bytes. The expected assignments: the bytes that the leader sent. Under an incremental protocol
these are differences.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
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
    BEGINNING_MISSING = "the log begins after the start of its worker, whose assignor may remember earlier rounds"
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


def replay(life: WorkerLife, assignor: Callable[[str, Mapping[str, Any]], ConnectAssignor]) -> list[ComparedRound]:
    return _Replay(life, assignor).rounds()


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
    made: dict[str, ConnectAssignor] = attrs.field(factory=dict)

    def rounds(self) -> list[ComparedRound]:
        return [self._compared(recorded) for recorded in self.life.rounds]

    def _compared(self, recorded: RecordedRound) -> ComparedRound:
        if not self.life.from_start:
            return ComparedRound(self.life, recorded, Departure(DepartureKind.BEGINNING_MISSING))
        obstacle = _obstacle(recorded)
        if obstacle is not None and obstacle.kind is not DepartureKind.UNFINISHED:
            return ComparedRound(self.life, recorded, obstacle)
        rebalance = _rebalance(recorded)
        if isinstance(rebalance, Departure):
            return ComparedRound(self.life, recorded, rebalance)
        try:
            answer = self._assignor(recorded.protocol).assign(rebalance)
        except AssignorLabError as error:
            return ComparedRound(self.life, recorded, Departure(DepartureKind.FAILED, str(error)))
        if recorded.assignments is None:
            return ComparedRound(self.life, recorded, obstacle)
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
        return Departure(DepartureKind.UNREADABLE, "the lines have no time")
    try:
        return Rebalance(
            configured,
            tuple(
                Worker(member, subscription.owned, subscription.static or WILDCARD)
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
    delays = [message.delay_ms for message in assignments.values()]
    gap = max(abs(answer.delay_ms - delay) for delay in delays)
    if gap == 0:
        return None
    known = not recorded.time_is_exact and gap <= CLOCK_TOLERANCE_MS
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
