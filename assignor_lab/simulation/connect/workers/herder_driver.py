"""Driver of herders: passes awaited results, and takes the next waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assignor_lab.kafka.coordinator import JoinRequest, SyncRequest
from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.connect.workers.herder import herder
from assignor_lab.simulation.connect.workers.herder_steps import Ask, Poll, Sleep
from assignor_lab.simulation.connect.workers.worker import WorkerProcess

__all__ = ["Driven", "HerderDriver"]


class Driven:
    """A worker's process with the progress of its herder."""

    __slots__ = ("alive", "busy_until", "last_poll", "polls", "process", "steps", "token", "waits_for_answer", "woken")

    def __init__(self, process: WorkerProcess, start_ms: int, now: int) -> None:
        self.process = process
        self.steps = herder(process, start_ms)
        #: Grows with each step, so that late results are outdated.
        self.token = 0
        self.polls = False
        self.woken = False
        self.alive = True
        self.waits_for_answer = False
        #: End of its thread's block.
        self.busy_until = 0
        self.last_poll = now


class HerderDriver:
    """Advances herders.

    Args:
        ask: Sends a herder's request to the coordinator; :meth:`move` returns the reply.
        came_back: Called with a herder after its block.
    """

    def __init__(
        self,
        clock: VirtualClock,
        ask: Callable[[Driven, int, JoinRequest | SyncRequest], None],
        came_back: Callable[[Driven], None],
        ended: Callable[[Driven], None],
    ) -> None:
        self._clock = clock
        self._ask, self._came_back, self._ended = ask, came_back, ended

    def wake(self, driven: Driven) -> None:
        driven.woken = True
        if driven.polls:
            driven.polls = False
            driven.last_poll = self._clock.now
            token = driven.token
            self._clock.after(0, lambda: self.move(driven, token, None))

    def move(self, driven: Driven, token: int, answer: Any) -> None:
        if not driven.alive or token != driven.token:
            return
        clock = self._clock
        if clock.now < driven.busy_until:
            clock.at(driven.busy_until, lambda: self.move(driven, token, answer))
            return
        if driven.busy_until:
            self._came_back(driven)
        driven.busy_until = 0
        if driven.polls or driven.waits_for_answer:
            driven.last_poll = clock.now
        driven.token += 1
        driven.polls = driven.waits_for_answer = False
        try:
            step = driven.steps.send(answer)
        except StopIteration:
            self._ended(driven)
            return
        token = driven.token
        if isinstance(step, Sleep):
            clock.after(step.duration_ms, lambda: self.move(driven, token, None))
        elif isinstance(step, Ask):
            driven.last_poll = clock.now
            driven.waits_for_answer = True
            self._ask(driven, token, step.request)
        else:
            self._let_poll(driven, token, step)

    def _let_poll(self, driven: Driven, token: int, step: Poll) -> None:
        driven.last_poll = self._clock.now
        driven.polls = True
        if driven.woken:
            driven.woken, driven.polls = False, False
            self._clock.after(0, lambda: self.move(driven, token, None))
        elif step.until_ms is not None:
            self._clock.at(step.until_ms, lambda: self.move(driven, token, None))
