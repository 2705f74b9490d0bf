"""A worker's membership in its group: when it joins, and which state it drops after a refusal.

Kafka: ``WorkerCoordinator``.
"""

from __future__ import annotations

import attrs

from assignment_api.connect import NO_GENERATION, NO_JOBS, ConnectProtocol, Jobs
from assignor_lab.kafka.coordinator import JoinReply, Refused, Synced
from assignor_lab.kafka.herder.assignment import Assignment, DowngradeRule, held_after, jobs_to_stop

__all__ = ["MembershipState"]

#: Refusals that invalidate a member id.
_NO_MEMBER = ("unknown_member", "illegal_generation")


@attrs.define
class MembershipState:
    """A worker's knowledge of its group.

    Drivers report events and read the next step.

    Args:
        member_id: Its member id; ``None``: it is no member, or does not know.
        generation: The generation of its last join.
        last_completed: The generation of its last applied assignment.
        protocol: Protocol of that generation.
        assignment: Its last assignment; ``None`` = none, or it has stopped all jobs since.
        held: All its jobs; ``None`` as for ``assignment``.
        group_says_rejoin: A heartbeat reported a rebalance, or an unknown member.
        wants_another_round: As leader: its assignor requested another round.
        reason: Cause of the requested rejoin.
    """

    member_id: str | None = None
    generation: int = NO_GENERATION
    last_completed: int = NO_GENERATION
    protocol: ConnectProtocol | None = None
    assignment: Assignment | None = None
    held: Jobs | None = None
    group_says_rejoin: bool = False
    rejoin_requested: bool = False
    wants_another_round: bool = False
    reason: str = ""

    # --- state ------------------------------------------------------------------------------------------

    @property
    def has_assignment(self) -> bool:
        return self.assignment is not None and not self.assignment.failed

    @property
    def needs_join(self) -> bool:
        """True if the worker must join before any other step."""
        return (
            self.group_says_rejoin or self.rejoin_requested or self.member_id is None or not self.has_assignment
        )  # fmt: skip

    @property
    def is_leader(self) -> bool:
        """True if it leads by its present assignment. A leader leads on during a rebalance."""
        return (
            self.assignment is not None and not self.assignment.failed and self.assignment.leader_id == self.member_id
        )

    @property
    def leader(self) -> str | None:
        return None if self.assignment is None or self.assignment.failed else self.assignment.leader

    @property
    def stops_all_to_join(self) -> bool:
        """True if all its jobs stop before it joins: after a round of ``eager``."""
        return self.protocol is ConnectProtocol.EAGER and self.held is not None and self.has_assignment

    # --- joining ----------------------------------------------------------------------------------------

    def joining(self) -> None:
        """Start a join, which settles the requests of earlier heartbeats."""
        self.group_says_rejoin = False

    def joined(self, answer: JoinReply) -> None:
        self.member_id, self.generation = answer.member_id, answer.generation

    def refused(self, answer: Refused | None) -> bool:
        """A join or sync was refused (``None``: no connection); returns true if no retry can succeed."""
        if answer is not None and answer.reason in _NO_MEMBER:
            self.member_id = None
        self.rejoin_requested = True
        return answer is not None and answer.reason == "inconsistent_protocol"

    def receive(self, synced: Synced, assignment: Assignment, downgrade: DowngradeRule) -> Jobs:
        """Receive an assignment; returns the jobs that the worker stops before :meth:`take`."""
        # This round settles requests of earlier heartbeats.
        self.group_says_rejoin = False
        before, self.protocol = self.protocol, synced.protocol
        self.rejoin_requested, self.wants_another_round = self.wants_another_round, False
        self.reason = "its assignor needs another round" if self.rejoin_requested else ""
        return jobs_to_stop(assignment, self.held, before, synced.protocol, downgrade)

    def take(self, synced: Synced, assignment: Assignment) -> None:
        """Apply an assignment, after the revoked jobs have stopped."""
        self.held = held_after(assignment, self.held, synced.protocol)
        self.assignment, self.last_completed = assignment, synced.generation

    # --- afterwards -------------------------------------------------------------------------------------

    def request_rejoin(self, reason: str = "") -> None:
        self.rejoin_requested, self.reason = True, reason

    def follow_revocations(self) -> bool:
        """True if the assignment, now carried out, revoked any job: then the worker rejoins.

        Kafka: ``DistributedHerder.handleRebalanceCompleted``.
        """
        if self.assignment is None or not len(self.assignment.revoked):
            return False
        self.assignment = attrs.evolve(self.assignment, revoked=NO_JOBS)
        self.request_rejoin("it has stopped its revoked jobs")
        return True

    def heartbeat_answered(self, answer: str) -> bool:
        """Handle ``ok``, ``rebalancing`` or ``unknown_member``; returns whether the herder must act."""
        if answer == "unknown_member":
            self.member_id = None
        if answer == "ok":
            return False
        self.group_says_rejoin = True
        return True

    def forget_everything(self) -> None:
        """Drop all jobs, as if none had ever been assigned: the worker has stopped them."""
        self.assignment = self.held = None
