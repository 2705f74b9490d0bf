"""The broker's coordinator of one streams group (KIP-1071): a state machine without a clock of its own.

An assignor that has no answer fails the request that asked it, and nothing of that request is kept: the target is what
it was, and the next heartbeat asks again (Kafka 4.4.0's ``GroupMetadataManager``: UNKNOWN_SERVER_ERROR).

Rules: ``streams-group-assignor.md`` sections 1 and 6, ``streams-group-assignor-4.4.md`` sections 1, 6 and 7,
``streams-life-cycle.md`` section 2. A target is computed within a heartbeat, whoever's it is, or when the initial
delay ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import attrs

from assignment_api import AssignorLabError
from assignor_lab.kafka.streams_group.member_table import MemberTable
from assignor_lab.kafka.streams_group.reconciliation import MemberState, Standing, reconciled
from assignor_lab.kafka.streams_group.releases import Release
from assignor_lab.kafka.streams_group.target_schedule import TargetSchedule
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, Holders, Tasks

__all__ = ["GroupMember", "HeartbeatAnswer", "StreamsGroup"]


@attrs.frozen
class GroupMember:
    """A member as an assignor is shown it.

    Args:
        id: Its id.
        tasks: What it has; which tasks those are depends on the release.
    """

    id: str
    tasks: Tasks


@attrs.frozen
class HeartbeatAnswer:
    """The broker's answer to a heartbeat.

    Args:
        tasks: What the member is to have now.
        is_ready: Nothing is missing or delayed; a member that hears of a change of this goes through its assignment
            again.
        has_changed: Where the member stands is not what it was before.
    """

    tasks: Tasks
    is_ready: bool
    has_changed: bool


#: Computes a target: from all members, in the broker's order, to what each of them is to have.
Assign = Callable[[tuple[GroupMember, ...]], Mapping[str, Tasks]]
#: What members are sent in place of their targets: from those, and from where each member stands.
Refine = Callable[[Mapping[str, Tasks], Mapping[str, Standing]], Mapping[str, Tasks]]

#: Member epoch of a static member that has left and keeps its place.
_LEFT_FOR_A_WHILE = -2


class StreamsGroup:
    """One group.

    Args:
        schedule: When targets may be computed.
        release: Version of the broker.
        assign: Computes a target.
        refine: Holds moves back behind warm-ups, which no released broker does; ``None``: targets are sent as they are.
        has_topics: All topics are there; otherwise targets are empty until :meth:`topics_are_there`.
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
        self._targets: dict[str, Tasks] = {}
        #: What members are sent: their targets, refined.
        self._sent: Mapping[str, Tasks] = self._targets
        #: What refining again would give; ``None``: something has changed since.
        self._refined: Mapping[str, Tasks] | None = None
        self._holders = Holders()

    # --- what is asked of it ------------------------------------------------------------------------------

    @property
    def members(self) -> Mapping[str, Standing]:
        """Member to where it stands, in the order in which they joined."""
        return self._members

    @property
    def targets(self) -> Mapping[str, Tasks]:
        """Member to what it is sent: its target, refined where there is a refiner."""
        return self._sent

    @property
    def is_behind(self) -> bool:
        """Whether a new target is to be computed as soon as that may be."""
        return self.epoch > self.target_epoch and bool(self._members)

    def is_settled(self, member: str) -> bool:
        """Whether a heartbeat of a member would change nothing."""
        standing = self._members[member]
        return (
            not self.is_behind
            and self.has_topics
            and standing.epoch == self.target_epoch
            and standing.state is MemberState.STABLE
            and self._sent.get(member, NO_TASKS) == self._targets.get(member, NO_TASKS)
        )

    # --- what happens to it -------------------------------------------------------------------------------

    def join(self, now_ms: int, member: str, process: str) -> HeartbeatAnswer:
        """A new member's first heartbeat; where the assignor has no answer, it has not joined."""
        was_due, was_epoch = self.schedule.initial_due_ms, self.epoch
        if not self._members:
            self.schedule.first_member(now_ms)
        if not self.epoch:
            # The first member brings the topology, which has an epoch of its own: members are in 1 meanwhile.
            self.epoch = 1
        self._members[member] = Standing(process, 0)
        self.epoch += 1
        try:
            answer = self.heartbeat(now_ms, member, NO_TASKS)
        except AssignorLabError:
            # What a request writes is written as a whole or not at all.
            del self._members[member]
            self.schedule.initial_due_ms, self.epoch = was_due, was_epoch
            raise
        self._table.write_down(member)
        return answer

    def adopt(self, member: str, process: str, tasks: Tasks) -> None:
        """A member that was in the group before anybody looked: it has its target, and a new one is due."""
        self._members[member] = Standing(process, 1, assigned=tasks)
        self._table.write_down(member)
        self._holders.add(member, process, tasks)
        self._targets = {**self._targets, member: tasks}
        self._sent = self._targets
        self.epoch, self.target_epoch = 2, 1

    def rejoin(self, now_ms: int, old: str, member: str, process: str, *, has_changed: bool) -> HeartbeatAnswer:
        """A static member that has left comes back under a new id: it takes the old one's place and tasks.

        Args:
            now_ms: The time.
            old: The id that it had.
            member: The id that it has.
            process: Its process.
            has_changed: Its process, rack or tags are not what they were, so that there is to be a new target (Kafka
                4.4.0: ``GroupMetadataManager.hasEpochRelevantMemberConfigChanged``).
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

    def heartbeat(self, now_ms: int, member: str, owned: Tasks | None) -> HeartbeatAnswer:
        """A member's heartbeat; ``owned`` is what it says that it has, ``None``: it does not say."""
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
        """A member has reported offsets, which a refiner looks at."""
        self._refined = None

    def initial_delay_over(self, now_ms: int) -> bool:
        """The timer of a group that was empty: its first target, if anybody is left; says whether it was computed."""
        due = self.schedule.initial_due_ms
        if due is None or due > now_ms:
            return False
        self.schedule.initial_due_ms = None
        if self.is_behind and self.schedule.is_interval_over(now_ms):
            self._compute(now_ms)
            return True
        return False

    def remove(self, member: str) -> Tasks:
        """A member has left or was fenced; returns what it held. The next heartbeat sees a new epoch."""
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
        """A static member leaves and keeps its place; what it had to give back is free at once (Kafka 4.4.0).

        Kafka: ``GroupMetadataManager.streamsGroupStaticMemberGroupLeave``.
        """
        standing = self._members[member]
        self._holders.remove(member, standing.process, standing.pending)
        self._members[member] = attrs.evolve(standing, epoch=_LEFT_FOR_A_WHILE, pending=NO_TASKS)
        self._refined = None

    def topics_are_there(self) -> None:
        """A heartbeat has seen that topics which were missing are there now."""
        self.has_topics = True
        self.epoch += 1

    def metadata_changes(self) -> None:
        """The topics' metadata are not what the last target was computed with."""
        self.epoch += 1

    def _compute(self, now_ms: int) -> None:
        if self.has_topics:
            have = self._targets if self._release.shows_targets else None
            shown = tuple(
                GroupMember(member, self._members[member].assigned if have is None else have.get(member, NO_TASKS))
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
        """Members in the order in which an assignor is shown them: whoever is about to join comes last."""
        there = dict.fromkeys(self._table)
        return (member for member in {**there, **dict.fromkeys(self._members)} if member in self._members)

    def _refine_again(self, member: str) -> None:
        """In a stable group, what one member has may not be what it would be sent now: then there is a new epoch."""
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


def _renamed(targets: Mapping[str, Tasks], old: str, new: str) -> dict[str, Tasks]:
    return {(new if member == old else member): tasks for member, tasks in targets.items()}
