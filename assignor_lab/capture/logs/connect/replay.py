"""Gives recorded rebalances to our assignors, and compares what they answer with what Kafka's leader sent.

One assignor object lives through all the rebalances that one process of a worker led, as Kafka's does. What it is
given comes from the leader's log, the members' subscriptions from their bytes; what it should answer comes from the
bytes that the leader handed in. Under an incremental protocol these are a difference: newly assigned and revoked.
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

#: The assignor that is Kafka's for a protocol; for ``static`` the one that would be.
ASSIGNOR_OF: Mapping[ConnectProtocol, str] = {
    ConnectProtocol.EAGER: "connect_eager",
    ConnectProtocol.COMPATIBLE: "connect_incremental",
    ConnectProtocol.SESSIONED: "connect_incremental",
    ConnectProtocol.STATIC: "connect_static",
}


class DepartureKind(enum.Enum):
    """Why a round was not compared, or in what it differs. The value is a sentence for people."""

    CONFIG_MISMATCH = (
        "the leader had not read the configuration far enough and told everybody so; no assignor was asked"
    )
    UNFINISHED = "the generation ended before the leader handed in its assignments"
    UNREADABLE = "the log does not tell the round in full"
    BEGINNING_MISSING = "the log begins after its worker, whose assignor may remember what we cannot know"
    FAILED = "our assignor raised an error"
    CLOCK = "the delay differs by the time between the leader's look at its clock and the line in its log"
    DELAY = "the delay differs"
    JOBS = "the assigned or revoked jobs differ"

    @property
    def is_difference(self) -> bool:
        """Whether our assignor answered otherwise than Kafka's, and nothing in the recording accounts for it."""
        return self in (DepartureKind.FAILED, DepartureKind.DELAY, DepartureKind.JOBS)

    @property
    def is_compared(self) -> bool:
        """Whether an answer stood beside the recorded one."""
        return self in (DepartureKind.CLOCK, DepartureKind.DELAY, DepartureKind.JOBS)


@attrs.frozen
class Departure:
    """What is not as recorded, and why.

    Args:
        kind: Name of the reason.
        detail: What exactly.
    """

    kind: DepartureKind
    detail: str = ""


@attrs.frozen
class ComparedRound:
    """A recorded rebalance beside our answer.

    Args:
        life: Whose rebalance it is.
        recorded: The rebalance.
        departure: What is not as recorded; ``None`` if the answers are the same.
        same_bytes: Whether our answer, written for the wire, is the recorded bytes, order of lists included.
        owned_after: Member id to what it is to run after our answer; empty if there is none.
    """

    life: WorkerLife
    recorded: RecordedRound
    departure: Departure | None
    same_bytes: bool = False
    owned_after: Mapping[str, Jobs] = attrs.field(factory=dict)

    @property
    def is_compared(self) -> bool:
        """Whether our answer was compared with a recorded one."""
        return self.departure is None or self.departure.kind.is_compared

    @property
    def is_same(self) -> bool:
        """Whether all jobs are as recorded, and the delay within what the log's clock can tell."""
        return self.departure is None or self.departure.kind is DepartureKind.CLOCK


#: The log's time may be that much off the leader's clock, in milliseconds.
CLOCK_TOLERANCE_MS = 50


def replay(life: WorkerLife, assignor: Callable[[str, Mapping[str, Any]], ConnectAssignor]) -> list[ComparedRound]:
    """Compares all rounds of a worker's life.

    Args:
        life: What the worker's process led.
        assignor: Makes a new, configured assignor from its name and what the log tells of the leader's configuration.

    Returns:
        An entry for each round, in order.
    """
    return _Replay(life, assignor).rounds()


def received_as_answered(
    lives: Iterable[WorkerLife], compared: Iterable[ComparedRound]
) -> list[tuple[ReceivedAssignment, bool]]:
    """Whether workers say that they run what our answers would have them run.

    Args:
        lives: Processes of all workers.
        compared: Rounds of all leaders.

    Returns:
        An entry for each generation of each worker that one of the rounds answers, in the order of the logs.
    """
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
    # The eager leader places every job each time; how it deals them out is what there is to compare.
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
        for what, theirs, mine in (
            ("assigned", message.assigned, ours.assigned),
            ("revoked", message.revoked, ours.revoked),
        ):
            if theirs.sorted() != mine.sorted():
                return Departure(DepartureKind.JOBS, f"{member}: {what} {_shown(mine)}, recorded {_shown(theirs)}")
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
