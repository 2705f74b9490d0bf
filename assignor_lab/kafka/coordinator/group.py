"""Coordinator of a Connect or Streams group, as a state machine without input or output of its own.

Kafka: ``GroupMetadataManager``.

Every call passes the present time and returns the replies to send; no call waits.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

from assignment_api.connect import ConnectProtocol
from assignor_lab.kafka.coordinator.join_phase import JoinPhase
from assignor_lab.kafka.coordinator.leader_election import LeaderElection
from assignor_lab.kafka.coordinator.member_ids import numbered_names
from assignor_lab.kafka.coordinator.members import CoordinatorMember
from assignor_lab.kafka.coordinator.requests import (
    AddressedReply,
    GroupProtocol,
    JoinReply,
    JoinRequest,
    Refused,
    Synced,
    SyncRequest,
)
from assignor_lab.kafka.coordinator.rounds import Round
from assignor_lab.kafka.coordinator.session_timeout import next_session_end, silent_members
from assignor_lab.kafka.coordinator.sync_phase import SyncPhase
from assignor_lab.kafka.wire.connect.negotiation import selected_name

__all__ = ["Coordinator", "CoordinatorState"]


class CoordinatorState(enum.Enum):
    """State of the group."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"


class Coordinator:
    """The coordinator's state of one group.

    Args:
        initial_delay_ms: Wait of an empty group for further members (``group.initial.rebalance.delay.ms``).
        expected: Number of members that form the group at once, without that delay.
        identify: Makes the id of a new member; by default its worker's name, with a number.
        first_leader: Worker that leads the group's first generation; by default the first one to join.
    """

    def __init__(
        self,
        initial_delay_ms: int,
        expected: int = 0,
        identify: Callable[[JoinRequest], str] | None = None,
        first_leader: str | None = None,
    ) -> None:
        self.state = CoordinatorState.EMPTY
        self.generation = 0
        self.protocol: GroupProtocol = ConnectProtocol.EAGER
        self.rounds: list[Round] = []
        self._members: dict[str, CoordinatorMember] = {}
        self._identify = identify or numbered_names()
        self._election = LeaderElection()
        self._first_leader = first_leader
        self._phase = JoinPhase(initial_delay_ms, expected)
        self._sync_phase = SyncPhase()

    @property
    def leader_id(self) -> str | None:
        return self._election.leader_id

    # --- requests -----------------------------------------------------------------------------------

    def join(self, now: int, request: JoinRequest) -> list[AddressedReply]:
        """A member joins; a returning static member takes its former place."""
        known = self._members.get(request.member_id) if request.member_id is not None else None
        if request.member_id is None and (replaced := self._static_member(request)) is not None:
            return self._replace(now, replaced, request)
        if request.member_id is not None and known is None:
            return [AddressedReply(request.worker, Refused("unknown_member"))]
        # Members have a common protocol, so one with the protocols of its last join needs no comparison.
        if known is None or known.offers.keys() != request.offers.keys():
            others = [member for member in self._members.values() if member is not known]
            if others and not self._common([*(member.offers for member in others), request.offers]):
                return [AddressedReply(request.worker, Refused("inconsistent_protocol"))]
        if known is None:
            return self._add(now, request)
        changed = known.offers != request.offers
        known.offers, known.last_heard_ms = request.offers, now
        if self.state is CoordinatorState.PREPARING:
            known.awaiting_join = True
            return self._complete_if_all_joined(now)
        if self.state is CoordinatorState.COMPLETING and not changed:
            return [AddressedReply(known.worker, self._joined(known))]
        if self.state is CoordinatorState.STABLE and not changed and known.id != self.leader_id:
            return [AddressedReply(known.worker, self._joined(known))]
        leads = known.id == self.leader_id
        reason = f"leader {known.worker} joins again" if leads else f"{known.worker} joins again"
        cause = request.reason or ("" if leads else "its subscription has changed")
        reason += f": {cause}" if cause else ""
        replies = self._prepare(now, reason)
        known.awaiting_join = True
        return replies + self._complete_if_all_joined(now)

    def _add(self, now: int, request: JoinRequest) -> list[AddressedReply]:
        identity = self._identify(request)
        replies = []
        member = self._member(identity, now, request)
        if self.state is not CoordinatorState.PREPARING:
            replies = self._prepare(now, f"{request.worker} is new", newcomer=member)
        else:
            self._phase.reasons.append(f"{request.worker} is new")
        self._members[identity] = member
        self._election.add(identity)
        if request.worker == self._first_leader and not self.generation:
            self._election.leader_id = identity
        self._phase.newcomer()
        return replies + self._complete_if_all_joined(now)

    def _member(self, identity: str, now: int, request: JoinRequest) -> CoordinatorMember:
        return CoordinatorMember(
            identity, request.worker, request.offers, request.rebalance_timeout_ms, request.session_timeout_ms, now,
            awaiting_join=True, instance_id=request.instance_id,
        )  # fmt: skip

    def _static_member(self, request: JoinRequest) -> CoordinatorMember | None:
        if request.instance_id is None:
            return None
        return next((each for each in self._members.values() if each.instance_id == request.instance_id), None)

    def _replace(self, now: int, old: CoordinatorMember, request: JoinRequest) -> list[AddressedReply]:
        """A static member returns under another member id (KIP-345): a stable group stays stable."""
        identity = self._identify(request)
        member = self._member(identity, now, request)
        # It keeps its place in the order of members.
        self._members = {each.id: each for each in (member if each is old else each for each in self._members.values())}
        self._election.replace(old.id, identity)
        if self.state is CoordinatorState.STABLE:
            member.awaiting_join, member.assignment = False, old.assignment
            return [
                AddressedReply(
                    member.worker, JoinReply(identity, self.generation, self.leader_id or "", self.protocol, None)
                )
            ]
        replies = []
        if self.state is CoordinatorState.COMPLETING:
            replies = self._prepare(now, f"{member.worker} is back as another member")
            member.awaiting_join = True
        return replies + self._complete_if_all_joined(now)

    def sync(self, now: int, request: SyncRequest) -> list[AddressedReply]:
        member = self._members.get(request.member_id)
        if member is None:
            return []
        if request.generation != self.generation:
            return [AddressedReply(member.worker, Refused("illegal_generation"))]
        member.last_heard_ms = now
        if self.state is CoordinatorState.PREPARING:
            return [AddressedReply(member.worker, Refused("rebalancing"))]
        self._sync_phase.asked(member.id)
        if self.state is CoordinatorState.STABLE:
            return [AddressedReply(member.worker, self._synced(member))]
        member.awaiting_sync = True
        if member.id != self.leader_id or request.assignments is None:
            return []
        self.state = CoordinatorState.STABLE
        self.rounds[-1].assigned_ms = now
        waiting = [each for each in self._members.values() if each.awaiting_sync]
        for each in self._members.values():
            each.assignment = request.assignments.get(each.id)
        for each in waiting:
            each.awaiting_sync, each.last_heard_ms = False, now
        return [AddressedReply(each.worker, self._synced(each)) for each in waiting]

    def heartbeat(self, now: int, member_id: str, generation: int | None = None) -> str:
        """``ok``, ``rebalancing``, ``unknown_member`` or ``illegal_generation``.

        The last is for a static member that a join phase no longer waits for: it renews no session. Without a
        ``generation`` a member counts as one of the present generation.
        """
        member = self._members.get(member_id)
        if member is None:
            return "unknown_member"
        if generation not in (None, self.generation):
            return "illegal_generation"
        member.last_heard_ms = now
        return "rebalancing" if self.state is CoordinatorState.PREPARING and not member.awaiting_join else "ok"

    def leave(self, now: int, member_id: str, reason: str = "leaves") -> list[AddressedReply]:
        member = self._members.get(member_id)
        return [] if member is None else self._remove(now, member, f"{member.worker} {reason}")

    # --- time ---------------------------------------------------------------------------------------

    def next_deadline(self) -> int | None:
        """Time of the next call of :meth:`expire` if nothing else happens."""
        ends = (next_session_end(self._members.values()), self.join_deadline(), self.sync_deadline())
        return min((end for end in ends if end is not None), default=None)

    def join_deadline(self) -> int | None:
        """Next check of the present join phase, regardless of heartbeats; ``None``: no join phase."""
        return self._phase.next_deadline_ms if self.state is CoordinatorState.PREPARING else None

    def sync_deadline(self) -> int | None:
        """Time at which members without a SyncGroup request are removed; ``None``: all have sent one."""
        return self._sync_phase.deadline_ms

    def expire(self, now: int) -> list[AddressedReply]:
        """Remove members after their session timeout, and end a join or sync phase after its timeout."""
        replies: list[AddressedReply] = []
        silent = silent_members(self._members.values(), now)
        self._phase.end_initial_delay(now)
        for member in silent:
            replies += self._remove(now, member, f"{member.worker} sent no heartbeat in time")
        if self.state is CoordinatorState.PREPARING and self._phase.has_waited_enough(now):
            self._give_up_the_late(now)
        if late := self._sync_phase.late(now):
            replies += self._remove_unsynced(now, late)
        return replies + self._complete_if_all_joined(now)

    def _give_up_the_late(self, now: int) -> None:
        late = [member for member in self._members.values() if not member.awaiting_join and member.instance_id is None]
        for member in late:
            self._drop(member.id)
            self._phase.reasons.append(f"{member.worker} did not join in time")
        if not self._members:
            self._emptied()
        elif any(member.awaiting_join for member in self._members.values()):
            self._phase.gives_up()
        else:
            # Static members alone, none of which has joined: no member could lead.
            self._phase.begin_again(now, self._members.values())

    def _remove_unsynced(self, now: int, late: frozenset[str]) -> list[AddressedReply]:
        names = [member.worker for member in self._members.values() if member.id in late]
        for identity in late:
            self._drop(identity)
        if not self._members:
            self._emptied()
            return []
        return self._prepare(now, f"{', '.join(names) or 'a member that was replaced'} did not send SyncGroup in time")

    @property
    def phase_number(self) -> int:
        return self._phase.number

    @property
    def reason(self) -> str:
        return "; ".join(self._phase.reasons)

    def last_heard_ms(self, worker: str) -> int | None:
        """Time of a worker's last request; ``None`` if it is no member."""
        times = [member.last_heard_ms for member in self._members.values() if member.worker == worker]
        return max(times, default=None)

    def session_end_ms(self, member_id: str) -> int | None:
        """End of a member's session without further requests; ``None``: no such member, or it waits for a reply."""
        member = self._members.get(member_id)
        return None if member is None else next_session_end([member])

    def is_member(self, member_id: str | None) -> bool:
        return member_id in self._members

    def members(self) -> dict[str, str]:
        return {member.id: member.worker for member in self._members.values()}

    # --- the rebalance ------------------------------------------------------------------------------

    def _prepare(self, now: int, reason: str, newcomer: CoordinatorMember | None = None) -> list[AddressedReply]:
        replies = [
            AddressedReply(member.worker, Refused("rebalancing"))
            for member in self._members.values()
            if member.awaiting_sync
        ]
        self._sync_phase.end()
        for member in self._members.values():
            member.awaiting_sync = member.awaiting_join = False
        members = [*self._members.values(), *(() if newcomer is None else (newcomer,))]
        self._phase.begin(now, reason, members, was_empty=self.state is CoordinatorState.EMPTY)
        self.state = CoordinatorState.PREPARING
        return replies

    def _remove(self, now: int, member: CoordinatorMember, reason: str) -> list[AddressedReply]:
        self._drop(member.id)
        self._sync_phase.asked(member.id)
        if not self._members:
            self._emptied()
            return []
        if self.state is CoordinatorState.PREPARING:
            self._phase.reasons.append(reason)
            return self._complete_if_all_joined(now)
        return self._prepare(now, reason)

    def _emptied(self) -> None:
        """The last member has left, which is a generation of its own."""
        self._phase.end()
        self._sync_phase.end()
        self.state = CoordinatorState.EMPTY
        self.generation += 1

    def _drop(self, identity: str) -> None:
        self._members.pop(identity, None)
        self._election.remove(identity)

    def _complete_if_all_joined(self, now: int) -> list[AddressedReply]:
        if self.state is not CoordinatorState.PREPARING or not self._members:
            return []
        if not self._phase.is_complete(now, self._members.values()):
            return []
        self._phase.end()
        self.generation += 1
        self.protocol = self._selected()
        joined = [member.id for member in self._members.values() if member.awaiting_join]
        self._election.elect_joined(joined)
        leader = self._members[self.leader_id or ""]
        self.state = CoordinatorState.COMPLETING
        self.rounds.append(
            Round(
                self.generation, tuple(self._phase.reasons), self._phase.began_ms, now, tuple(self._members),
                leader.worker, self.protocol,
            )
        )  # fmt: skip
        # Sessions of static members that did not rejoin restart, too.
        for member in self._members.values():
            member.awaiting_join, member.last_heard_ms, member.assignment = False, now, None
        self._sync_phase.begin(now, self._members.values())
        return [
            AddressedReply(self._members[identity].worker, self._joined(self._members[identity])) for identity in joined
        ]

    def _joined(self, member: CoordinatorMember) -> JoinReply:
        leader = self.leader_id or ""
        metadata = None
        if member.id == leader:
            metadata = {each.id: each.offers[self.protocol] for each in self._members.values()}
        return JoinReply(member.id, self.generation, leader, self.protocol, metadata)

    def _synced(self, member: CoordinatorMember) -> Synced:
        return Synced(self.generation, self.protocol, member.assignment)

    def _common(self, offers: list[Mapping[GroupProtocol, Any]]) -> list[GroupProtocol]:
        return [protocol for protocol in offers[0] if all(protocol in each for each in offers)]

    def _selected(self) -> GroupProtocol:
        # Every member votes for its first common protocol. Preferences of workers all run from new to old; names are
        # strategies of consumers.
        offers = [member.offers for member in self._members.values()]
        common = self._common(offers)
        if isinstance(common[0], str):
            return selected_name([list(each) for each in offers])
        return max(common, key=lambda protocol: protocol.version)
