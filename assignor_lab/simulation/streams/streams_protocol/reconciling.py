"""Members that go through what the broker tells them to have, and acknowledge it.

Read from the released class (kafka-clients 4.3.1, disassembled): ``StreamsMembershipManager.maybeReconcile`` takes what
was told last, and nothing else comes in its way until ``onHeartbeatRequestGenerated`` sees its acknowledgement sent.
What was told meanwhile comes next, from that very moment on: before that acknowledgement is answered. An assignment
that comes back is gone through again (``LocalAssignment.equals`` looks at the number that each is given).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from assignor_lab.kafka.streams_group.group import HeartbeatAnswer
from assignor_lab.kafka.streams_group.reconciliation import Standing
from assignor_lab.kafka.streams_group.tasks import Tasks
from assignor_lab.simulation.streams.instances import Thread
from assignor_lab.simulation.streams.spread import spread_around
from assignor_lab.simulation.streams.streams_protocol.members import Member, Reconciled
from assignor_lab.simulation.streams.world import World

__all__ = ["Reconciling"]


class Reconciling:
    """The members' side of an answer to a heartbeat.

    Args:
        world: The world.
        members: Member id to member; whoever joins or goes changes it.
        acknowledge: Sends a heartbeat, of which a member's next one is counted from the given moment on.
        over: Is told of a member that has read an answer, or has something else to say.
    """

    def __init__(
        self,
        world: World,
        members: Mapping[str, Member],
        acknowledge: Callable[[Member, int], None],
        over: Callable[[Member], None],
    ) -> None:
        self._world, self._clock, self._timings = world, world.clock, world.timings
        self._members, self._acknowledge, self._over = members, acknowledge, over
        #: When somebody was told to have something else.
        self.changes: list[int] = []

    def answered(self, member: Member, answer: HeartbeatAnswer) -> None:
        """An answer has come to a member."""
        if member.is_dead(self._members):
            return
        if member.thread.instance.is_silent:
            self._world.deferred(member.thread, partial(self.answered, member, answer))
            return
        is_news = answer.tasks != member.told or answer.is_ready != member.is_ready
        if answer.tasks != member.told:
            self.changes.append(self._clock.now)
        member.told, member.is_ready = answer.tasks, answer.is_ready
        if is_news:
            member.news += 1
            self._reconcile(member)
        self._over(member)

    def _reconcile(self, member: Member) -> None:
        """Goes through what was told last; what comes meanwhile waits until that is acknowledged."""
        if member.is_reconciling:
            return
        member.is_reconciling = True
        begin = partial(self._begin, member, Reconciled(member.told, member.is_ready is True), member.news)
        if member.busy_until_ms > self._clock.now:
            self._clock.at(member.busy_until_ms, begin)
        else:
            begin()

    def _begin(self, member: Member, new: Reconciled, news: int) -> None:
        """The thread closes and opens tasks, and the member acknowledges what it has then."""
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
        # Heartbeats tell of it from now on: the thread says so itself (DefaultStreamsRebalanceListener).
        member.reconciled = new
        self._over(member)
        # The network thread's loop before the one that sends the acknowledgement.
        loop_ms = now + min(after, self._timings.acknowledge_loop_ms)
        self._clock.at(now + after, partial(self._gone_through, member, news, loop_ms))

    def _gone_through(self, member: Member, news: int, loop_ms: int, heard: int | None = None) -> None:
        """The network thread acknowledges it, whatever the member's own thread does meanwhile.

        Args:
            member: The member.
            news: The number of what it has gone through.
            loop_ms: From when on its next heartbeats are counted.
            heard: The number of what it had been told when it was through, if it has waited since for an answer: one
                request is on its way at a time, and what its answer tells is gone through instead.
        """
        again = partial(self._gone_through, member, news, loop_ms, member.news if heard is None else heard)
        if member.thread.instance.is_silent and self._world.deferred(member.thread, again):
            return
        if member.is_dead(self._members) or member.has_reset:
            return
        answer_ms = member.sent_ms + self._timings.request_ms
        if heard is None and self._clock.now < answer_ms:
            self._clock.at(answer_ms, again)
            return
        if heard is None or heard == member.news:
            self._acknowledge(member, loop_ms)
        member.is_reconciling = False
        if member.news != news:
            self._reconcile(member)

    def taken_from(self, member: Member, owned: Tasks, before: Standing, after: Standing) -> None:
        """Says so in the log where tasks count as given back that a member has just been told to have.

        Kafka's ``CurrentAssignmentBuilder`` (4.3.1 and 4.4.0) takes what a heartbeat does not name as given back. One
        that acknowledges what came before does not name what was told since.
        """
        has, had = after.assigned | after.pending, before.assigned | before.pending
        taken = (had - has) & member.told - owned
        if tasks := sorted(taken.active | taken.standby | taken.warmup):
            thread, names = member.thread, [str(self._world.tasks[task]) for task in tasks]
            self._world.say(
                thread.instance.name, "overtaken",
                f"thread {thread.number} says what it has by what it was told before, and counts as having given back "
                f"what it was told since: {', '.join(names)}", thread=thread.key, tasks=names,
            )  # fmt: skip

    def _acknowledges_after_ms(self, thread: Thread, tasks: Tasks) -> int:
        timings = self._timings
        gives_up = bool(thread.active - tasks.active or thread.standby - (tasks.standby | tasks.warmup))
        usual, spread = timings.acknowledge_ms, timings.acknowledge_spread_ms
        if not gives_up:
            spread = spread * timings.acknowledge_new_ms // usual if usual else spread
            usual = timings.acknowledge_new_ms
        return spread_around(usual, spread, self._world.random.random())
