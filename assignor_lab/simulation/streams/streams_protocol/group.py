"""Streams group on the virtual clock: the broker's coordinator, and reconciling members.

Heartbeats without effect are not simulated. An event makes each member's next one relevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from assignment_api import AssignorLabError
from assignment_api.group import AssignmentConfigs
from assignment_api.releases import holds
from assignor_lab.documents.wording import plural
from assignor_lab.kafka.network_thread import wakes_within_ms
from assignor_lab.kafka.streams_group.group import HeartbeatAnswer, StreamsGroup, StreamsGroupMember
from assignor_lab.kafka.streams_group.reconciliation import MemberState, Standing
from assignor_lab.kafka.streams_group.refiner import Refiner
from assignor_lab.kafka.streams_group.target_schedule import TargetSchedule
from assignor_lab.kafka.streams_group.tasks import TasksByRole
from assignor_lab.model.unowned import MemberOwnership
from assignor_lab.simulation.streams.episode import drawn_member_id
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.instances import Instance, Thread
from assignor_lab.simulation.streams.leading import BrokersAssignor, LeaderFailedError
from assignor_lab.simulation.streams.streams_protocol.decided import decided_generation
from assignor_lab.simulation.streams.streams_protocol.heartbeats import StreamsProtocolHeartbeats
from assignor_lab.simulation.streams.streams_protocol.members import Reconciled, StreamsProtocolMember, static_member
from assignor_lab.simulation.streams.streams_protocol.reconciling import Reconciling
from assignor_lab.simulation.streams.streams_protocol.reports import Reports
from assignor_lab.simulation.streams.streams_protocol.targets import Targets
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["ProtocolGroup", "StaticMembersRefusedError"]

#: Kafka's defaults of ``group.streams.num.warmup.replicas`` and ``group.streams.acceptable.recovery.lag``.
_WARMUPS, _LAG = 2, 10_000


class StaticMembersRefusedError(AssignorLabError):
    """An episode has static members, and its broker refuses them."""


class ProtocolGroup:
    """A group under the streams protocol."""

    def __init__(self, world: SimulatedWorld, assignor: BrokersAssignor) -> None:
        self._world = world
        self._timings = world.timings
        self._clock = world.clock
        self._release = assignor.release
        config = world.episode.config
        configs = AssignmentConfigs(
            int(config.get("num.standby.replicas", 0)), config.get("rack.aware.assignment.tags") or ()
        )
        self._targets = Targets(world.episode.tasks, configs, assignor.ask)
        self._stateful = frozenset(task for task, log in enumerate(world.changelogs) if log is not None)
        self._refiner = (
            Refiner(
                int(config.get("max.warmup.replicas", _WARMUPS)), int(config.get("acceptable.recovery.lag", _LAG)),
                self._stateful, self._targets.order,
            )
            if assignor.refines
            else None
        )  # fmt: skip
        schedule = TargetSchedule(
            self._timings.streams_initial_rebalance_delay_ms, self._timings.assignment_interval_ms
        )
        self._group = StreamsGroup(
            schedule,
            assignor.release,
            self._assign,
            self._refined if assignor.refines else None,
            has_topics=not world.episode.missing_topics,
        )
        self._may_remain = not holds("streams_close_always_leaves", world.episode.release)
        self._topics_ms: int | None = None
        self._members: dict[str, StreamsProtocolMember] = {}
        warm_lag = None if self._refiner is None else self._refiner.acceptable_lag
        self._reports = Reports(world, self._stateful, are_shown=assignor.release.shows_offsets, warm_lag=warm_lag)
        self._heartbeats = StreamsProtocolHeartbeats(world, self._members, self._is_settled, self._heartbeat)
        self._reconciling = Reconciling(world, self._members, self._acknowledge, self._heartbeats.arm)
        self._member_of: dict[int, StreamsProtocolMember] = {}
        self._reasons: list[str] = []
        #: Initial instance to the elapsed part of its heartbeat interval.
        self._phases: dict[str, float] = {}
        #: An instance that closes after an error, and sends nothing to the group.
        self._failing: Instance | None = None
        self.generations: list[Generation] = []
        self.changes: list[int] | None = self._reconciling.changes
        self.holdings: list[MemberOwnership] | None = []
        self.failures: list[tuple[int, str]] = []

    # --- events -----------------------------------------------------------------------------------------

    def started(self, thread: Thread) -> None:
        instance = thread.instance
        if instance.settings.instance_id is not None and not self._release.has_static_members:
            raise StaticMembersRefusedError(
                f"{self._world.episode.place}: {instance.name!r:.80} has a group.instance.id, which brokers of Kafka "
                f"{self._release.name} refuse in the streams protocol: take group_sticky_4_4, or leave it out"
            )
        if self._topics_ms is None:
            self._topics_ms = self._clock.now + self._timings.broker_topics_ms
        member = StreamsProtocolMember(thread, self._id_of(thread), self._clock.now)
        if self._was_there(instance):
            self._adopt(member)
        else:
            self._join(member)

    def _join(self, member: StreamsProtocolMember) -> None:
        thread, instance = member.thread, member.thread.instance
        before = static_member(self._members, thread)
        if before is not None and not before.has_left:
            # Its thread ends with UNRELEASED_INSTANCE_ID, without a retry.
            self._world.say(
                instance.name, "refused", f"{instance.name} is refused: its instance id is not released",
                thread=thread.key,
            )  # fmt: skip
            return
        if not self._group.members:
            self._world.has_members(any_left=True)
            self._initial_delay()
        self._members[member.id] = self._member_of[thread.key] = member
        self._world.say(instance.name, "joins", f"thread {thread.number} joins as {member.id}", thread=thread.key)
        self._report(member)
        self._look_for_topics()
        process = str(instance.process_id)
        if before is None:
            self._because(f"{instance.name} joined")
            self._played(member, partial(self._group.join, self._clock.now, member.id, process))
        else:
            self._because(f"{instance.name} is back")
            self._world.took_place(thread, before.decided_for)
            member.decided_for = before.decided_for
            has_changed = member.takes_place(before)
            request = partial(
                self._group.rejoin, self._clock.now, before.id, member.id, process, has_changed=has_changed
            )
            self._played(member, request)
            if member.id in self._members and before.id != member.id:
                self._forget(before)
        self._heartbeats.arm_all()

    def _was_there(self, instance: Instance) -> bool:
        is_beginning = self._clock.now == self._world.begin_ms
        episode = self._world.episode
        return is_beginning and any(episode.name_of(place) == instance.name for place in range(len(episode.clients)))

    def _adopt(self, member: StreamsProtocolMember) -> None:
        thread = member.thread
        there = sum(max(1, client.num_stream_threads) for client in self._world.episode.clients)
        is_at_rest = self._world.episode.is_at_rest
        # Threads of one process join together: their heartbeats stay close.
        phase = self._phase_of(thread.instance) if is_at_rest else len(self._members) / there
        member.sent_ms -= int(self._heartbeats.every_ms * phase)
        member.counted_ms = member.sent_ms
        member.assigned, member.is_ready = TasksByRole(frozenset(thread.active), frozenset(thread.standby)), True
        member.reconciled = member.said = Reconciled(member.assigned, is_ready=True)
        self._members[member.id] = self._member_of[thread.key] = member
        self._world.has_members(any_left=True)
        self._group.adopt(member.id, str(thread.instance.process_id), member.assigned, is_due=not is_at_rest)
        if not is_at_rest:
            self._because("members that were there")
        self._report(member)
        self._heartbeats.arm(member)

    def _phase_of(self, instance: Instance) -> float:
        if instance.name not in self._phases:
            self._phases[instance.name] = self._world.random.random()
        return self._phases[instance.name]

    def stopped(self, instance: Instance, *, leaves: bool | None, thread: Thread | None = None) -> None:
        if instance is self._failing:
            self.crashed(instance)
            return
        # A dynamic member stays only if REMAIN_IN_GROUP is set, and obeyed.
        is_static = instance.settings.instance_id is not None
        for member in self._of(instance):
            if thread not in (None, member.thread):
                continue
            if leaves or not (is_static or (leaves is False and self._may_remain)):
                self._clock.after(self._leaves_after_ms(member.thread), partial(self._gone, member, "left"))
                continue
            leaves_ms = self._clock.now + self._leaves_after_ms(member.thread)
            if is_static:
                self._leaves_for_a_while(member, leaves_ms)
            else:
                self._session_ends(member, member.last_heartbeat_ms(leaves_ms, self._heartbeats.every_ms))

    def _leaves_for_a_while(self, member: StreamsProtocolMember, at_ms: int) -> None:
        """A static member's temporary leave renews no session: that runs since its last heartbeat."""
        member.has_left = True
        self._session_ends(member, member.last_heartbeat_ms(at_ms, self._heartbeats.every_ms))
        self._clock.at(at_ms, partial(self._has_left_for_a_while, member))

    def _has_left_for_a_while(self, member: StreamsProtocolMember) -> None:
        if self._members.get(member.id) is member:
            self._group.leaves_for_a_while(member.id)

    def _leaves_after_ms(self, thread: Thread) -> int:
        leaves_ms = [*thread.instance.leaves_ms[thread.number - 1 : thread.number], None][0]
        return self._timings.leave_ms if leaves_ms is None else leaves_ms

    def crashed(self, instance: Instance) -> None:
        for member in self._of(instance):
            if not member.has_reset:
                self._session_ends(member, self._heartbeats.last_ms(member))

    def corrupted(self, thread: Thread) -> None:
        """No effect: a member of a streams group cannot request a rebalance."""

    def paused(self, instance: Instance) -> None:
        for member in self._of(instance):
            last_heard_ms = self._heartbeats.last_ms(member)
            member.silent_ms = self._clock.now
            self._session_ends(member, last_heard_ms)

    def missed_poll(self, thread: Thread) -> None:
        """The network thread of a busy member notices it when it wakes."""
        member = self._member_of.get(thread.key)
        if member is None or thread.stalled_until_ms is None:
            self._leaves_late(thread)
            return
        now = self._clock.now
        since_ms = now - member.last_heartbeat_ms(now, self._heartbeats.every_ms)
        wakes_ms = min(self._heartbeats.next_ms(member), now + wakes_within_ms(since_ms))
        self._clock.at(wakes_ms, partial(self._notices_late, thread, thread.stalled_until_ms))

    def _notices_late(self, thread: Thread, until_ms: int) -> None:
        if thread.stalled_until_ms == until_ms:
            self._leaves_late(thread)

    def _leaves_late(self, thread: Thread) -> None:
        """A static member leaves temporarily: it keeps its place until its session ends."""
        member = self._member_of.get(thread.key)
        if member is None or self._members.get(member.id) is not member or member.has_reset:
            return
        member.has_reset, member.silent_ms = True, self._clock.now
        self._world.say(
            thread.instance.name, "late", f"thread {thread.number} has not polled in time", thread=thread.key
        )
        if member.static_id is None:
            self._clock.after(self._timings.request_ms, partial(self._gone, member, "did not poll in time"))
        else:
            self._leaves_for_a_while(member, self._clock.now + self._timings.request_ms)

    def free(self, thread: Thread) -> None:
        member = self._member_of.get(thread.key)
        if member is None:
            return
        if member.has_reset:
            self._clock.after(0, partial(self._joins_anew, member))
        elif self._members.get(member.id) is not member:
            self._hears_that_it_is_gone(member, self._clock.now + self._timings.request_ms)
        elif member.silent_ms is not None:
            due_ms = member.next_heartbeat_ms(member.silent_ms, self._heartbeats.every_ms)
            member.silent_ms = None
            member.sessions += 1
            if due_ms <= self._clock.now:
                self._heartbeat(member)
            else:
                self._heartbeats.arm(member)

    def _hears_that_it_is_gone(self, member: StreamsProtocolMember, at_ms: int) -> None:
        """UNKNOWN_MEMBER_ID: a fenced member gives up its tasks, and rejoins under its old id."""
        thread = member.thread
        self._world.say(
            thread.instance.name, "zombie", f"thread {thread.number} goes on, and is no member any more",
            thread=thread.key, until_ms=at_ms - self._world.begin_ms,
        )  # fmt: skip
        self._clock.at(at_ms, partial(self._joins_anew, member))

    def _joins_anew(self, member: StreamsProtocolMember) -> None:
        thread = member.thread
        if self._world.deferred(thread, partial(self._joins_anew, member)):
            return
        if thread not in thread.instance.threads or self._member_of.get(thread.key) is not member:
            return
        if member.static_id is None:
            self._gone(member, "did not poll in time")  # it reports so before it rejoins
        self._world.lost(thread)
        self._join(StreamsProtocolMember(thread, member.id, self._clock.now))

    def end_offsets_fail(self, until_ms: int) -> None:
        """No effect: the broker does not use end offsets."""

    def metadata_changes(self) -> None:
        """The next heartbeat sees a new hash of the topics, so a new epoch."""
        if self._group.members:
            self._because("metadata of topics have changed")
            self._group.metadata_changes()
            self._heartbeats.arm_all()

    def racks_change(self, *, is_bounce: bool) -> None:
        """No effect: brokers' assignors read no racks of replicas."""

    def _id_of(self, thread: Thread) -> str:
        # In the order of joining.
        used = {self._member_of[each.key].id for each in thread.instance.threads if each.key in self._member_of}
        for member_id in thread.instance.settings.member_ids:
            if member_id not in used and member_id not in self._members:
                return member_id
        return drawn_member_id(self._world.episode.id, thread.instance.name, thread.key)

    def _of(self, instance: Instance) -> list[StreamsProtocolMember]:
        return [member for member in self._members.values() if member.thread in instance.threads]

    # --- the end of a membership ----------------------------------------------------------------------------

    def _session_ends(self, member: StreamsProtocolMember, heard_ms: int) -> None:
        member.sessions += 1
        end_ms = heard_ms + self._timings.streams_session_timeout_ms
        self._clock.at(end_ms, partial(self._session_over, member, member.sessions))

    def _session_over(self, member: StreamsProtocolMember, sessions: int) -> None:
        if member.sessions == sessions:
            self._gone(member, "was fenced")

    def _gone(self, member: StreamsProtocolMember, how: str) -> None:
        if self._members.get(member.id) is not member:
            return
        held = self._group.remove(member.id)
        self._holds(member, frozenset())
        self._forget(member)
        self._because(f"{member.thread.instance.name} {how}")
        self._world.say(
            "coordinator", "removed", f"{member.id} of {member.thread.instance.name} {how}",
            thread=member.thread.key,
        )  # fmt: skip
        self._world.unowned(sorted(held.active))
        if not self._group.members:
            self._world.has_members(any_left=False)
        thread = member.thread
        if thread in thread.instance.threads and thread.stalled_until_ms is None and not member.has_reset:
            # It learns of it with its next heartbeat.
            due = self._heartbeats.next_ms(member) + self._timings.request_ms
            self._hears_that_it_is_gone(member, due)
        self._heartbeats.arm_all()

    def _forget(self, member: StreamsProtocolMember) -> None:
        del self._members[member.id]
        self._reports.forget(member)

    def is_complete(self) -> bool:
        running = sum(len(each.threads) for each in self._world.instances.values() if each.is_up)
        return len(self._members) == running and all(
            not member.is_dead(self._members) and not member.is_reconciling and self._is_settled(member)
            for member in self._members.values()
        )

    # --- heartbeats -------------------------------------------------------------------------------------

    def _is_settled(self, member: StreamsProtocolMember) -> bool:
        is_said = member.said == member.reconciled
        return is_said and member.is_ready is True and self._group.is_settled(member.id)

    def _acknowledge(self, member: StreamsProtocolMember, counted_ms: int) -> None:
        # Heartbeats since then have set the timer, which does not go back.
        self._heartbeat(member, max(counted_ms, self._heartbeats.last_ms(member)))

    def _heartbeat(self, member: StreamsProtocolMember, counted_ms: int | None = None) -> None:
        """An acknowledgement has the time from which the next heartbeats count."""
        if member.is_dead(self._members):
            return
        self._look_for_topics()
        if counted_ms is not None or self._reports.has_news(member):
            self._report(member)
        owned, before = member.says_owned(), self._group.members[member.id]
        self._played(member, partial(self._group.heartbeat, self._clock.now, member.id, owned), counted_ms)
        after = self._group.members[member.id]
        if owned is not None and before is not after:
            self._reconciling.taken_from(member, owned, before, after)

    def _look_for_topics(self) -> None:
        if not self._group.has_topics and self._topics_ms is not None and self._clock.now >= self._topics_ms:
            self._because("topics are there")
            self._group.topics_are_there()
            self._heartbeats.arm_all()

    def _played(
        self, member: StreamsProtocolMember, request: partial[HeartbeatAnswer], counted_ms: int | None = None
    ) -> None:
        now, target_epoch = self._clock.now, self._group.target_epoch
        before = self._group.members.get(member.id)
        try:
            answer = request()
        except LeaderFailedError as error:
            self._failed(member, error)
            return
        self._heartbeats.sent(member, counted_ms)
        if self._group.target_epoch != target_epoch:
            self._write_down()
            self._heartbeats.arm_all()
        standing = self._group.members[member.id]
        if before is None or before.assigned.active != standing.assigned.active:
            self._holds(member, standing.assigned.active)
        if answer.has_changed and standing.state is MemberState.UNREVOKED:
            # max.poll.interval.ms of a member is its time limit for revocations.
            late_ms = now + self._timings.max_poll_interval_ms
            self._clock.at(late_ms, partial(self._too_late, member, standing))
        self._clock.after(self._timings.request_ms, partial(self._reconciling.answered, member, answer))

    def _holds(self, member: StreamsProtocolMember, active: Iterable[int]) -> None:
        if self.holdings is not None:
            names = frozenset(str(self._world.tasks[task]) for task in active)
            self.holdings.append(MemberOwnership(self._clock.now, member.id, member.thread.instance.name, names))

    def _failed(self, member: StreamsProtocolMember, error: LeaderFailedError) -> None:
        instance = member.thread.instance
        member.silent_ms = self._clock.now
        if member.id not in self._group.members:
            self._forget(member)
            if not self._group.members:
                self._world.has_members(any_left=False)
        self._say_failed(error)
        self._clock.after(self._timings.request_ms, partial(self._closes, member.thread, instance))

    def _say_failed(self, error: LeaderFailedError) -> None:
        self.failures.append((self._clock.now, str(error)))
        self._world.say("coordinator", "failed", f"there is no target of epoch {self._group.epoch}: {error}")

    def _closes(self, thread: Thread, instance: Instance) -> None:
        if self._world.deferred(thread, partial(self._closes, thread, instance)):
            return
        if thread in instance.threads and instance.is_up:
            self._failing = instance
            self._world.stop(instance.name, self)
            self._failing = None

    def _too_late(self, member: StreamsProtocolMember, standing: Standing) -> None:
        if self._group.members.get(member.id) is standing:
            self._gone(member, "was fenced: it did not give its tasks back in time")

    # --- targets ----------------------------------------------------------------------------------------

    def _initial_delay(self) -> None:
        self._clock.after(self._timings.streams_initial_rebalance_delay_ms, self._initial_delay_over)

    def _initial_delay_over(self) -> None:
        try:
            is_computed = self._group.initial_delay_over(self._clock.now)
        except LeaderFailedError as error:
            self._say_failed(error)  # only the next heartbeat tries again
            return
        if is_computed:
            self._write_down()
            self._heartbeats.arm_all()

    def _assign(self, members: tuple[StreamsGroupMember, ...]) -> dict[str, TasksByRole]:
        for member in self._members.values():
            if member.silent_ms is not None:
                continue
            # Reports without other effects were not simulated.
            if self._reports.is_due(member):
                self._report(member)
        if self._targets.existing is not self._world.existing:
            self._targets.exist(self._world.existing)
        metadata = {member: each.metadata for member, each in self._members.items()}
        return self._targets.of(members, metadata, self._reports.offsets)

    def _refined(
        self, targets: Mapping[str, TasksByRole], standings: Mapping[str, Standing]
    ) -> Mapping[str, TasksByRole]:
        if self._refiner is None:
            return targets
        return self._refiner.refined(targets, standings, self._reports.offsets, self._reports.ends)

    def _report(self, member: StreamsProtocolMember) -> None:
        if not member.is_dead(self._members) and self._reports.report(member):
            self._group.offsets_reported()

    def _because(self, reason: str) -> None:
        if reason not in self._reasons:
            self._reasons.append(reason)

    def _write_down(self) -> None:
        for each in self._members.values():
            each.decided_for = each.process_id
        generation = decided_generation(
            self._group.target_epoch, self._group.targets, self._members, self._reasons, len(self._group.members),
            self._clock.now,
        )  # fmt: skip
        self._reasons.clear()
        self.generations.append(generation)
        self._world.say(
            "coordinator", "assign", f"target of epoch {generation.number} for {plural(generation.members, 'member')}",
        )  # fmt: skip
