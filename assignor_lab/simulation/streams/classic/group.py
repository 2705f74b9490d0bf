"""A classic group on the virtual clock: the broker's coordinator, and members that join, sync and heartbeat.

Heartbeats are not played one by one. A consumer sends the first one when its join is answered and then one in each
interval, so that all members of a generation beat together; what they would hear or have said is worked out where it
matters: when a rebalance begins, and when a process is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial

from assignment_api import ProcessID, TaskAssignment
from assignor_lab.kafka.coordinator import (
    Coordinator,
    GroupState,
    Joined,
    JoinRequest,
    Refused,
    Reply,
    Synced,
    SyncRequest,
)  # fmt: skip
from assignor_lab.kafka.leader.member_messages import MemberMessage
from assignor_lab.kafka.wire import NO_REBALANCE
from assignor_lab.simulation.streams.classic.leader import Decision, Leader, Report
from assignor_lab.simulation.streams.classic.members import Member
from assignor_lab.simulation.streams.generations import Followup, Generation
from assignor_lab.simulation.streams.instances import Instance, Thread
from assignor_lab.simulation.streams.leading import TaskLeader
from assignor_lab.simulation.streams.world import World

__all__ = ["ClassicGroup"]


class _Cooperative:
    """The one protocol that members of Streams offer."""

    version = 1


_COOPERATIVE = _Cooperative()


class ClassicGroup:
    """A group under the classic protocol.

    Args:
        world: The world.
        assignor: Who decides for the leader.
    """

    def __init__(self, world: World, assignor: TaskLeader) -> None:
        self._world = world
        self._timings = world.timings
        self._clock = world.clock
        self._leader = Leader(world, assignor)
        there = sum(max(1, client.num_stream_threads) for client in world.episode.clients)
        self._coordinator = Coordinator(self._timings.initial_rebalance_delay_ms, there)
        self._members: dict[str, Member] = {}
        #: Member to the process that what it has was decided for.
        self._processes: dict[str, ProcessID] = {}
        #: What each dead member had, until the coordinator knows.
        self._left_behind: dict[str, tuple[int, ...]] = {}
        self._missing_topics = list(world.episode.missing_topics)
        self._phase = self._generation = 0
        #: Why the member joined that is joining now, and the one that set the present rebalance off.
        self._client_reason = self._reason = ""
        self._unknown_ends_until_ms = 0
        self.generations: list[Generation] = []
        self.changes: list[int] | None = None
        self.failures: list[tuple[int, str]] = []

    @property
    def _heartbeat_ms(self) -> float:
        return self._timings.heartbeat_interval_ms + self._timings.heartbeat_late_us / 1000

    # --- what the world tells ---------------------------------------------------------------------------

    def started(self, thread: Thread) -> None:
        """A thread of a new process joins."""
        member = Member(thread, ready_ms=self._clock.now, heartbeats_from_ms=self._clock.now)
        self._members[thread.consumer] = member
        self._say_joins(thread)
        self._join(member, "")

    def _say_joins(self, thread: Thread) -> None:
        self._world.say(thread.instance.name, "joins", f"thread {thread.number} joins", thread=thread.key)

    def stopped(self, instance: Instance, *, leaves: bool | None) -> None:
        """Members of an instance that is closed: they leave, or stay until their session ends."""
        now = self._clock.now
        for member in self._of(instance):
            had_tasks = bool(member.thread.active)
            self._buried(member)
            if leaves and member.thread.instance.settings.instance_id is None and member.id is not None:
                identity = member.id
                self._clock.after(self._timings.request_ms, partial(self._leave, identity))
            else:
                # Closing commits, which renews the session, where there is something to commit.
                heard = now + self._timings.request_ms if had_tasks else self._last_heard(member)
                self._session_ends(member, heard)

    def crashed(self, instance: Instance) -> None:
        """Members of a process that is gone: nothing is heard of them any more."""
        for member in self._of(instance):
            was_silent, heard = member.is_silent, self._last_heard(member)
            self._buried(member)
            if not was_silent:
                self._session_ends(member, heard)

    def paused(self, instance: Instance) -> None:
        """Members of a process that stands still: nothing is heard of them until it goes on."""
        for member in self._of(instance):
            heard = self._last_heard(member)
            member.is_silent = True
            if member.id is not None:
                self._left_behind[member.id] = tuple(sorted(member.thread.active))
                self._session_ends(member, heard)

    def missed_poll(self, thread: Thread) -> None:
        """A dynamic member leaves; a static one says nothing any more, so that its session ends."""
        member = self._members.get(thread.consumer)
        if member is None or member.id is None or member.has_reset or member.is_replaced or member.thread is not thread:
            return
        if member.is_joining:
            return  # who has no heartbeats looks at no poll either: the coordinator removes it
        member.has_reset = True
        self._left_behind[member.id] = tuple(sorted(thread.active))
        self._world.say(
            thread.instance.name, "late", f"thread {thread.number} has not polled in time", thread=thread.key
        )
        if thread.instance.settings.instance_id is None:
            self._clock.after(self._timings.request_ms, partial(self._leave, member.id))
        else:
            heard = self._last_heard(member)
            member.is_silent = True
            self._session_ends(member, heard)

    def free(self, thread: Thread) -> None:
        """A thread that goes on is told of what it has missed, or that its member was removed."""
        member, now = self._members.get(thread.consumer), self._clock.now
        if member is None or member.id is None or member.is_replaced or member.thread is not thread:
            return
        is_member = member.id in self._coordinator.members()
        # A process that stood still asks at once; a busy thread's heartbeats have asked in the background.
        is_old = member.is_silent and not member.is_joining and member.generation != self._coordinator.generation
        if member.has_reset or not is_member or is_old:
            # A member that has given up itself knows; another one is told with its next request.
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
        self._left_behind.pop(member.id, None)
        if member.is_silent:
            member.is_silent = False
            member.heartbeats_from_ms = now
            if self._coordinator.heartbeat(now, member.id, member.generation) == "rebalancing":
                self._clock.after(self._timings.poll_ms, partial(self._join_if_free, member, "group is rebalancing"))

    def _lost(self, member: Member, identity: str) -> None:
        if member.is_alive and member.id == identity:
            if not member.keeps_id:
                member.id = None
            member.is_waiting = member.is_silent = member.has_reset = member.keeps_id = False
            self._world.lost(member.thread)
            self._say_joins(member.thread)
            self._join(member, "was removed and joins again")

    def end_offsets_fail(self, until_ms: int) -> None:
        """The leader cannot fetch end offsets until then."""
        self._unknown_ends_until_ms = until_ms

    def metadata_changes(self) -> None:
        """The leader, who alone compares topics with those that it has assigned, joins again."""
        for member in self._members.values():
            if member.id is not None and member.id == self._coordinator.leader_id:
                self._join_if_free(member, "cached metadata has changed")

    def _of(self, instance: Instance) -> list[Member]:
        found = [(thread, self._members.get(thread.consumer)) for thread in instance.threads]
        # A thread that has not joined yet bears the name of its predecessor, who is not it.
        return [member for thread, member in found if member is not None and member.thread is thread]

    def _buried(self, member: Member) -> None:
        member.is_alive = False
        member.scheduled += 1
        if member.id is not None:
            self._left_behind[member.id] = tuple(sorted(member.thread.active))

    def _last_heard(self, member: Member) -> int:
        now = self._clock.now
        heard = member.last_heartbeat_ms(now, self._heartbeat_ms)
        if member.thread.running:
            heard = max(heard, member.last_commit_ms(now, self._timings.commit_interval_ms))
        return heard

    # --- sessions ---------------------------------------------------------------------------------------

    def _session_ends(self, member: Member, heard_ms: int) -> None:
        if member.id is None:
            return
        self._coordinator.heartbeat(heard_ms, member.id, member.generation)
        self._clock.at(heard_ms + self._timings.session_timeout_ms, partial(self._look, member.id))

    def _look(self, identity: str) -> None:
        """The coordinator looks after its sessions and its join phase."""
        now = self._clock.now
        for member in self._members.values():
            # Those who live have said so, whoever else has not.
            if member.is_alive and member.id is not None and not member.is_silent:
                self._coordinator.heartbeat(now, member.id, member.generation)
        before = self._coordinator.members()
        self._called(self._coordinator.expire(now), before)
        self._look_again(identity)

    def _look_again(self, identity: str) -> None:
        """A dead member's session was prolonged by an answer that it could not read any more."""
        end = self._coordinator.session_end_ms(identity) if identity in self._left_behind else None
        if end is not None:
            self._clock.at(end, partial(self._look, identity))

    def _leave(self, identity: str) -> None:
        before = self._coordinator.members()
        self._called(self._coordinator.leave(self._clock.now, identity, "left the group"), before)

    def _called(self, replies: list[Reply], before: Mapping[str, str] | None = None, *, joins: bool = False) -> None:
        """What every call of the coordinator leads to; ``joins``: somebody joined, who can have another's place."""
        if before is not None:
            left = self._coordinator.members()
            gone = [identity for identity in before if identity not in left]
            for identity in gone:
                member = next((each for each in self._members.values() if each.id == identity), None)
                self._world.say(
                    "coordinator", "removed", f"{identity} is no member any more",
                    thread=None if member is None else member.thread.key,
                )  # fmt: skip
                if joins and member is not None and member.is_alive:
                    self._replaced(member)
                elif member is not None:
                    self._will_hear_of_removal(member, identity)
                had = self._left_behind.pop(identity, ())
                self._world.unowned(had if member is None or not member.is_alive else sorted(member.thread.active))
            if gone and not left:
                self._world.has_members(any_left=False)
        for reply in replies:
            self._clock.after(self._timings.request_ms, partial(self._answered, reply))
        if self._coordinator.generation != self._generation:
            self._generation = self._coordinator.generation
            self._joined_without({reply.worker for reply in replies if isinstance(reply.body, Joined)})
            self._look_after_sync_phase()
        self._notice_rebalance()

    def _joined_without(self, told: Collection[str]) -> None:
        """A join phase waited no longer for static members, who keep their places, as they were when they joined last.

        ILLEGAL_GENERATION answers their next heartbeat, and their sessions are not renewed any more.
        """
        now = self._clock.now
        for consumer, member in self._members.items():
            identity = member.id
            if consumer in told or not member.is_alive or identity not in self._coordinator.members():
                continue
            self._world.say(
                member.thread.instance.name, "missed", f"thread {member.thread.number} has missed the join phase",
                thread=member.thread.key,
            )  # fmt: skip
            end = self._coordinator.session_end_ms(identity)
            if end is not None:
                self._clock.at(end, partial(self._look, identity))
            if self._sends_heartbeats(member):
                beat = member.next_heartbeat_ms(now, self._heartbeat_ms)
                self._clock.at(beat, partial(self._hears_of_generation, member, identity))

    def _sends_heartbeats(self, member: Member) -> bool:
        stands_still = member.is_silent or member.thread.instance.is_silent
        return not (stands_still or member.has_reset or member.is_joining or member.is_replaced)

    def _hears_of_generation(self, member: Member, identity: str) -> None:
        """A member whose generation is over gives up what it has as soon as it polls, and joins again."""
        is_old = member.id == identity and member.generation != self._coordinator.generation
        if member.is_alive and is_old and self._sends_heartbeats(member) and identity in self._coordinator.members():
            member.has_reset = member.keeps_id = member.is_silent = True
            self._clock.after(self._timings.poll_ms, partial(self._join_if_free, member, ""))

    def _look_after_sync_phase(self) -> None:
        deadline = self._coordinator.sync_deadline()
        if deadline is not None:
            self._clock.at(deadline, partial(self._sync_phase_due, self._generation))

    def _sync_phase_due(self, generation: int) -> None:
        if generation == self._generation and self._coordinator.sync_deadline() is not None:
            self._look("")

    def _will_hear_of_removal(self, member: Member, identity: str) -> None:
        """UNKNOWN_MEMBER_ID answers the next heartbeat of a member that lives and waits for nothing.

        One that stands still hears it when it goes on (:meth:`free`), one that waits from the answer.
        """
        is_busy = member.thread.stalled_until_ms is not None
        if member.is_alive and self._sends_heartbeats(member) and (is_busy or not member.is_waiting):
            beat = member.next_heartbeat_ms(self._clock.now, self._heartbeat_ms)
            if not is_busy:
                self._world.say(
                    member.thread.instance.name, "zombie",
                    f"thread {member.thread.number} is no member, and does not know",
                    thread=member.thread.key, until_ms=beat - self._world.begin_ms,
                )  # fmt: skip
            self._clock.at(beat, partial(self._hears_of_removal, member, identity))

    def _hears_of_removal(self, member: Member, identity: str) -> None:
        if not self._sends_heartbeats(member) or member.id != identity:
            return
        if member.thread.stalled_until_ms is not None:
            member.has_reset = True
        elif not member.is_waiting:
            self._lost(member, identity)

    def _replaced(self, member: Member) -> None:
        """Somebody else has its ``group.instance.id`` now: this one hears of it with its next heartbeat."""
        now = self._clock.now
        at_ms = now + self._timings.request_ms
        member.is_replaced = True
        if not member.is_waiting:
            at_ms = member.next_heartbeat_ms(now, self._heartbeat_ms)
        # Whatever else it would do goes to the coordinator, too, and has the same answer.
        member.is_waiting = True
        member.scheduled += 1
        name, stalled = member.thread.instance.name, member.thread.stalled_until_ms
        at_ms = at_ms if stalled is None else max(at_ms, stalled)
        self._world.say(
            name, "replaced", f"thread {member.thread.number} has lost its instance id to another and does not know",
            thread=member.thread.key, until_ms=at_ms - self._world.begin_ms,
        )  # fmt: skip
        self._clock.at(at_ms, partial(self._fenced, member))

    def _fenced(self, member: Member) -> None:
        """FENCED_INSTANCE_ID is fatal: Streams' default handler closes the whole client."""
        name = member.thread.instance.name
        if not self._world.deferred(member.thread, partial(self._fenced, member)) and member.is_alive:
            self._world.say(name, "fenced", f"{name} is fenced, and closes")
            self._world.stop(name, self, leaves=False)

    def _notice_rebalance(self) -> None:
        phase = self._coordinator.phase_number
        is_new, self._phase = phase != self._phase, phase
        if is_new:
            self._reason = self._client_reason
            self._world.say("coordinator", "rebalance", "a rebalance begins: " + self._coordinator.reason)
        if self._coordinator.state is not GroupState.PREPARING:
            return
        for member in self._members.values() if is_new else ():
            if member.is_alive and member.id is not None and not member.is_waiting:
                beat = member.next_heartbeat_ms(self._clock.now, self._heartbeat_ms)
                self._clock.at(beat, partial(self._hear, member, phase))
        self._look_after_join_phase()

    def _look_after_join_phase(self) -> None:
        deadline = self._coordinator.join_deadline()
        if deadline is not None:
            self._clock.at(deadline, partial(self._join_phase_due, self._phase))

    def _join_phase_due(self, phase: int) -> None:
        deadline = self._coordinator.join_deadline()
        if phase == self._phase and deadline is not None:
            if deadline <= self._clock.now:
                self._look("")
            else:
                self._clock.at(deadline, partial(self._join_phase_due, phase))

    def _hear(self, member: Member, phase: int) -> None:
        """A heartbeat tells of a rebalance, if it goes on still: those of a busy thread go on in the background."""
        goes_on = self._coordinator.state is GroupState.PREPARING and phase == self._phase
        hears = member.is_alive and self._sends_heartbeats(member) and member.generation == self._coordinator.generation
        if goes_on and hears and not member.is_waiting:
            self._will_join(member)

    def _will_join(self, member: Member) -> None:
        if not self._world.deferred(member.thread, partial(self._will_join, member)):
            self._clock.after(self._timings.poll_ms, partial(self._join_if_free, member, "group is rebalancing"))

    # --- joining ----------------------------------------------------------------------------------------

    def _join_if_free(self, member: Member, reason: str) -> None:
        if self._world.deferred(member.thread, partial(self._join_if_free, member, reason)):
            return
        if member.has_reset and not member.is_waiting and member.id is not None:
            self._lost(member, member.id)
        elif member.is_alive and not member.is_waiting:
            self._join(member, reason)

    def _join(self, member: Member, reason: str) -> None:
        thread = member.thread
        instance = thread.instance
        member.is_waiting = member.is_joining = True
        self._world.lock_unused(thread)
        report = Report(
            instance,
            instance.process_id,
            instance.settings,
            tuple(sorted(thread.active)),
            self._world.offset_sums(thread),
            member.used_version,
            thread.key,
        )
        static = instance.settings.instance_id
        if not self._coordinator.members():
            self._world.has_members(any_left=True)
        before = self._coordinator.members()
        self._client_reason = reason
        replies = self._coordinator.join(
            self._clock.now,
            JoinRequest(
                thread.consumer,
                member.id,
                {_COOPERATIVE: report},
                self._timings.max_poll_interval_ms,
                self._timings.session_timeout_ms,
                None if static is None else f"{static}-{thread.number}",
            ),
        )
        self._adopt(member, before)
        self._called(replies, before, joins=True)
        self._client_reason = ""

    def _adopt(self, member: Member, before: Mapping[str, str]) -> None:
        """A new member gets its id at once: the trip that Kafka makes for it takes milliseconds."""
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

    def _answered(self, reply: Reply) -> None:
        if isinstance(reply.body, Joined):
            self._look_again(reply.body.member_id)
        member = self._members.get(reply.worker)
        if member is None or not member.is_alive:
            return
        if member.thread.stalled_until_ms is not None:
            self._world.deferred(member.thread, partial(self._answered_late, member, member.id, reply))
            end = None if member.id is None else self._coordinator.session_end_ms(member.id)
            if end is not None and isinstance(reply.body, Joined):
                # It sends no heartbeats before it has seen that it has joined.
                self._clock.at(end, partial(self._look, member.id or ""))
            return
        if isinstance(reply.body, Joined):
            self._joined(member, reply.body)
        elif isinstance(reply.body, Synced):
            self._synced(member, reply.body)
        else:
            self._refused(member, reply.body)

    def _answered_late(self, member: Member, identity: str | None, reply: Reply) -> None:
        """Its thread was stalled: the answer counts if it still is who had asked."""
        is_member = identity in self._coordinator.members()
        if member.is_alive and member.id == identity and is_member and not member.has_reset:
            self._answered(reply)
            if isinstance(reply.body, Synced) and self._coordinator.state is GroupState.PREPARING:
                # Its heartbeats went on in the background, and have told of the rebalance.
                self._clock.after(self._timings.poll_ms, partial(self._join_if_free, member, "group is rebalancing"))

    def _refused(self, member: Member, refused: Refused) -> None:
        member.is_waiting = False
        if refused.reason == "unknown_member":
            member.id = None
            self._world.lost(member.thread)
            self._say_joins(member.thread)
        elif refused.reason == "illegal_generation":
            self._world.lost(member.thread)
        self._join(member, f"refused: {refused.reason}")

    def _joined(self, member: Member, joined: Joined) -> None:
        if member.id not in (None, joined.member_id):
            return  # it was for the process before this one
        member.id, member.generation, member.is_joining = joined.member_id, joined.generation, False
        member.heartbeats_from_ms = self._clock.now
        if joined.members is None:
            self._sync(member, joined.generation, None)
            return
        wait = self._timings.assign_ms
        if self._missing_topics:
            wait += self._timings.create_topics_ms
        self._clock.after(wait, partial(self._lead, member, joined))

    def _lead(self, member: Member, joined: Joined) -> None:
        if self._world.deferred(member.thread, partial(self._lead, member, joined)):
            return
        if not member.is_alive or joined.members is None:
            return
        if joined.member_id not in self._coordinator.members():
            self._lost(member, joined.member_id)
            return
        now = self._clock.now
        known = now >= self._unknown_ends_until_ms
        decision = self._leader.decide(joined.members, joined.member_id, now, end_offsets_known=known)
        if self._coordinator.generation == joined.generation and self._coordinator.state is GroupState.COMPLETING:
            self._write_down(joined.generation, decision)
            self._processes.update((each, report.process_id) for each, report in joined.members.items())
        if self._missing_topics:
            self._missing_topics.clear()
            again = partial(self._join_if_free, member, "cached metadata has changed")
            self._clock.after(self._timings.metadata_ms, again)
        self._sync(member, joined.generation, decision.messages)

    def _write_down(self, number: int, decision: Decision) -> None:
        round_ = self._coordinator.rounds[-1]
        wanted = int(self._world.episode.config.get("num.standby.replicas", 0))
        reason = "; ".join((*round_.reasons, *filter(None, (self._reason,))))
        generation = Generation(
            number, round_.prepared_ms, round_.joined_ms, self._clock.now, reason, len(round_.members),
            _followup(decision.messages), _placement(decision, self._world), _warmups(decision.assignment, wanted),
            round_.leader,
        )  # fmt: skip
        self.generations.append(generation)
        followup = "" if generation.followup == "none" else f", {generation.followup} follow-up"
        self._world.say(
            round_.leader, "assign", f"generation {number} with {generation.members} members{followup}",
            generation=number, members=generation.members, followup=generation.followup,
        )  # fmt: skip

    def _sync(self, member: Member, generation: int, messages: Mapping[str, MemberMessage] | None) -> None:
        if member.id is None:
            return
        if member.id in self._coordinator.members():
            self._called(self._coordinator.sync(self._clock.now, SyncRequest(member.id, generation, messages)))
        else:
            self._clock.after(self._timings.request_ms, partial(self._lost, member, member.id))

    # --- what an assignment leads to ----------------------------------------------------------------------

    def _synced(self, member: Member, synced: Synced) -> None:
        member.is_waiting = False
        member.scheduled += 1
        if self._coordinator.state is GroupState.PREPARING:
            # A rebalance has begun while the answer was on its way.
            beat = member.next_heartbeat_ms(self._clock.now, self._heartbeat_ms)
            self._clock.at(beat, partial(self._hear, member, self._phase))
        message: MemberMessage | None = synced.assignment
        if message is None:
            return
        numbers = self._world.number_of
        active = {numbers[task] for task in message.info.active_tasks}
        standby = {numbers[task] for task in message.info.standby_tasks}
        revoked = member.thread.active - active
        is_probing = _changes_version(member, message)
        initialised_ms = self._world.assign(member.thread, active, standby, joins_again=bool(revoked))
        after = self._timings.rejoin_ms
        if revoked:
            # Within the very poll that brought the assignment: what it was given is not initialised yet.
            self._clock.after(after, partial(self._join_if_free, member, "need to revoke partitions and re-join"))
            return
        next_ms = message.info.next_rebalance_ms
        host, known = member.thread.instance.settings.host, message.info.partitions_by_host
        if is_probing:
            next_ms = 0
        elif host is not None and known and host not in known:
            next_ms = 0  # a static member is back with another application.server, which nobody knows yet
        if next_ms != NO_REBALANCE:
            # The thread looks at its schedule once it has initialised what it was given.
            due = self._clock.now + max(after, initialised_ms) if next_ms == 0 else next_ms + self._timings.probe_ms
            self._clock.at(due, partial(self._follow_up, member, member.scheduled, next_ms))

    def _follow_up(self, member: Member, scheduled: int, due_ms: int) -> None:
        if self._world.deferred(member.thread, partial(self._follow_up, member, scheduled, due_ms)):
            return
        if member.scheduled == scheduled:
            when = "immediately" if due_ms == 0 else "by probing"
            self._join_if_free(member, f"triggered follow-up rebalance scheduled {when}")


