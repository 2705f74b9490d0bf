"""The broker's side of a Connect group, as a state machine without input or output of its own (reference 6.1).

Every call says what the clock shows and returns the answers that are to be sent; nothing waits in here.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.connect import ConnectProtocol

__all__ = ["Coordinator", "GroupState", "Joined", "JoinRequest", "Refused", "Reply", "Round", "Synced", "SyncRequest"]


class GroupState(enum.Enum):
    """State of the group."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"


@attrs.frozen
class JoinRequest:
    """A worker asks to join, or to join again.

    Args:
        worker: Name of the worker.
        member_id: Its member id, or ``None``: it wants one.
        offers: What it can speak, the preferred one first, with the metadata for each.
        rebalance_timeout_ms: How long the group waits for it.
        session_timeout_ms: How long nothing need be heard of it.
    """

    worker: str
    member_id: str | None
    offers: Mapping[ConnectProtocol, Any]
    rebalance_timeout_ms: int
    session_timeout_ms: int


@attrs.frozen
class SyncRequest:
    """A member asks for its assignment; the leader brings everybody's."""

    member_id: str
    generation: int
    assignments: Mapping[str, Any] | None = None


@attrs.frozen
class Joined:
    """Answer to a join: the group is complete. Only the leader is told the members and their metadata."""

    member_id: str
    generation: int
    leader_id: str
    protocol: ConnectProtocol
    members: Mapping[str, Any] | None


@attrs.frozen
class Synced:
    """Answer to a sync: the member's assignment."""

    generation: int
    protocol: ConnectProtocol
    assignment: Any


@attrs.frozen
class Refused:
    """A request failed: ``unknown_member``, ``rebalancing``, ``illegal_generation``, ``inconsistent_protocol``."""

    reason: str


@attrs.frozen
class Reply:
    """An answer on its way to a worker's process."""

    worker: str
    body: Joined | Synced | Refused


@attrs.define
class Round:
    """A rebalance.

    Args:
        generation: Number of the generation that it led to.
        reasons: What set it off, in order.
        prepared_ms: When it began.
        joined_ms: When all had joined.
        assigned_ms: When the leader's assignment had come.
        members: Members' ids.
        leader: Name of the leading worker.
        protocol: What the members agreed on.
        delay_ms: The delay in the assignments.
        assigned: Jobs that were assigned.
        revoked: Jobs that were revoked.
        mismatch: The leader had not read the config topic as far as a member.
        done_ms: When the last worker had started what it was assigned.
    """

    generation: int
    reasons: tuple[str, ...]
    prepared_ms: int
    joined_ms: int
    members: tuple[str, ...]
    leader: str
    protocol: ConnectProtocol
    assigned_ms: int | None = None
    delay_ms: int = 0
    assigned: int = 0
    revoked: int = 0
    mismatch: bool = False
    done_ms: int | None = None


@attrs.define
class _Member:
    id: str
    worker: str
    offers: Mapping[ConnectProtocol, Any]
    rebalance_timeout_ms: int
    session_timeout_ms: int
    last_heard_ms: int
    awaiting_join: bool = False
    awaiting_sync: bool = False
    assignment: Any = None


