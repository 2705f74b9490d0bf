"""An assignment as a worker takes it: what it stops before, and what it holds afterwards.

Kafka: ``WorkerCoordinator``.
"""

from __future__ import annotations

from typing import Literal

import attrs

from assignment_api.connect import NO_JOBS, ConnectProtocol, Jobs

__all__ = ["Assignment", "DowngradeRule", "held_after", "jobs_to_stop"]

#: When a group goes back to ``eager``: ``kafka`` stops nothing (KAFKA-13816), ``kip415`` stops what moves elsewhere.
DowngradeRule = Literal["kafka", "kip415"]


@attrs.frozen
class Assignment:
    """What the leader of a round tells a member (Kafka: ``ExtendedAssignment``).

    Under an incremental protocol it is a difference: what is new and what is revoked.

    Args:
        leader_id: Member id of the leader.
        leader: Where the leader is: its URL or its name.
        offset: How far the leader has read the config log.
        assigned: What the member is given.
        revoked: What is taken from it.
        delay_ms: When all join again, from now; 0 = no delayed rebalance.
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
    told: Assignment, held: Jobs | None, before: ConnectProtocol | None, now: ConnectProtocol, downgrade: DowngradeRule
) -> Jobs:
    """What a worker stops before it takes an assignment.

    Args:
        told: The assignment.
        held: What it holds.
        before: What the group spoke in the worker's last round; ``None`` = it had none.
        now: What the group speaks in this one.
        downgrade: What happens where that goes back to ``eager``.
    """
    if now.is_incremental:
        return told.revoked
    if downgrade == "kip415" and before is not None and before.is_incremental and held is not None:
        return held.minus(told.assigned)
    return NO_JOBS


def held_after(told: Assignment, held: Jobs | None, protocol: ConnectProtocol) -> Jobs:
    """What a worker holds once it has taken an assignment: the new jobs, then what it keeps."""
    if not protocol.is_incremental or held is None:
        return told.assigned
    kept = held.minus(told.revoked)
    return told.assigned.plus(kept) if len(told.assigned) else kept
