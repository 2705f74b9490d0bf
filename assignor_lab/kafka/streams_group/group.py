"""Broker's coordinator of one streams group (KIP-1071): a state machine without a clock of its own.

An assignor without an answer fails the calling request, and the request has no effect. The target stays, and the next
heartbeat calls the assignor again (Kafka 4.4.0's ``GroupMetadataManager``: UNKNOWN_SERVER_ERROR).

Rules: ``streams-group-assignor.md`` sections 1 and 6, ``streams-group-assignor-4.4.md`` sections 1, 6 and 7,
``streams-life-cycle.md`` section 2. A target is computed within any member's heartbeat, or when the initial delay ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import attrs

from assignment_api import AssignorLabError
from assignor_lab.kafka.streams_group.member_table import MemberTable
from assignor_lab.kafka.streams_group.reconciliation import MemberState, Standing, reconciled
from assignor_lab.kafka.streams_group.releases import Release
from assignor_lab.kafka.streams_group.target_schedule import TargetSchedule
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, Holders, TasksByRole

__all__ = ["StreamsGroupMember", "HeartbeatAnswer", "StreamsGroup"]


@attrs.frozen
class StreamsGroupMember:
    """A member in the input of an assignor."""

    id: str
    tasks: TasksByRole


@attrs.frozen
class HeartbeatAnswer:
    """The broker's reply to a heartbeat.

    Args:
        tasks: Tasks that the member must have now.
        is_ready: No task is missing or delayed; after a change of this value a member processes its assignment again.
        has_changed: The member's state differs from the last reply.
    """

    tasks: TasksByRole
    is_ready: bool
    has_changed: bool


#: Computes a target: from all members, in the broker's order, to the tasks of each.
Assign = Callable[[tuple[StreamsGroupMember, ...]], Mapping[str, TasksByRole]]
Refine = Callable[[Mapping[str, TasksByRole], Mapping[str, Standing]], Mapping[str, TasksByRole]]

#: Member epoch of a static member that has left temporarily.
_LEFT_FOR_A_WHILE = -2


class StreamsGroup:
    """One group.

    Args:
        assign: Computes a target.
        refine: Delays moves until warm-ups are done, which no released broker does; ``None``: targets are sent
            unchanged.
        has_topics: All topics exist; otherwise targets are empty until :meth:`topics_are_there`.
    """

    def __init__(
        self,
        schedule: TargetSchedule,
        release: Release,
        assign: Assign,
        refine: Refine | None = None,
        *,
        has_topics: bool,
    ) -> None:
        self.epoch = 0
        self.target_epoch = 0
        self.schedule = schedule
        self.has_topics = has_topics
        self._release = release
        self._assign = assign
        self._refine = refine
        self._members: dict[str, Standing] = {}
        self._table = MemberTable()
        self._targets: dict[str, TasksByRole] = {}
        self._sent: Mapping[str, TasksByRole] = self._targets
        self._refined: Mapping[str, TasksByRole] | None = None
        self._holders = Holders()

    # --- state --------------------------------------------------------------------------------------------

    @property
    def members(self) -> Mapping[str, Standing]:
        """Member to its progress, in the order of joining."""
        return self._members

    @property
    def targets(self) -> Mapping[str, TasksByRole]:
        """Member to the tasks sent to it: its target, refined if there is a refiner."""
        return self._sent

    @property
    def is_behind(self) -> bool:
        """True if a new target must be computed as soon as the schedule allows."""
        return self.epoch > self.target_epoch and bool(self._members)

    def is_settled(self, member: str) -> bool:
        """True if a heartbeat of a member would change nothing."""
        standing = self._members[member]
        return (
            not self.is_behind
            and self.has_topics
            and standing.epoch == self.target_epoch
            and standing.state is MemberState.STABLE
            and self._sent.get(member, NO_TASKS) == self._targets.get(member, NO_TASKS)
        )

    # --- events -------------------------------------------------------------------------------------------

    def join(self, now_ms: int, member: str, process: str) -> HeartbeatAnswer:
        """A new member's first heartbeat; if the assignor fails, it has not joined."""
        was_due, was_epoch = self.schedule.initial_due_ms, self.epoch
        if not self._members:
            self.schedule.first_member(now_ms)
        if not self.epoch:
            # The first member brings the topology, with an epoch of its own: members are in epoch 1 until then.
            self.epoch = 1
        self._members[member] = Standing(process, 0)
        self.epoch += 1
        try:
            answer = self.heartbeat(now_ms, member, NO_TASKS)
        except AssignorLabError:
            # A request is written as a whole or not at all.
            del self._members[member]
            self.schedule.initial_due_ms, self.epoch = was_due, was_epoch
            raise
        self._table.write_down(member)
        return answer

    def adopt(self, member: str, process: str, tasks: TasksByRole, *, is_due: bool = True) -> None:
        """Add a member from before the start of the record: it has its target; a new one may be due."""
        self._members[member] = Standing(process, 1, assigned=tasks)
        self._table.write_down(member)
        self._holders.add(member, process, tasks)
        self._targets = {**self._targets, member: tasks}
        self._sent = self._targets
        self.epoch, self.target_epoch = (2 if is_due else 1), 1

    def rejoin(self, now_ms: int, old: str, member: str, process: str, *, has_changed: bool) -> HeartbeatAnswer:
        """A static member returns under a new id: it takes the place and tasks of the old one.

        Args:
            has_changed: Its process, rack or tags have changed, so that a new target is needed (Kafka 4.4.0:
                ``GroupMetadataManager.hasEpochRelevantMemberConfigChanged``).
        """
        was = dict(self._members), self._targets, self._sent, self.epoch
        before = self._members.pop(old)
        self._holders.remove(old, before.process, before.assigned | before.pending)
        self._targets, self._sent = _renamed(self._targets, old, member), _renamed(self._sent, old, member)
        self._members[member] = Standing(process, 0, assigned=before.assigned)
        self._holders.add(member, process, before.assigned)
        if has_changed:
            self.epoch += 1
        try:
            answer = self.heartbeat(now_ms, member, NO_TASKS)
        except AssignorLabError:
            self._holders.remove(member, process, before.assigned)
            self._holders.add(old, before.process, before.assigned | before.pending)
            self._members, self._targets, self._sent, self.epoch = was
            raise
        self._table.remove(old)
        self._table.write_down(member)
        return answer

    def heartbeat(self, now_ms: int, member: str, owned: TasksByRole | None) -> HeartbeatAnswer:
        """A member's heartbeat; ``owned``: its reported tasks, ``None``: no report."""
        if self.is_behind and self.schedule.may_compute(now_ms):
            self._compute(now_ms)
        elif self._refine is not None:
            self._refine_again(member)
        before = self._members[member]
        # Members of a group without a target are in epoch 1.
        target_epoch = max(1, self.target_epoch)
        target = self._sent.get(member, NO_TASKS)
        after = reconciled(member, before, target, target_epoch, owned, self._holders, self._release)
        if after is not before:
            had, has = before.assigned | before.pending, after.assigned | after.pending
            self._holders.remove(member, before.process, had - has)
            self._holders.add(member, after.process, has - had)
            self._members[member] = after
            if member in self._table:
                self._table.write_down(member)
            self._refined = None
        return HeartbeatAnswer(after.assigned, self.has_topics and not self.is_behind, after is not before)

    def offsets_reported(self) -> None:
        """Record that a member has reported offsets, which a refiner uses."""
        self._refined = None

    def initial_delay_over(self, now_ms: int) -> bool:
        """End the initial delay of a group that was empty; returns whether its first target was computed."""
        due = self.schedule.initial_due_ms
        if due is None or due > now_ms:
            return False
        self.schedule.initial_due_ms = None
        if self.is_behind and self.schedule.is_interval_over(now_ms):
            self._compute(now_ms)
            return True
        return False

    def remove(self, member: str) -> TasksByRole:
        """A member has left or was fenced; returns its tasks. The next heartbeat uses a new epoch."""
        standing = self._members.pop(member)
        self._table.remove(member)
        held = standing.assigned | standing.pending
        self._holders.remove(member, standing.process, held)
        self._targets = {each: tasks for each, tasks in self._targets.items() if each != member}
        self._sent = {each: tasks for each, tasks in self._sent.items() if each != member}
        self.epoch += 1
        if not self._members and self._release.forgets_interval:
            self.schedule.computed_ms = None
        return held

    def leaves_for_a_while(self, member: str) -> None:
        """A static member leaves and keeps its place; the tasks that it had to revoke are free at once (Kafka 4.4.0).

        Kafka: ``GroupMetadataManager.streamsGroupStaticMemberGroupLeave``.
        """
        standing = self._members[member]
        self._holders.remove(member, standing.process, standing.pending)
        self._members[member] = attrs.evolve(standing, epoch=_LEFT_FOR_A_WHILE, pending=NO_TASKS)
        self._refined = None

    def topics_are_there(self) -> None:
        self.has_topics = True
        self.epoch += 1

    def metadata_changes(self) -> None:
        self.epoch += 1

    def _compute(self, now_ms: int) -> None:
        if self.has_topics:
            have = self._targets if self._release.shows_targets else None
            shown = tuple(
                StreamsGroupMember(
                    member, self._members[member].assigned if have is None else have.get(member, NO_TASKS)
                )
                for member in self._in_order()
            )
            self._targets = dict(self._assign(shown))
        else:
            self._targets = dict.fromkeys(self._members, NO_TASKS)
        self.target_epoch = self.epoch
        self.schedule.computed(now_ms)
        self._sent = self._targets
        if self._refine is not None:
            self._sent = self._refine(self._targets, self._members)

    def _in_order(self) -> Iterator[str]:
        there = dict.fromkeys(self._table)
        return (member for member in {**there, **dict.fromkeys(self._members)} if member in self._members)

    def _refine_again(self, member: str) -> None:
        """In a stable group, a new result of refining can change a member's tasks: then the epoch rises."""
        if self._refine is None or self.is_behind or not self.target_epoch:
            return
        if self._refined is None:
            calm = all(
                each.state is MemberState.STABLE and each.epoch == self.target_epoch for each in self._members.values()
            )
            if not calm:
                return
            self._refined = self._refine(self._targets, self._members)
        sent = self._refined
        if sent.get(member, NO_TASKS) != self._members[member].assigned:
            self.epoch += 1
            self.target_epoch = self.epoch
            self._sent = sent


def _renamed(targets: Mapping[str, TasksByRole], old: str, new: str) -> dict[str, TasksByRole]:
    return {(new if member == old else member): tasks for member, tasks in targets.items()}
