"""A member of a classic group: one thread's consumer, between its joins."""

from __future__ import annotations

import attrs

from assignor_lab.simulation.streams.instances import Thread

__all__ = ["Member"]


@attrs.define(eq=False)
class Member:
    """A member, on its own side.

    Args:
        thread: Its thread.
        id: Its member id, or ``None``: it has none yet, or none any more.
        is_alive: Its process runs.
        generation: The generation that it joined last, as far as it knows.
        is_waiting: It has asked to join, or for its assignment, and has no answer yet.
        is_joining: It has asked to join and has seen no answer yet: until then it sends no heartbeats.
        heartbeats_from_ms: Heartbeats come at this moment, and from then on once in each interval.
        scheduled: Counts assignments, so that a follow-up that an earlier one asked for is known to be void.
        ready_ms: When its thread joined for the first time.
        is_silent: Nothing is heard of it, though its process runs.
        has_reset: It has given up its membership, and joins anew as soon as its thread polls.
        keeps_id: It does so under the same member id: only its generation is over (ILLEGAL_GENERATION).
        used_version: Version in which it tells the leader of itself.
        is_replaced: Somebody else has its ``group.instance.id``.
        is_closing: Its process was asked to end while it waited: it ends when it has its assignment.
        leaves: It leaves the group then.
    """

    thread: Thread
    id: str | None = None
    is_alive: bool = True
    generation: int = 0
    is_waiting: bool = False
    is_joining: bool = False
    heartbeats_from_ms: int = 0
    scheduled: int = 0
    ready_ms: int = 0
    is_silent: bool = False
    has_reset: bool = False
    keeps_id: bool = False
    is_replaced: bool = False
    is_closing: bool = False
    leaves: bool = False
    used_version: int = attrs.field(init=False)

    @used_version.default
    def _used_version(self) -> int:
        # Each process begins with the newest that it knows.
        return self.thread.instance.settings.metadata_version

    def next_heartbeat_ms(self, now_ms: int, every_ms: float) -> int:
        """When its next heartbeat after ``now_ms`` comes."""
        passed = now_ms - self.heartbeats_from_ms
        return self.heartbeats_from_ms + int((passed // every_ms + 1) * every_ms)

    def last_heartbeat_ms(self, now_ms: int, every_ms: float) -> int:
        """When its latest heartbeat came."""
        passed = max(0, now_ms - self.heartbeats_from_ms)
        return self.heartbeats_from_ms + int(passed // every_ms * every_ms)

    def last_commit_ms(self, now_ms: int, every_ms: int) -> int:
        """When it committed last, which tells the coordinator that it lives, too."""
        passed = max(0, now_ms - self.ready_ms)
        return self.ready_ms + passed // max(1, every_ms) * every_ms
