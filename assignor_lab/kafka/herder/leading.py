"""The leader of a round: what it lets its assignor decide, and what it tells the members.

Kafka: ``WorkerCoordinator``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from assignment_api.connect import (
    ConfiguredJobs,
    ConnectAssignment,
    ConnectorTaskId,
    Rebalance,
    Worker,
    WorkerAssignment,
)
from assignor_lab.kafka.coordinator import Joined
from assignor_lab.kafka.herder.assignment import Assignment
from assignor_lab.kafka.herder.membership import MembershipState

__all__ = ["LeaderState", "leader_state", "round_to_decide", "told_to_members"]


@attrs.frozen
class LeaderState:
    """What the leader of a generation knows (Kafka: ``ExtendedWorkerState``). It is forgotten when a rebalance begins.

    Args:
        urls: Member id to URL.
        owners: Connector or task to member id.
    """

    urls: Mapping[str, str]
    owners: Mapping[str | ConnectorTaskId, str]

    def owner_url(self, job: str | ConnectorTaskId) -> str | None:
        """URL of who has a job."""
        return self.urls.get(self.owners.get(job, ""))


def round_to_decide(
    state: MembershipState, joined: Joined, workers: Sequence[Worker], jobs: ConfiguredJobs, now_ms: int
) -> Rebalance:
    """What the leader's assignor is asked.

    Args:
        state: The leader's membership.
        joined: The answer to its join.
        workers: The members as they reported, in the coordinator's order.
        jobs: What is configured.
        now_ms: What the leader's clock shows.
    """
    return Rebalance(jobs, workers, joined.protocol, now_ms, joined.generation, state.last_completed, state.protocol)


def told_to_members(
    members: Iterable[str], leader_id: str, leader: str, offset: int, answer: ConnectAssignment | None
) -> dict[str, Assignment]:
    """What each member is told.

    Args:
        members: Member ids.
        leader_id: The leader's.
        leader: Where it is.
        offset: The place in the config log by which the round was decided.
        answer: What the assignor decided; ``None``: the round fails for all.
    """
    if answer is None:
        return dict.fromkeys(members, Assignment(leader_id, leader, offset, failed=True))
    nothing = WorkerAssignment()
    told = {}
    for member in members:
        share = answer.workers.get(member, nothing)
        told[member] = Assignment(leader_id, leader, offset, share.assigned, share.revoked, answer.delay_ms)
    return told


def leader_state(urls: Mapping[str, str], rebalance: Rebalance, answer: ConnectAssignment) -> LeaderState:
    """Who has what after a round; ``urls`` is member id to URL."""
    owners: dict[str | ConnectorTaskId, str] = {}
    for member, jobs in answer.owned_after(rebalance).items():
        owners.update(dict.fromkeys((*jobs.connectors, *jobs.tasks), member))
    return LeaderState(urls, owners)
