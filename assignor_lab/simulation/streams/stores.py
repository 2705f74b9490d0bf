"""What an instance has on its disk: the state of one task, as far as it has got, and what a kill leaves of it.

As measured with Kafka 4.3.1 (``tests/data/captures/downtime``): RocksDB keeps the
offset itself, notes it at commits, after a restoration and at an orderly close, and has on the disk what it had noted
when its memory was last full.
"""

from __future__ import annotations

import bisect
import math

import attrs

from assignor_lab.simulation.streams.episode import Changelog
from assignor_lab.simulation.streams.restoring import Load

__all__ = ["LiveChangelog", "Store"]


@attrs.define(eq=False)
class LiveChangelog:
    """The changelogs of one task while the episode goes on: they grow while the task is processed.

    What arrived while nobody processed it is caught up with at once when somebody does; what had been waiting before
    the first time is worked off.

    Args:
        changelog: What they held at the beginning.
        begin_ms: When that was.
        stopped_ms: Since when nobody has processed the task; ``None``: somebody does.
        work_off_per_s: Records that it adds in a second while it works off what had been waiting.
        first_ms: When somebody processed it for the first time; ``None``: nobody has yet.
    """

    changelog: Changelog
    begin_ms: int
    stopped_ms: int | None
    work_off_per_s: float = math.inf
    first_ms: int | None = None

    def runs(self, now_ms: int) -> None:
        """Somebody processes the task from now on."""
        self.stopped_ms = None
        self.first_ms = now_ms if self.first_ms is None else self.first_ms

    def end(self, now_ms: int) -> float:
        """Where they end."""
        until = now_ms if self.stopped_ms is None else self.stopped_ms
        until = max(self.begin_ms, until)
        worked_off = 0.0
        if self.first_ms is not None and self.changelog.backlog_records:
            since_s = max(0, until - self.first_ms) / 1000
            worked_off = min(self.changelog.backlog_records, self.work_off_per_s * since_s)
        return self.changelog.records + worked_off + self.changelog.records_per_s * (until - self.begin_ms) / 1000


@attrs.define(eq=False)
class Store:
    """One task's directory on one instance. Offsets are records of the task's changelogs, all together.

    Args:
        task: Number of the task.
        log: Its changelogs.
        offset: How far it was at ``since_ms``, while nothing loads and it does not follow; never beyond the end.
        since_ms: When it was opened, or closed.
        thread: Number of the thread that has it open, or ``None``: it lies on the disk, closed.
        load: What is being loaded.
        from_offset: Where ``load`` began.
        to_offset: Where it ends.
        follows: It is at the changelog's end and stays there, but for what is on its way.
        behind_ms: How long that is, for a copy that others write to.
        marks: While it is open: moments and offsets between which it went evenly, the opening first.
        noted: Moments and offsets that were noted besides commits: the end of a restoration.
        locked_by: Number of the thread that has locked it without having it open, or ``None``.
        unlocked_ms: When such a thread has unlocked it last.
        created_ms: When its directory was made, which is all that the cleaner sees of its age.
        copies_from: When and from where on it has followed what others write, for a copy that does; else ``None``.
    """

    task: int
    log: LiveChangelog
    offset: float = 0.0
    since_ms: int = 0
    thread: int | None = None
    load: Load | None = None
    from_offset: float = 0.0
    to_offset: float = 0.0
    follows: bool = False
    behind_ms: int = 0
    marks: list[tuple[int, float]] = attrs.field(factory=list)
    noted: list[int] = attrs.field(factory=list)
    locked_by: int | None = None
    unlocked_ms: int | None = None
    created_ms: int = 0
    copies_from: tuple[int, float] | None = None

    @property
    def is_open(self) -> bool:
        """Whether a thread has it."""
        return self.thread is not None

    def end(self, now_ms: int) -> float:
        """The changelog's end."""
        return self.log.end(now_ms)

    @property
    def record_bytes(self) -> float:
        """Bytes of a record; 0 if they are unknown."""
        return self.log.changelog.bytes_per_record or 0.0

    def position(self, now_ms: int) -> float:
        """How far it is."""
        if self.load is not None:
            return self.from_offset + (self.to_offset - self.from_offset) * self.load.fraction(now_ms)
        if self.follows:
            # It has not gone back from where it was when it was complete.
            return max(self.offset, self.end(now_ms - self.behind_ms))
        return self.offset

    def opened(self, now_ms: int, thread: int) -> None:
        """A thread opens it."""
        self.thread, self.since_ms, self.follows, self.locked_by = thread, now_ms, False, None
        self.marks, self.noted = [(now_ms, self.offset)], []

    def loading(self, now_ms: int, load: Load, to_offset: float) -> None:
        """What is missing begins to come."""
        self.offset = self.position(now_ms)
        self.load, self.from_offset, self.to_offset, self.follows = load, self.offset, to_offset, False
        self.marks.append((now_ms, self.offset))

    def loaded(self, now_ms: int) -> None:
        """It is complete, and follows the changelog from now on."""
        self.load, self.follows = None, True
        self.offset = self.end(now_ms)
        self.marks.append((now_ms, self.offset))
        self.noted.append(now_ms)

    def paused(self, now_ms: int) -> None:
        """The loading is given up; what has come stays."""
        self.offset = self.position(now_ms)
        self.load, self.follows = None, False
        self.marks.append((now_ms, self.offset))

    def closed(self, now_ms: int) -> None:
        """It is closed in order: all of it is on the disk."""
        self.offset = self.position(now_ms)
        self.thread, self.load, self.follows, self.since_ms = None, None, False, now_ms

    def killed(self, now_ms: int, commit_interval_ms: int, memtable_bytes: int) -> bool:
        """Its process was killed: it is where it was when it was opened, or what a full memory has left since.

        Returns:
            Whether its memory has been full since it was opened.
        """
        self.marks.append((now_ms, self.position(now_ms)))
        per_memory = memtable_bytes / self.record_bytes if self.record_bytes else 0.0
        fills = int((self.marks[-1][1] - self.marks[0][1]) / per_memory) if per_memory else 0
        self.offset = self._kept(commit_interval_ms, fills, per_memory)
        self.thread, self.load, self.follows, self.since_ms = None, None, False, now_ms
        return fills > 0

    def _kept(self, commit_interval_ms: int, fills: int, per_memory: float) -> float:
        opened_ms, opened_at = self.marks[0]
        if not fills:
            return opened_at
        full_ms = self._moment(opened_at + fills * per_memory)
        commits = (full_ms - opened_ms) // commit_interval_ms * commit_interval_ms + opened_ms
        noted_ms = max((moment for moment in (commits, *self.noted) if moment <= full_ms), default=opened_ms)
        return max(opened_at, self._at(noted_ms))

    def _moment(self, offset: float) -> int:
        """When it was at ``offset``."""
        for (from_ms, from_offset), (to_ms, to_offset) in zip(self.marks, self.marks[1:], strict=False):
            if to_offset >= offset and to_offset > from_offset:
                return int(from_ms + (to_ms - from_ms) * (offset - from_offset) / (to_offset - from_offset))
        return self.marks[-1][0]

    def _at(self, moment_ms: int) -> float:
        """Where it was at a moment since it was opened."""
        index = bisect.bisect_right(self.marks, moment_ms, key=lambda mark: mark[0])
        if index >= len(self.marks):
            return self.marks[-1][1]
        (from_ms, from_offset), (to_ms, to_offset) = self.marks[index - 1], self.marks[index]
        return from_offset + (to_offset - from_offset) * (moment_ms - from_ms) / max(1, to_ms - from_ms)
