"""Classic group on the virtual clock, seen from its members."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from assignment_api import ProcessID
from assignment_api.releases import holds
from assignor_lab.documents.wording import plural
from assignor_lab.kafka.coordinator import (
    AddressedReply,
    Coordinator,
    CoordinatorState,
    JoinReply,
    JoinRequest,
    Refused,
    Synced,
    SyncRequest,
)  # fmt: skip
from assignor_lab.kafka.coordinator.member_ids import MemberIds
from assignor_lab.kafka.leader.member_messages import MemberMessage
from assignor_lab.kafka.wire import NO_REBALANCE
from assignor_lab.model.unowned import MemberOwnership
from assignor_lab.simulation.streams.classic.broker import Broker
from assignor_lab.simulation.streams.classic.decided import decided_generation
from assignor_lab.simulation.streams.classic.heartbeats import ClassicHeartbeats
from assignor_lab.simulation.streams.classic.leader import ClassicLeader, JoinReport, LeaderDecision
from assignor_lab.simulation.streams.classic.members import ClassicMember
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.instances import Instance, Thread
from assignor_lab.simulation.streams.leading import TaskLeader
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["ClassicGroup"]


class _Cooperative:
    """The only protocol that members of Streams offer."""

    version = 1


_COOPERATIVE = _Cooperative()


class ClassicGroup:
    """A group under the classic protocol."""

    def __init__(self, world: SimulatedWorld, assignor: TaskLeader) -> None:
        self._world = world
        self._timings = world.timings
        self._clock = world.clock
        self._leader = ClassicLeader(world, assignor)
        there = sum(max(1, client.num_stream_threads) for client in world.episode.clients)
        self._ids = MemberIds(world.seed)
        self._coordinator = Coordinator(self._timings.initial_rebalance_delay_ms, there, self._member_id)
        self._members: dict[str, ClassicMember] = {}
        self._heartbeats = ClassicHeartbeats(world, self._coordinator, self._join_if_free, self._lost, self._closes)
        self._broker = Broker(world, self._coordinator, self._members, self._heartbeats, self._answered)
        #: Member to the process for which its tasks were decided.
        self._processes: dict[str, ProcessID] = {}
        self._missing_topics = list(world.episode.missing_topics)
        self._unknown_ends_until_ms = 0
        self.generations: list[Generation] = []
        self.changes: list[int] | None = None
        self.holdings: list[MemberOwnership] | None = None
        self.failures: list[tuple[int, str]] = []

    def _member_id(self, request: JoinRequest) -> str:
        settings = self._members[request.worker].thread.instance.settings
        return self._ids.new(request.instance_id or request.worker, settings.member_ids)

    # --- events -----------------------------------------------------------------------------------------

    def started(self, thread: Thread) -> None:
        before = self._members.get(thread.consumer)
        if before is not None and before.is_closing and before.is_alive:
            self._ends(before)
        member = ClassicMember(thread, ready_ms=self._clock.now, heartbeats_from_ms=self._clock.now)
        self._members[thread.consumer] = member
        self._say_joins(thread)
        self._join(member, "")

    def _say_joins(self, thread: Thread) -> None:
        self._world.say(thread.instance.name, "joins", f"thread {thread.number} joins", thread=thread.key)

    def stopped(self, instance: Instance, *, leaves: bool | None, thread: Thread | None = None) -> None:
        for member in self._of(instance):
            if thread not in (None, member.thread):
                continue
            member.leaves = bool(leaves)
            stalled = member.thread.stalled_until_ms is not None
            if member.is_waiting and not (member.has_reset or member.is_replaced or stalled):
                # A thread finishes its rebalance before it ends (Kafka: ``StreamThread.runLoop``).
                member.is_closing = True
                member.scheduled += 1
                self._broker.leaves_behind(member)
            else:
                self._ends(member)

    def _ends(self, member: ClassicMember) -> None:
        had_tasks = bool(member.thread.active)
        self._buried(member)
        if member.leaves and member.id is not None and not member.has_reset:
            own_leaves_ms = member.thread.instance.leaves_ms[member.thread.number - 1 : member.thread.number]
            leaves_ms = next((after for after in own_leaves_ms if after is not None), self._timings.request_ms)
            self._clock.after(leaves_ms, partial(self._broker.leave, member.id))
        else:
            # Closing commits, which renews the session, if there is anything to commit.
            commits = had_tasks and not self._world.episode.eos
            last_heard_ms = self._clock.now + self._timings.request_ms if commits else self._heartbeats.heard_ms(member)
            self._broker.session_ends(member, last_heard_ms)

    def crashed(self, instance: Instance) -> None:
        for member in self._of(instance):
            was_silent, last_heard_ms = member.is_silent, self._heartbeats.heard_ms(member)
            self._buried(member)
            if not was_silent:
                self._broker.session_ends(member, last_heard_ms)

    def corrupted(self, thread: Thread) -> None:
        member = self._members.get(thread.consumer)
        if member is not None and member.thread is thread and member.id is not None:
            self._join_if_free(member, "Active tasks corrupted")

    def paused(self, instance: Instance) -> None:
        for member in self._of(instance):
            last_heard_ms = self._heartbeats.heard_ms(member)
            member.is_silent = True
            self._broker.leaves_behind(member)
            self._broker.session_ends(member, last_heard_ms)

    def missed_poll(self, thread: Thread) -> None:
        """A dynamic member leaves; a static one stops its heartbeats, so that its session ends."""
        member = self._members.get(thread.consumer)
        if member is None or member.id is None or member.has_reset or member.is_replaced or member.thread is not thread:
            return
        if member.is_joining:
            return  # without heartbeats, polls are not checked either: the coordinator removes the member
        member.has_reset = True
        self._broker.leaves_behind(member)
        self._world.say(
            thread.instance.name, "late", f"thread {thread.number} has not polled in time", thread=thread.key
        )
        if thread.instance.settings.instance_id is None:
            self._clock.after(self._timings.request_ms, partial(self._broker.leave, member.id))
        else:
            last_heard_ms = self._heartbeats.heard_ms(member)
            member.is_silent = True
            self._broker.session_ends(member, last_heard_ms)

    def free(self, thread: Thread) -> None:
        member, now = self._members.get(thread.consumer), self._clock.now
        if member is None or member.id is None or member.is_replaced or member.thread is not thread:
            return
        is_member = self._coordinator.is_member(member.id)
        # A suspended process sends a request at once; heartbeats of a busy thread have continued.
        is_old = member.is_silent and not member.is_joining and member.generation != self._coordinator.generation
        if member.has_reset or not is_member or is_old:
            # A member that has reset itself knows this already; another one learns it with its next request.
            wait = 0 if member.has_reset else self._timings.request_ms
            member.keeps_id = member.keeps_id or (is_old and is_member and not member.has_reset)
            member.is_waiting = member.has_reset = True
            member.scheduled += 1
            self._world.say(
                thread.instance.name, "zombie", f"thread {thread.number} goes on, and has lost its place",
                thread=thread.key, until_ms=now + wait - self._world.begin_ms,
            )  # fmt: skip
            self._clock.after(wait, partial(self._lost, member, member.id))
            return
        self._broker.is_back(member.id)
        if member.is_silent:
            member.is_silent = False
            member.heartbeats_from_ms = now
            if self._coordinator.heartbeat(now, member.id, member.generation) == "rebalancing":
                self._clock.after(self._timings.poll_ms, partial(self._join_if_free, member, "group is rebalancing"))

    def _lost(self, member: ClassicMember, identity: str) -> None:
        if member.is_closing:
            self._buried(member)
        elif member.is_alive and member.id == identity:
            reason = "has lost its generation" if member.keeps_id else "was removed"
            if not member.keeps_id:
                member.id = None
            member.is_waiting = member.is_silent = member.has_reset = member.keeps_id = False
            self._world.lost(member.thread)
            self._say_joins(member.thread)
            self._join(member, f"{reason} and joins again")

    def end_offsets_fail(self, until_ms: int) -> None:
        self._unknown_ends_until_ms = until_ms

    def metadata_changes(self) -> None:
        """Only the leader compares the topics with the assigned ones."""
        for member in self._members.values():
            if member.id is not None and member.id == self._coordinator.leader_id:
                self._join_if_free(member, "cached metadata has changed")

    def racks_change(self, *, is_bounce: bool) -> None:
        """The leader compares the racks of the topics' replicas if it has one itself (``client.rack``, KIP-881).

        ``is_bounce``: each online rack is, before and after, that of a replica or an offline broker: a difference up to
        4.3 only (KAFKA-20778).
        """
        for member in self._members.values():
            settings = member.thread.instance.settings
            leads = member.is_alive and member.id is not None and member.id == self._coordinator.leader_id
            if not leads or settings.rack is None:
                continue
            if not is_bounce or holds("broker_bounce_rebalances", settings.release or self._world.episode.release):
                self._join_if_free(member, "cached metadata has changed")

    def is_complete(self) -> bool:
        running = sum(len(each.threads) for each in self._world.instances.values() if each.is_up)
        alive = [each for each in self._members.values() if each.is_alive and each.id is not None]
        known = self._coordinator.members()
        return (
            len(alive) == len(known) == running
            and (not known or self._coordinator.state is CoordinatorState.STABLE)
            and all(each.id in known and not each.is_waiting for each in alive)
        )

    def _of(self, instance: Instance) -> list[ClassicMember]:
        found = [(thread, self._members.get(thread.consumer)) for thread in instance.threads]
        # A thread before its join has the name of its predecessor, which is another thread.
        return [member for thread, member in found if member is not None and member.thread is thread]

    def _buried(self, member: ClassicMember) -> None:
        member.is_alive = False
        member.scheduled += 1
        self._broker.leaves_behind(member)

    def _closes(self, member: ClassicMember) -> None:
        if not member.is_closing:
            self._world.stop(member.thread.instance.name, self, leaves=False)

    # --- joining ----------------------------------------------------------------------------------------

    def _join_if_free(self, member: ClassicMember, reason: str) -> None:
        if self._world.deferred(member.thread, partial(self._join_if_free, member, reason)):
            return
        if member.has_reset and not member.is_waiting and member.id is not None:
            self._lost(member, member.id)
        elif member.is_alive and not member.is_waiting and self._clock.now >= member.revokes_until_ms:
            self._join(member, reason)

    def _join(self, member: ClassicMember, reason: str) -> None:
        thread = member.thread
        instance = thread.instance
        member.is_waiting = member.is_joining = True
        if not member.is_closing:
            self._world.lock_unused(thread)
        report = JoinReport(
            instance,
            instance.process_id,
            instance.settings,
            tuple(sorted(thread.active)),
            self._world.offset_sums(thread),
            member.used_version,
            thread.key,
        )
        static = instance.settings.instance_id
        request = JoinRequest(
            thread.consumer,
            member.id,
            {_COOPERATIVE: report},
            self._timings.max_poll_interval_ms,
            self._timings.session_timeout_ms,
            None if static is None else f"{static}-{thread.number}",
        )
        self._broker.join(request, reason, partial(self._adopt, member))

    def _adopt(self, member: ClassicMember, before: Mapping[str, str]) -> None:
        if member.id is None:
            now = self._coordinator.members()
            for identity, worker in now.items():
                if worker == member.thread.consumer and identity not in before:
                    member.id = identity
            for identity in before:
                if identity not in now and member.id is not None:
                    self._processes[member.id] = decided_for = self._processes.pop(identity)
                    self._world.took_place(member.thread, decided_for)
        if member.id is not None:
            self._processes.setdefault(member.id, member.thread.instance.process_id)

    def _answered(self, reply: AddressedReply) -> None:
        if isinstance(reply.body, JoinReply):
            self._broker.look_again(reply.body.member_id)
        member = self._members.get(reply.worker)
        if member is None or not member.is_alive:
            return
        if member.thread.stalled_until_ms is not None:
            self._world.deferred(member.thread, partial(self._answered_late, member, member.id, reply))
            if isinstance(reply.body, JoinReply):
                # It sends no heartbeats until it has its join reply.
                self._broker.look_at_session(member.id)
            return
        wait_ms = self._read_ms(member, reply.body)
        if wait_ms:
            if isinstance(reply.body, JoinReply):
                self._broker.look_at_session(member.id)
            self._clock.after(wait_ms, partial(self._polled, member, reply))
        else:
            self._polled(member, reply)

    def _read_ms(self, member: ClassicMember, reply: JoinReply | Synced | Refused) -> int:
        """Time until a member reads a reply. A leader's decision counts from its JoinGroup response."""
        if self._world.episode.waits.read and isinstance(reply, JoinReply):
            return 0 if reply.members is not None else self._world.missed_ms(member.thread)
        return self._world.next_poll_ms(member.thread)

    def _polled(self, member: ClassicMember, reply: AddressedReply) -> None:
        """A member reads a reply with its poll."""
        if not member.is_alive or self._members.get(reply.worker) is not member:
            return
        if member.thread.stalled_until_ms is not None:
            self._world.deferred(member.thread, partial(self._answered_late, member, member.id, reply))
        elif isinstance(reply.body, JoinReply):
            self._joined(member, reply.body)
        elif isinstance(reply.body, Synced):
            self._synced(member, reply.body)
        else:
            self._refused(member, reply.body)

    def _answered_late(self, member: ClassicMember, identity: str | None, reply: AddressedReply) -> None:
        is_member = self._coordinator.is_member(identity)
        if member.is_alive and member.id == identity and is_member and not member.has_reset:
            self._answered(reply)
            if isinstance(reply.body, Synced) and self._coordinator.state is CoordinatorState.PREPARING:
                # Its heartbeats have continued, and have reported the rebalance.
                self._clock.after(self._timings.poll_ms, partial(self._join_if_free, member, "group is rebalancing"))

    def _refused(self, member: ClassicMember, refused: Refused) -> None:
        member.is_waiting = False
        if member.is_closing and refused.reason != "rebalancing":
            self._ends(member)
            return
        if refused.reason == "unknown_member":
            member.id = None
            self._world.lost(member.thread)
            self._say_joins(member.thread)
        elif refused.reason == "illegal_generation":
            self._world.lost(member.thread)
        self._join(member, f"refused: {refused.reason}")

    def _joined(self, member: ClassicMember, joined: JoinReply) -> None:
        if member.id not in (None, joined.member_id):
            return  # it was for the previous process
        member.id, member.generation, member.is_joining = joined.member_id, joined.generation, False
        member.heartbeats_from_ms = self._clock.now
        if joined.members is None:
            self._sync(member, joined.generation, None)
            return
        wait = self._world.assign_ms() if self.generations else self._timings.assign_ms
        if self._missing_topics:
            wait += self._timings.create_topics_ms
        self._clock.after(wait, partial(self._lead, member, joined))

    def _lead(self, member: ClassicMember, joined: JoinReply) -> None:
        if self._world.deferred(member.thread, partial(self._lead, member, joined)):
            return
        if not member.is_alive or joined.members is None:
            return
        if not self._coordinator.is_member(joined.member_id):
            self._lost(member, joined.member_id)
            return
        now = self._clock.now
        known = now >= self._unknown_ends_until_ms
        decision = self._leader.decide(joined.members, joined.member_id, now, end_offsets_known=known)
        if self._coordinator.generation == joined.generation and self._coordinator.state is CoordinatorState.COMPLETING:
            self._write_down(decision)
            self._processes.update((each, report.process_id) for each, report in joined.members.items())
        if self._missing_topics:
            self._missing_topics.clear()
            again = partial(self._join_if_free, member, "cached metadata has changed")
            self._clock.after(self._timings.metadata_ms, again)
        self._sync(member, joined.generation, decision.messages)

    def _write_down(self, decision: LeaderDecision) -> None:
        generation = decided_generation(decision, self._coordinator.rounds[-1], self._broker.reason, self._world)
        self.generations.append(generation)
        followup = "" if generation.followup == "none" else f", {generation.followup} follow-up"
        members = plural(generation.members, "member")
        self._world.say(
            generation.leader, "assign", f"generation {generation.number} with {members}{followup}",
        )  # fmt: skip

    def _sync(self, member: ClassicMember, generation: int, messages: Mapping[str, MemberMessage] | None) -> None:
        if member.id is None:
            return
        if self._coordinator.is_member(member.id):
            self._broker.sync(SyncRequest(member.id, generation, messages))
        else:
            self._clock.after(self._timings.request_ms, partial(self._lost, member, member.id))

    # --- results of an assignment -------------------------------------------------------------------------

    def _synced(self, member: ClassicMember, synced: Synced) -> None:
        member.is_waiting = False
        member.scheduled += 1
        if self._coordinator.state is CoordinatorState.PREPARING:
            # A rebalance has begun while the reply was in transit.
            self._heartbeats.tell_of_rebalance(member)
        message: MemberMessage | None = synced.assignment
        if message is None:
            if member.is_closing:
                self._ends(member)
            return
        numbers = self._world.number_of
        active = {numbers[task] for task in message.info.active_tasks}
        standby = {numbers[task] for task in message.info.standby_tasks}
        revoked = member.thread.active - active
        if member.is_closing:
            self._synced_at_last(member, active)
            return
        is_probing = _changes_version(member, message)
        # In the same poll as the assignment, before its new tasks are initialised.
        after = self._world.revoke_ms() if revoked else self._timings.rejoin_ms
        joins_after_ms = after if revoked else None
        initialised_ms = self._world.assign(member.thread, active, standby, joins_after_ms=joins_after_ms)
        if revoked:
            if self._world.episode.waits.revoke:
                member.revokes_until_ms = self._clock.now + after
            self._clock.after(after, partial(self._join_if_free, member, "need to revoke partitions and re-join"))
            return
        next_ms = message.info.next_rebalance_ms
        host, known = member.thread.instance.settings.host, message.info.partitions_by_host
        if is_probing:
            next_ms = 0
        elif host is not None and known and host not in known:
            next_ms = 0  # a static member returned with another application.server, which no other member knows yet
        if next_ms != NO_REBALANCE:
            # The thread checks its schedule after it has initialised its new tasks.
            due = self._clock.now + max(after, initialised_ms) if next_ms == 0 else next_ms + self._timings.probe_ms
            self._clock.at(due, partial(self._follow_up, member, member.scheduled, next_ms))

    def _synced_at_last(self, member: ClassicMember, active: set[int]) -> None:
        revoked = member.thread.active - active
        member.thread.active &= active
        if revoked:
            member.is_waiting = True
            again = "need to revoke partitions and re-join"
            self._clock.after(self._timings.rejoin_ms, partial(self._joins_before_it_ends, member, again))
        else:
            self._ends(member)

    def _joins_before_it_ends(self, member: ClassicMember, reason: str) -> None:
        if member.is_alive:
            self._join(member, reason)

    def _follow_up(self, member: ClassicMember, scheduled: int, due_ms: int) -> None:
        if self._world.deferred(member.thread, partial(self._follow_up, member, scheduled, due_ms)):
            return
        if member.scheduled == scheduled:
            when = "immediately" if due_ms == 0 else "by probing"
            self._join_if_free(member, f"triggered follow-up rebalance scheduled {when}")


def _changes_version(member: ClassicMember, message: MemberMessage) -> bool:
    """Version probing: true if a member must use another version, and rejoins at once.

    Kafka: ``StreamsPartitionAssignor.maybeUpdateSubscriptionVersion``. The leader answers in the oldest version in use,
    and sends the newest common one.
    """
    common, used = message.info.commonly_supported_version, member.used_version
    if common > used or message.info.version < used:
        member.used_version = common
        return True
    return False
