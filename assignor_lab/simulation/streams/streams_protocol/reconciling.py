"""Members that go through what the broker tells them to have, and acknowledge it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from assignor_lab.kafka.streams_group.group import HeartbeatAnswer
from assignor_lab.kafka.streams_group.tasks import Tasks
from assignor_lab.simulation.streams.instances import Thread
from assignor_lab.simulation.streams.spread import spread_around
from assignor_lab.simulation.streams.streams_protocol.members import Member
from assignor_lab.simulation.streams.world import World

__all__ = ["Reconciling"]


class Reconciling:
    """The members' side of an answer to a heartbeat.

    Args:
        world: The world.
        members: Member id to member; whoever joins or goes changes it.
        acknowledge: Sends a heartbeat with what a member has now; its next one is counted from the given moment on.
        over: Is told of a member that has read an answer.
    """

    def __init__(
        self,
        world: World,
        members: Mapping[str, Member],
        acknowledge: Callable[[Member, Tasks, int], None],
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
            self._reconcile(member)
        self._over(member)

    def _reconcile(self, member: Member) -> None:
        """What comes while a member goes through an assignment waits for its end; then the latest counts."""
        if member.is_waiting:
            return
        member.is_waiting = True
        begins = max(member.busy_until_ms, member.acknowledges_ms)
        if begins > self._clock.now:
            self._clock.at(begins, partial(self._begin, member))
        else:
            self._begin(member)

    def _begin(self, member: Member) -> None:
        """The thread closes and opens tasks, and the member acknowledges what it has then."""
        if self._world.deferred(member.thread, partial(self._begin, member)):
            return
        member.is_waiting = False
        if member.is_dead(self._members):
            return
        thread, now, tasks = member.thread, self._clock.now, member.told
        after = self._acknowledges_after_ms(thread, tasks)
        member.acknowledges_ms = now + after
        opened = (tasks.active - thread.active) | ((tasks.standby | tasks.warmup) - thread.standby)
        if opened:
            takes = self._timings.open_store_ms if thread.had_tasks else self._timings.first_open_store_ms
            member.busy_until_ms = member.acknowledges_ms + takes
        self._world.assign(thread, tasks.active, tasks.standby | tasks.warmup)
        # The network thread's loop before the one that sends the acknowledgement.
        loop_ms = now + min(after, self._timings.acknowledge_loop_ms)
        self._clock.at(member.acknowledges_ms, partial(self._acknowledge, member, tasks, loop_ms))

    def _acknowledges_after_ms(self, thread: Thread, tasks: Tasks) -> int:
        timings = self._timings
        gives_up = bool(thread.active - tasks.active or thread.standby - (tasks.standby | tasks.warmup))
        usual, spread = timings.acknowledge_ms, timings.acknowledge_spread_ms
        if not gives_up:
            spread = spread * timings.acknowledge_new_ms // usual if usual else spread
            usual = timings.acknowledge_new_ms
        return spread_around(usual, spread, self._world.random.random())
