"""Effect of an assignment on a worker: the jobs that it stops first, and its jobs afterwards.

Kafka: ``WorkerCoordinator``.
"""

from __future__ import annotations

from typing import Literal

import attrs

from assignment_api.connect import NO_JOBS, ConnectProtocol, Jobs

__all__ = ["Assignment", "DowngradeRule", "held_after", "jobs_to_stop"]

#: Return of a group to ``eager``: ``kafka`` stops nothing (KAFKA-13816), ``kip415`` stops jobs that move elsewhere.
DowngradeRule = Literal["kafka", "kip415"]


@attrs.frozen
class Assignment:
    """The leader's message to a member (Kafka: ``ExtendedAssignment``).

    Under an incremental protocol it is a difference: new and revoked jobs.

    Args:
        offset: The leader's position in the config log.
        delay_ms: Time until all rejoin; 0 = no delayed rebalance.
        failed: The leader could not read the config log as far as a member has.
    """

    leader_id: str
    leader: str
    offset: int
    assigned: Jobs = NO_JOBS
    revoked: Jobs = NO_JOBS
    delay_ms: int = 0
    failed: bool = False


def jobs_to_stop(
    assignment: Assignment,
    held: Jobs | None,
    before: ConnectProtocol | None,
    now: ConnectProtocol,
    downgrade: DowngradeRule,
) -> Jobs:
    """Jobs that a worker stops before it takes an assignment.

    Args:
        before: Protocol of the worker's last round; ``None`` = it had none.
        downgrade: Rule for a return to ``eager``.
    """
    if now.is_incremental:
        return assignment.revoked
    if downgrade == "kip415" and before is not None and before.is_incremental and held is not None:
        return held.minus(assignment.assigned)
    return NO_JOBS


def held_after(assignment: Assignment, held: Jobs | None, protocol: ConnectProtocol) -> Jobs:
    """Jobs of a worker after it has taken an assignment: the new jobs, then the kept ones."""
    if not protocol.is_incremental or held is None:
        return assignment.assigned
    kept = held.minus(assignment.revoked)
    return assignment.assigned.plus(kept) if len(assignment.assigned) else kept