def _changes_version(member: Member, message: MemberMessage) -> bool:
    """Whether a member is to use another version from now on, and joins again at once (version probing).

    Kafka: ``StreamsPartitionAssignor.maybeUpdateSubscriptionVersion``. The leader answers in the oldest version that
    anybody used, and says what everybody knows.
    """
    common, used = message.info.commonly_supported_version, member.used_version
    if common > used or message.info.version < used:
        member.used_version = common
        return True
    return False


def _followup(messages: Mapping[str, MemberMessage]) -> Followup:
    dues = [message.info.next_rebalance_ms for message in messages.values()]
    if 0 in dues:
        return "immediate"
    return "none" if all(due == NO_REBALANCE for due in dues) else "probing"


def _placement(decision: Decision, world: World) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Instance to the active tasks that it is to have, and to the standbys that it is sent."""
    placed: dict[str, tuple[set[int], set[int]]] = {name: (set(), set()) for name in decision.instances.values()}
    for member, message in decision.messages.items():
        active, standby = placed[decision.instances[member]]
        given = (*message.info.active_tasks, *message.held_back)
        active.update(world.number_of[task] for task in given if task in world.number_of)
        standby.update(world.number_of[task] for task in message.info.standby_tasks)
    return {name: (tuple(sorted(active)), tuple(sorted(standby))) for name, (active, standby) in placed.items()}


def _warmups(assignment: TaskAssignment, wanted: int) -> int:
    """Standbys beyond the number that is configured."""
    copies = Counter(task for client in assignment.assignments for task in client.standby_tasks())
    return sum(max(0, count - max(0, wanted)) for count in copies.values())
