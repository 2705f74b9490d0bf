"""A worker's membership in its group: when it joins, and what it forgets when it is refused.

Kafka: ``WorkerCoordinator``.
"""

from __future__ import annotations

import attrs

from assignment_api.connect import NO_GENERATION, NO_JOBS, ConnectProtocol, Jobs
from assignor_lab.kafka.coordinator import Joined, Refused, Synced
from assignor_lab.kafka.herder.assignment import Assignment, DowngradeRule, held_after, jobs_to_stop

__all__ = ["MembershipState"]

#: Refusals after which a member id is worth nothing.
_NO_MEMBER = ("unknown_member", "illegal_generation")


@attrs.define
class MembershipState:
    """What a worker knows of its group. Drivers tell it what has happened, and ask it what to do.

    Args:
        member_id: Its member id; ``None``: it is no member, or does not know.
        generation: The generation that it joined last.
        last_completed: The last generation whose assignment it took.
        protocol: What that generation spoke.
        told: What it was told last; ``None`` = nothing, or it has stopped everything since.
        held: Everything that is assigned to it; ``None`` as for ``told``.
        group_says_rejoin: A heartbeat said that a rebalance is on, or that it is no member.
        rejoin_requested: Its herder wants to join again.
        wants_another_round: The round that it leads ends with its assignor's wish for another.
    """

    member_id: str | None = None
    generation: int = NO_GENERATION
    last_completed: int = NO_GENERATION
    protocol: ConnectProtocol | None = None
    told: Assignment | None = None
    held: Jobs | None = None
    group_says_rejoin: bool = False
    rejoin_requested: bool = False
    wants_another_round: bool = False

    # --- what it means ----------------------------------------------------------------------------------

    @property
    def has_assignment(self) -> bool:
        """Whether it has an assignment that did not fail."""
        return self.told is not None and not self.told.failed

    @property
    def needs_join(self) -> bool:
        """Whether the worker has to join before it does anything else."""
        return (
            self.group_says_rejoin or self.rejoin_requested or self.member_id is None or not self.has_assignment
        )  # fmt: skip

    @property
    def is_leader(self) -> bool:
        """Whether it leads, by the assignment that it has. Leaders lead on while a rebalance is on."""
        return self.told is not None and not self.told.failed and self.told.leader_id == self.member_id

    @property
    def leader(self) -> str | None:
        """Where the leader is, by the assignment that it has."""
        return None if self.told is None or self.told.failed else self.told.leader

    @property
    def stops_all_to_join(self) -> bool:
        """Whether everything that it holds stops before it joins: after a round of ``eager``."""
        return self.protocol is ConnectProtocol.EAGER and self.held is not None and self.has_assignment

    # --- joining ----------------------------------------------------------------------------------------

    def joining(self) -> None:
        """It is about to join: what heartbeats have said until now is being done."""
        self.group_says_rejoin = False

    def joined(self, answer: Joined) -> None:
        """It has joined."""
        self.member_id, self.generation = answer.member_id, answer.generation

    def refused(self, answer: Refused | None) -> bool:
        """A join or sync was refused (``None``: there was no connection); true if no other try will ever succeed."""
        if answer is not None and answer.reason in _NO_MEMBER:
            self.member_id = None
        self.rejoin_requested = True
        return answer is not None and answer.reason == "inconsistent_protocol"

    def receive(self, synced: Synced, told: Assignment, downgrade: DowngradeRule) -> Jobs:
        """An assignment has come; what the worker stops before :meth:`take`."""
        # What heartbeats said on the way here has been done.
        self.group_says_rejoin = False
        before, self.protocol = self.protocol, synced.protocol
        self.rejoin_requested, self.wants_another_round = self.wants_another_round, False
        return jobs_to_stop(told, self.held, before, synced.protocol, downgrade)

    def take(self, synced: Synced, told: Assignment) -> None:
        """It takes an assignment, having stopped what it had to."""
        self.held = held_after(told, self.held, synced.protocol)
        self.told, self.last_completed = told, synced.generation

    # --- afterwards -------------------------------------------------------------------------------------

    def request_rejoin(self) -> None:
        """Its herder wants to join again."""
        self.rejoin_requested = True

    def follow_revocations(self) -> bool:
        """Whether the assignment, now carried out, revoked anything: then the worker joins again.

        Kafka: ``DistributedHerder.handleRebalanceCompleted``.
        """
        if self.told is None or not len(self.told.revoked):
            return False
        self.told = attrs.evolve(self.told, revoked=NO_JOBS)
        self.rejoin_requested = True
        return True

    def heartbeat_answered(self, answer: str) -> bool:
        """``ok``, ``rebalancing`` or ``unknown_member``; whether the herder has something to do about it."""
        if answer == "unknown_member":
            self.member_id = None
        if answer == "ok":
            return False
        self.group_says_rejoin = True
        return True

    def forget_everything(self) -> None:
        """It holds nothing any more: it has stopped everything, as if it had never been assigned anything."""
        self.told = self.held = None
