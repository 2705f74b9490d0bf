"""State of one task on an instance's disk, its progress, and its remainder after a kill.

As measured with Kafka 4.3.1 (``tests/data/captures/downtime``): RocksDB records the offset at commits, after a
restoration and at a clean close. The disk has the value from when its memory was last full.
"""

from __future__ import annotations

import bisect
import math

import attrs

from assignor_lab.simulation.streams.episode import Changelog
from assignor_lab.simulation.streams.restoring import RestoreLoad

__all__ = ["LiveChangelog", "TaskStore"]


@attrs.define(eq=False)
class LiveChangelog:
    """The changelogs of one task, which grow while the task is processed.

    Input of an interruption is processed at once afterwards. Input from before the first run is worked off at a given
    rate.

    Args:
        work_off_per_s: Records per second from waiting input.
        first_ms: Time of the first run; ``None``: none yet.
    """

    changelog: Changelog
    begin_ms: int
    stopped_ms: int | None
    work_off_per_s: float = math.inf
    first_ms: int | None = None

    def runs(self, now_ms: int) -> None:
        self.stopped_ms = None
        self.first_ms = now_ms if self.first_ms is None else self.first_ms

    def end(self, now_ms: int) -> float:
        until = now_ms if self.stopped_ms is None else self.stopped_ms
        until = max(self.begin_ms, until)
        worked_off = 0.0
        if self.first_ms is not None and self.changelog.backlog_records:
            since_s = max(0, until - self.first_ms) / 1000
            worked_off = min(self.changelog.backlog_records, self.work_off_per_s * since_s)
        return self.changelog.records + worked_off + self.changelog.records_per_s * (until - self.begin_ms) / 1000


