"""Generations of a Connect group, as responses of brokers or the workers' logs describe them."""

from __future__ import annotations

import attrs

from assignment_api.connect import ConnectProtocol, Jobs
from assignor_lab.kafka.wire.connect import AssignmentMessage, SubscriptionMessage

__all__ = ["DescribedRound", "DescribedWorker"]


@attrs.frozen
class DescribedWorker:
    """One worker of a stable group.

    Args:
        assignment: A difference from version 1 on.
    """

    member_id: str
    client_id: str
    subscription: SubscriptionMessage
    assignment: AssignmentMessage

    @property
    def owned_after(self) -> Jobs:
        return self.subscription.owned.minus(self.assignment.revoked).plus(self.assignment.assigned)


@attrs.frozen
class DescribedRound:
    """A generation of a Connect group: subscriptions and assignments."""

    group: str
    protocol: ConnectProtocol
    members: tuple[DescribedWorker, ...]

    @property
    def leader(self) -> str:
        return self.members[0].assignment.leader

    @property
    def delay_ms(self) -> int:
        return max(member.assignment.delay_ms for member in self.members)

    @property
    def is_mismatch(self) -> bool:
        """The leader had not read the configuration far enough: no assignor ran."""
        return any(member.assignment.error for member in self.members)