class Coordinator:
    """The group.

    Args:
        initial_delay_ms: How long an empty group waits for further members (``group.initial.rebalance.delay.ms``).
        expected: A group that is being formed waits for so many members, without that delay; 0 = it does not.
    """

    def __init__(self, initial_delay_ms: int, expected: int = 0) -> None:
        self.state = GroupState.EMPTY
        self.generation = 0
        self.leader_id: str | None = None
        self.protocol = ConnectProtocol.EAGER
        self.rounds: list[Round] = []
        self._members: dict[str, _Member] = {}
        self._incarnations: dict[str, int] = {}
        self._initial_delay_ms = initial_delay_ms
        self._expected = expected
        self._reasons: list[str] = []
        self._prepared_ms = 0
        self._join_deadline_ms = 0
        #: An initial phase lasts at least until then, and is prolonged by newcomers up to the second figure.
        self._initial_until: tuple[int, int] | None = None

    # --- requests -----------------------------------------------------------------------------------

    def join(self, now: int, request: JoinRequest) -> list[Reply]:
        """A worker joins."""
        known = self._members.get(request.member_id) if request.member_id is not None else None
        if request.member_id is not None and known is None:
            return [Reply(request.worker, Refused("unknown_member"))]
        others = [member for member in self._members.values() if member is not known]
        if others and not self._common([*(member.offers for member in others), request.offers]):
            return [Reply(request.worker, Refused("inconsistent_protocol"))]
        if known is None:
            return self._add(now, request)
        changed = known.offers != request.offers
        known.offers, known.last_heard_ms = request.offers, now
        if self.state is GroupState.PREPARING:
            known.awaiting_join = True
            return self._complete_if_all_joined(now)
        if self.state is GroupState.COMPLETING and not changed:
            return [Reply(known.worker, self._joined(known))]
        if self.state is GroupState.STABLE and not changed and known.id != self.leader_id:
            return [Reply(known.worker, self._joined(known))]
        leads = known.id == self.leader_id
        reason = f"leader {known.worker} joins again" if leads else f"{known.worker} joins again with something new"
        replies = self._prepare(now, reason)
        known.awaiting_join = True
        return replies + self._complete_if_all_joined(now)

    def _add(self, now: int, request: JoinRequest) -> list[Reply]:
        number = self._incarnations.get(request.worker, 0) + 1
        self._incarnations[request.worker] = number
        identity = request.worker if number == 1 else f"{request.worker}/{number}"
        replies = []
        if self.state is not GroupState.PREPARING:
            replies = self._prepare(now, f"{request.worker} is new")
        else:
            self._reasons.append(f"{request.worker} is new")
        self._members[identity] = _Member(
            identity, request.worker, request.offers, request.rebalance_timeout_ms, request.session_timeout_ms, now,
            awaiting_join=True,
        )  # fmt: skip
        if self._initial_until is not None:
            until, longest = self._initial_until
            self._initial_until = (max(until, min(now + self._initial_delay_ms, longest)), longest)
        return replies + self._complete_if_all_joined(now)

    def sync(self, now: int, request: SyncRequest) -> list[Reply]:
        """A member asks for its assignment."""
        member = self._members.get(request.member_id)
        if member is None:
            return []
        member.last_heard_ms = now
        if self.state is GroupState.PREPARING:
            return [Reply(member.worker, Refused("rebalancing"))]
        if request.generation != self.generation:
            return [Reply(member.worker, Refused("illegal_generation"))]
        if self.state is GroupState.STABLE:
            return [Reply(member.worker, self._synced(member))]
        member.awaiting_sync = True
        if member.id != self.leader_id or request.assignments is None:
            return []
        self.state = GroupState.STABLE
        self.rounds[-1].assigned_ms = now
        waiting = [each for each in self._members.values() if each.awaiting_sync]
        for each in self._members.values():
            each.assignment = request.assignments.get(each.id)
        for each in waiting:
            each.awaiting_sync, each.last_heard_ms = False, now
        return [Reply(each.worker, self._synced(each)) for each in waiting]

    def heartbeat(self, now: int, member_id: str) -> str:
        """``ok``, ``rebalancing`` or ``unknown_member``."""
        member = self._members.get(member_id)
        if member is None:
            return "unknown_member"
        member.last_heard_ms = now
        return "rebalancing" if self.state is GroupState.PREPARING and not member.awaiting_join else "ok"

    def leave(self, now: int, member_id: str, reason: str = "leaves") -> list[Reply]:
        """A member leaves."""
        member = self._members.get(member_id)
        return [] if member is None else self._remove(now, [member], f"{member.worker} {reason}")

    # --- time ---------------------------------------------------------------------------------------

    def next_deadline(self) -> int | None:
        """When :meth:`expire` has to be called next, if nothing else happens."""
        moments = [
            member.last_heard_ms + member.session_timeout_ms
            for member in self._members.values()
            if not (member.awaiting_join or member.awaiting_sync)
        ]
        if self.state is GroupState.PREPARING:
            moments.append(self._join_deadline_ms if self._initial_until is None else self._initial_until[0])
        return min(moments, default=None)

    def expire(self, now: int) -> list[Reply]:
        """Removes members of which nothing was heard, and ends a join phase that has waited long enough."""
        silent = [
            member
            for member in self._members.values()
            if not (member.awaiting_join or member.awaiting_sync)
            and now >= member.last_heard_ms + member.session_timeout_ms
        ]
        replies: list[Reply] = []
        if self._initial_until is not None and now >= self._initial_until[0]:
            self._initial_until = None
        for member in silent:
            replies += self._remove(now, [member], f"{member.worker} was not heard of")
        if self.state is GroupState.PREPARING and self._initial_until is None and now >= self._join_deadline_ms:
            self._expected = 0
            late = [member for member in self._members.values() if not member.awaiting_join]
            for member in late:
                del self._members[member.id]
                self._reasons.append(f"{member.worker} did not join in time")
            if not self._members:
                self.state, self.leader_id = GroupState.EMPTY, None
        return replies + self._complete_if_all_joined(now)

    def last_heard_ms(self, worker: str) -> int | None:
        """When a worker was last heard of; ``None`` if it is no member."""
        heard = [member.last_heard_ms for member in self._members.values() if member.worker == worker]
        return max(heard, default=None)

    def members(self) -> dict[str, str]:
        """Member id to name of its worker."""
        return {member.id: member.worker for member in self._members.values()}

    # --- the rebalance ------------------------------------------------------------------------------

    def _prepare(self, now: int, reason: str) -> list[Reply]:
        replies = [
            Reply(member.worker, Refused("rebalancing")) for member in self._members.values() if member.awaiting_sync
        ]
        for member in self._members.values():
            member.awaiting_sync = member.awaiting_join = False
        if self.state is GroupState.EMPTY and not self._expected:
            longest = max((member.rebalance_timeout_ms for member in self._members.values()), default=60_000)
            self._initial_until = (now + self._initial_delay_ms, now + longest)
        self.state = GroupState.PREPARING
        self._reasons = [reason]
        self._prepared_ms = now
        self._set_join_deadline()
        return replies

    def _set_join_deadline(self) -> None:
        timeouts = [member.rebalance_timeout_ms for member in self._members.values()]
        self._join_deadline_ms = self._prepared_ms + max(timeouts, default=60_000)

    def _remove(self, now: int, members: list[_Member], reason: str) -> list[Reply]:
        for member in members:
            del self._members[member.id]
        if not self._members:
            self.state, self.leader_id = GroupState.EMPTY, None
            return []
        if self.state is GroupState.PREPARING:
            self._reasons.append(reason)
            return self._complete_if_all_joined(now)
        return self._prepare(now, reason)

    def _complete_if_all_joined(self, now: int) -> list[Reply]:
        if self.state is not GroupState.PREPARING or not self._members:
            return []
        if len(self._members) < self._expected:
            return []
        if self._initial_until is not None and now < self._initial_until[0]:
            return []
        if not all(member.awaiting_join for member in self._members.values()):
            return []
        self._initial_until, self._expected = None, 0
        self.generation += 1
        self.protocol = self._selected()
        if self.leader_id not in self._members:
            self.leader_id = next(iter(self._members))
        leader = self._members[self.leader_id]
        self.state = GroupState.COMPLETING
        self.rounds.append(
            Round(
                self.generation, tuple(self._reasons), self._prepared_ms, now, tuple(self._members), leader.worker,
                self.protocol,
            )
        )  # fmt: skip
        for member in self._members.values():
            member.awaiting_join, member.last_heard_ms, member.assignment = False, now, None
        return [Reply(member.worker, self._joined(member)) for member in self._members.values()]

    def _joined(self, member: _Member) -> Joined:
        leader = self.leader_id or ""
        metadata = None
        if member.id == leader:
            metadata = {each.id: each.offers[self.protocol] for each in self._members.values()}
        return Joined(member.id, self.generation, leader, self.protocol, metadata)

    def _synced(self, member: _Member) -> Synced:
        return Synced(self.generation, self.protocol, member.assignment)

    def _common(self, offers: list[Mapping[ConnectProtocol, Any]]) -> list[ConnectProtocol]:
        return [protocol for protocol in offers[0] if all(protocol in each for each in offers)]

    def _selected(self) -> ConnectProtocol:
        # Every member votes for its first one among the common ones; preferences all run from new to old.
        common = self._common([member.offers for member in self._members.values()])
        return max(common, key=lambda protocol: protocol.version)
