"""Leader of a round: its assignor's input, and its messages to the members.

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
from assignor_lab.kafka.coordinator import JoinReply
from assignor_lab.kafka.herder.assignment import Assignment
from assignor_lab.kafka.herder.membership import MembershipState

__all__ = ["LeaderState", "leader_state", "round_to_decide", "assignments_to_members"]


@attrs.frozen
class LeaderState:
    """Knowledge of a generation's leader (Kafka: ``ExtendedWorkerState``).

    Dropped when a rebalance begins.

    Args:
        owners: Connector or task to member id.
    """

    urls: Mapping[str, str]
    owners: Mapping[str | ConnectorTaskId, str]

    def owner_url(self, job: str | ConnectorTaskId) -> str | None:
        return self.urls.get(self.owners.get(job, ""))


def round_to_decide(
    state: MembershipState, joined: JoinReply, workers: Sequence[Worker], jobs: ConfiguredJobs, now_ms: int
) -> Rebalance:
    return Rebalance(jobs, workers, joined.protocol, now_ms, joined.generation, state.last_completed, state.protocol)


def assignments_to_members(
    members: Iterable[str], leader_id: str, leader: str, offset: int, answer: ConnectAssignment | None
) -> dict[str, Assignment]:
    """The assignment of each member.

    Args:
        answer: The assignor's answer; ``None``: the round fails for all.
    """
    if answer is None:
        return dict.fromkeys(members, Assignment(leader_id, leader, offset, failed=True))
    nothing = WorkerAssignment()
    assignments = {}
    for member in members:
        share = answer.workers.get(member, nothing)
        assignments[member] = Assignment(leader_id, leader, offset, share.assigned, share.revoked, answer.delay_ms)
    return assignments


def leader_state(urls: Mapping[str, str], rebalance: Rebalance, answer: ConnectAssignment) -> LeaderState:
    """Owners after a round; ``urls`` is member id to URL."""
    owners: dict[str | ConnectorTaskId, str] = {}
    for member, jobs in answer.owned_after(rebalance).items():
        owners.update(dict.fromkeys((*jobs.connectors, *jobs.tasks), member))
    return LeaderState(urls, owners)
