"""Reconciliation: members process the broker's assignments, and acknowledge them.

Read from the released class (kafka-clients 4.3.1, disassembled): ``StreamsMembershipManager.maybeReconcile`` takes the
latest assignment, undisturbed until ``onHeartbeatRequestGenerated`` sees its acknowledgement sent. Newer ones follow
from then on, before the reply. A repeated assignment is processed again (``LocalAssignment.equals`` compares the number
of each).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from assignor_lab.kafka.streams_group.group import HeartbeatAnswer
from assignor_lab.kafka.streams_group.reconciliation import Standing
from assignor_lab.kafka.streams_group.tasks import TasksByRole
from assignor_lab.simulation.streams.instances import Thread
from assignor_lab.simulation.streams.spread import spread_around
from assignor_lab.simulation.streams.streams_protocol.members import Reconciled, StreamsProtocolMember
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["Reconciling"]


class Reconciling:
    """The members' handling of replies to heartbeats.

    Args:
        acknowledge: Sends a heartbeat; a member's next one counts from the given time.
        over: Called with a member that has read a reply, or has another report.
    """

    def __init__(
        self,
        world: SimulatedWorld,
        members: Mapping[str, StreamsProtocolMember],
        acknowledge: Callable[[StreamsProtocolMember, int], None],
        over: Callable[[StreamsProtocolMember], None],
    ) -> None:
        self._world, self._clock, self._timings = world, world.clock, world.timings
        self._members, self._acknowledge, self._over = members, acknowledge, over
        #: Times at which a member received a changed assignment.
        self.changes: list[int] = []

    def answered(self, member: StreamsProtocolMember, answer: HeartbeatAnswer) -> None:
        if member.is_dead(self._members):
            return
        if member.thread.instance.is_silent:
            self._world.deferred(member.thread, partial(self.answered, member, answer))
            return
        is_news = answer.tasks != member.assigned or answer.is_ready != member.is_ready
        if answer.tasks != member.assigned:
            self.changes.append(self._clock.now)
        member.assigned, member.is_ready = answer.tasks, answer.is_ready
        if is_news:
            member.news += 1
            self._reconcile(member)
        self._over(member)

    def _reconcile(self, member: StreamsProtocolMember) -> None:
        if member.is_reconciling:
            return
        member.is_reconciling = True
        begin = partial(self._begin, member, Reconciled(member.assigned, member.is_ready is True), member.news)
        # The thread takes the assignment at a poll.
        due_ms = max(member.busy_until_ms, self._clock.now + self._world.next_poll_ms(member.thread))
        if due_ms > self._clock.now:
            self._clock.at(due_ms, begin)
        else:
            begin()

    def _begin(self, member: StreamsProtocolMember, new: Reconciled, news: int) -> None:
        """The thread closes and opens tasks, and the member acknowledges them then."""
        if self._world.deferred(member.thread, partial(self._begin, member, new, news)):
            return
        if member.is_dead(self._members):
            return
        thread, now, tasks = member.thread, self._clock.now, new.tasks
        after = self._acknowledges_after_ms(thread, tasks)
        opened = (tasks.active - thread.active) | ((tasks.standby | tasks.warmup) - thread.standby)
        if opened:
            takes = self._timings.open_store_ms if thread.had_tasks else self._timings.first_open_store_ms
            member.busy_until_ms = now + after + takes
        self._world.assign(thread, tasks.active, tasks.standby | tasks.warmup)
        if new.is_ready:
            self._world.group_is_ready(thread)
        else:
            self._world.waits_for_group(thread)
        # Heartbeats report it from now on: the thread sets it (DefaultStreamsRebalanceListener).
        member.reconciled = new
        self._over(member)
        # The network thread's loop before the acknowledgement.
        loop_ms = now + min(after, self._timings.acknowledge_loop_ms)
        self._clock.at(now + after, partial(self._gone_through, member, news, loop_ms))

    def _gone_through(
        self, member: StreamsProtocolMember, news: int, loop_ms: int, seen_news: int | None = None
    ) -> None:
        """The network thread acknowledges it, independently of the member's own thread.

        Args:
            news: The number of the processed assignment.
            loop_ms: Time from which its next heartbeats count.
            seen_news: The latest number when it was done, if it has waited for a reply since: only one request is in
                transit, and its reply's assignment is processed instead.
        """
        again = partial(self._gone_through, member, news, loop_ms, member.news if seen_news is None else seen_news)
        if member.thread.instance.is_silent and self._world.deferred(member.thread, again):
            return
        if member.is_dead(self._members) or member.has_reset:
            return
        answer_ms = member.sent_ms + self._timings.request_ms
        if seen_news is None and self._clock.now < answer_ms:
            self._clock.at(answer_ms, again)
            return
        if seen_news is None or seen_news == member.news:
            self._acknowledge(member, loop_ms)
        member.is_reconciling = False
        if member.news != news:
            self._reconcile(member)

    def taken_from(self, member: StreamsProtocolMember, owned: TasksByRole, before: Standing, after: Standing) -> None:
        """Log tasks of a new assignment that the acknowledgement revokes.

        Kafka's ``CurrentAssignmentBuilder`` (4.3.1 and 4.4.0) treats tasks missing in a heartbeat as revoked. An
        earlier assignment's acknowledgement does not name newer tasks.
        """
        has, had = after.assigned | after.pending, before.assigned | before.pending
        taken = (had - has) & member.assigned - owned
        if tasks := sorted(taken.active | taken.standby | taken.warmup):
            thread, names = member.thread, [str(self._world.tasks[task]) for task in tasks]
            self._world.say(
                thread.instance.name, "overtaken",
                f"thread {thread.number} acknowledges an earlier assignment, and the broker takes its newer tasks as "
                f"revoked: {', '.join(names)}", thread=thread.key, tasks=names,
            )  # fmt: skip

    def _acknowledges_after_ms(self, thread: Thread, tasks: TasksByRole) -> int:
        timings = self._timings
        gives_up = bool(thread.active - tasks.active or thread.standby - (tasks.standby | tasks.warmup))
        usual, spread = timings.acknowledge_ms, timings.acknowledge_spread_ms
        if not gives_up:
            spread = spread * timings.acknowledge_new_ms // usual if usual else spread
            usual = timings.acknowledge_new_ms
        return spread_around(usual, spread, self._world.random.random())