@attrs.define(eq=False)
class TaskStore:
    """One task's directory on one instance.

    Offsets are records of all changelogs of the task.

    Args:
        offset: Offset at ``since_ms``, unless it loads or follows; never beyond the end.
        since_ms: Time of its opening or closing.
        from_offset: Begin of ``load``.
        to_offset: End of ``load``.
        follows: At the changelog's end, except for records in transit.
        behind_ms: Duration of that transit, for a copy with another writer.
        marks: While open: times and offsets with linear progress between them, the opening first.
        noted: Times and offsets at the end of restorations.
        locked_by: Number of the thread that has locked but not opened it.
        unlocked_ms: Time at which such a thread last unlocked it.
        modified_ms: Modification time of its directory, from which the cleaner computes its age.
        remembered: Records of its stores in memory that the process still reports after closing it.
        is_created: Its task has been created or recycled, and not initialised.
        copies_from: Begin of following another writer: time and offset.
        flushed: Offset on disk of a store open before the episode; ``None``: that of its opening.
    """

    task: int
    log: LiveChangelog
    offset: float = 0.0
    since_ms: int = 0
    thread: int | None = None
    load: RestoreLoad | None = None
    from_offset: float = 0.0
    to_offset: float = 0.0
    follows: bool = False
    behind_ms: int = 0
    marks: list[tuple[int, float]] = attrs.field(factory=list)
    noted: list[int] = attrs.field(factory=list)
    locked_by: int | None = None
    unlocked_ms: int | None = None
    modified_ms: int = 0
    remembered: float = 0.0
    is_created: bool = False
    copies_from: tuple[int, float] | None = None
    flushed: float | None = None

    @property
    def is_open(self) -> bool:
        return self.thread is not None

    def end(self, now_ms: int) -> float:
        return self.log.end(now_ms)

    @property
    def record_bytes(self) -> float:
        return self.log.changelog.bytes_per_record or 0.0

    def position(self, now_ms: int) -> float:
        if self.load is not None:
            return self.from_offset + (self.to_offset - self.from_offset) * self.load.fraction(now_ms)
        if self.follows:
            # Never behind its offset at completion.
            return max(self.offset, self.end(now_ms - self.behind_ms))
        return self.offset

    def opened(self, now_ms: int, thread: int) -> None:
        self.thread, self.since_ms, self.follows, self.locked_by = thread, now_ms, False, None
        self.remembered = 0.0
        self.marks, self.noted, self.flushed = [(now_ms, self.offset)], [], None

    def loading(self, now_ms: int, load: RestoreLoad, to_offset: float) -> None:
        self.offset = self.position(now_ms)
        self.load, self.from_offset, self.to_offset, self.follows = load, self.offset, to_offset, False
        self.marks.append((now_ms, self.offset))

    def loaded(self, now_ms: int) -> None:
        """It follows the changelog from now on."""
        self.load, self.follows = None, True
        self.offset = self.end(now_ms)
        self.marks.append((now_ms, self.offset))
        self.noted.append(now_ms)

    def paused(self, now_ms: int) -> None:
        """Cancel the load; the loaded part stays."""
        self.offset = self.position(now_ms)
        self.load, self.follows = None, False
        self.marks.append((now_ms, self.offset))

    def closed(self, now_ms: int) -> None:
        self.offset = self.position(now_ms)
        self.thread, self.load, self.follows, self.since_ms = None, None, False, now_ms

    def forget_memory(self, *, remembers: bool) -> None:
        """Lose the state in memory after closing; ``remembers``: the process goes on reporting it."""
        lost = self.offset * self.log.changelog.in_memory_share
        self.offset -= lost
        self.remembered = lost if remembers else 0.0

    def killed(
        self, now_ms: int, commit_interval_ms: int, memtable_bytes: int, *, is_transactional: bool = False
    ) -> bool:
        """Return to the opening, or to the last flush of its full memory.

        Args:
            is_transactional: Records reach the memory with the commit of their offset, so a commit flushes it.

        Returns:
            True if its memory has been full since it was opened.
        """
        self.marks.append((now_ms, self.position(now_ms)))
        per_memory = memtable_bytes / self.record_bytes if self.record_bytes else 0.0
        fills = int((self.marks[-1][1] - self.marks[0][1]) / per_memory) if per_memory else 0
        kept = self._committed if is_transactional else self._kept
        self.offset = kept(commit_interval_ms, fills, per_memory)
        self.thread, self.load, self.follows, self.since_ms = None, None, False, now_ms
        return fills > 0

    def _kept(self, commit_interval_ms: int, fills: int, per_memory: float) -> float:
        opened_ms, opened_at = self.marks[0]
        if not fills:
            return opened_at if self.flushed is None else self.flushed
        full_ms = self._moment(opened_at + fills * per_memory)
        commits = (full_ms - opened_ms) // commit_interval_ms * commit_interval_ms + opened_ms
        noted_ms = max((moment for moment in (commits, *self.noted) if moment <= full_ms), default=opened_ms)
        return max(opened_at, self._at(noted_ms))

    def _committed(self, commit_interval_ms: int, fills: int, per_memory: float) -> float:
        opened_ms, opened_at = self.marks[0]
        for full in range(fills, 0, -1):
            since_ms = self._moment(opened_at + full * per_memory) - opened_ms
            commit_ms = opened_ms + -(-since_ms // commit_interval_ms) * commit_interval_ms
            if commit_ms <= self.marks[-1][0]:
                return max(opened_at, self._at(commit_ms))
        return opened_at if self.flushed is None else self.flushed

    def _moment(self, offset: float) -> int:
        for (from_ms, from_offset), (to_ms, to_offset) in zip(self.marks, self.marks[1:], strict=False):
            if to_offset >= offset and to_offset > from_offset:
                return int(from_ms + (to_ms - from_ms) * (offset - from_offset) / (to_offset - from_offset))
        return self.marks[-1][0]

    def _at(self, moment_ms: int) -> float:
        index = bisect.bisect_right(self.marks, moment_ms, key=lambda mark: mark[0])
        if index >= len(self.marks):
            return self.marks[-1][1]
        (from_ms, from_offset), (to_ms, to_offset) = self.marks[index - 1], self.marks[index]
        return from_offset + (to_offset - from_offset) * (moment_ms - from_ms) / max(1, to_ms - from_ms)
