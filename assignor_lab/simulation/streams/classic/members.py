"""Member of a classic group: one thread's consumer, between its joins."""

from __future__ import annotations

import attrs

from assignor_lab.simulation.streams.instances import Thread

__all__ = ["ClassicMember"]


@attrs.define(eq=False)
class ClassicMember:
    """A member, on its own side.

    Args:
        id: Member id; ``None`` before the first join and after a reset.
        is_waiting: JoinGroup or SyncGroup has no reply yet.
        is_joining: JoinGroup has no reply yet: no heartbeats until then.
        heartbeats_from_ms: Time of a heartbeat; further ones follow once in each interval.
        ready_ms: Time of its thread's first join.
        is_silent: It sends nothing, though its process runs.
        has_reset: It has given up its membership, and rejoins with its thread's next poll.
        keeps_id: It rejoins under the same id, since only its generation is over (ILLEGAL_GENERATION).
        used_version: Version of its reports to the leader.
        is_replaced: Another member has its ``group.instance.id``.
        is_closing: It ends when it has its assignment.
        leaves: It leaves the group then.
        revokes_until_ms: It joins no rebalance before it has given up its tasks, as far as a recording shows this wait.
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
    revokes_until_ms: int = 0
    used_version: int = attrs.field(init=False)

    @used_version.default
    def _used_version(self) -> int:
        return self.thread.instance.settings.metadata_version

    def next_heartbeat_ms(self, now_ms: int, every_ms: float) -> int:
        passed = now_ms - self.heartbeats_from_ms
        return self.heartbeats_from_ms + int((passed // every_ms + 1) * every_ms)

    def last_heartbeat_ms(self, now_ms: int, every_ms: float) -> int:
        passed = max(0, now_ms - self.heartbeats_from_ms)
        return self.heartbeats_from_ms + int(passed // every_ms * every_ms)

    def last_commit_ms(self, now_ms: int, every_ms: int) -> int:
        """Time of its last commit, which renews its session."""
        passed = max(0, now_ms - self.ready_ms)
        return self.ready_ms + passed // max(1, every_ms) * every_ms
