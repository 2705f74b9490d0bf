"""Stalls: suspended processes (SIGSTOP, a long garbage collection), and threads busy with one record.

A stalled thread's actions are deferred until it is free. A suspended process sends no heartbeats and restores nothing.
A busy thread's heartbeats and restoring continue until ``max.poll.interval.ms`` is over.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

from assignor_lab.simulation.streams.instances import Instance, Thread
from assignor_lab.simulation.streams.world import GroupProtocol, SimulatedWorld

__all__ = ["StalledGroup", "Stalls"]


class StalledGroup(GroupProtocol, Protocol):
    """The stalls' interface to the group's protocol."""

    def paused(self, instance: Instance) -> None:
        """It sends nothing until :meth:`free`."""

    def missed_poll(self, thread: Thread) -> None:
        """No poll for ``max.poll.interval.ms``; may be called repeatedly."""

    def free(self, thread: Thread) -> None: ...


class Stalls:
    """Stalls threads."""

    def __init__(self, world: SimulatedWorld, group: StalledGroup) -> None:
        self._world = world
        self._group = group

    def pause(self, name: str, for_ms: int) -> None:
        instance = self._world.instances[name]
        until_ms = self._world.clock.now - self._world.begin_ms + for_ms
        for thread in instance.threads:
            self._world.say(name, "pause", f"{name} stands still for {for_ms} ms", thread=thread.key, until_ms=until_ms)
        self._stall(instance.threads, for_ms, suspended_ms=for_ms)
        instance.is_silent = True
        self._group.paused(instance)
        self._world.stops_restoring(instance)

    def busy(self, name: str, number: int, for_ms: int) -> None:
        world = self._world
        threads = [thread for thread in world.instances[name].threads if thread.number == number]
        self._stall(threads, for_ms, suspended_ms=0)
        for thread in threads:
            world.say(
                name, "busy", f"thread {number} works on one record for {for_ms} ms", thread=thread.key,
                until_ms=world.clock.now - world.begin_ms + for_ms,
            )  # fmt: skip
            if for_ms > world.timings.max_poll_interval_ms:
                world.clock.after(world.timings.max_poll_interval_ms, partial(self._misses_poll, thread))

    def _stall(self, threads: list[Thread], for_ms: int, suspended_ms: int) -> None:
        now = self._world.clock.now
        for thread in threads:
            self._world.stops_working(thread)
            thread.stalled_until_ms = now + for_ms
            self._world.clock.after(for_ms, partial(self._over, thread, suspended_ms))

    def _misses_poll(self, thread: Thread) -> None:
        if _lives(thread):
            self._group.missed_poll(thread)

    def _over(self, thread: Thread, suspended_ms: int) -> None:
        if not _lives(thread):
            return
        thread.stalled_until_ms = None
        thread.instance.is_silent = False
        self._world.goes_on(thread)
        if suspended_ms > self._world.timings.max_poll_interval_ms:
            self._group.missed_poll(thread)
        self._group.free(thread)


def _lives(thread: Thread) -> bool:
    return thread in thread.instance.threads and thread.instance.is_up
