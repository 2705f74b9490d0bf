"""The progress of ``assignor score`` on standard error: a bar on a terminal, a line every 30 s elsewhere."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.scoring.rows import Progress as Done

__all__ = ["Lines", "Shown", "Speed", "shown_progress"]

#: Seconds between two lines if standard error is not a terminal.
INTERVAL = 30.0
#: The speed is that of so many last seconds, so the estimate follows a run that becomes slower.
RECENT_S = 60.0


class Speed:
    """Items in a second, over the last minute of a run."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def __call__(self, done: Done) -> float | None:
        """Notes a progress; ``None`` before the second one. Items of an earlier, interrupted run do not count."""
        self._seen.append((done.seconds, done.items))
        while len(self._seen) > 2 and self._seen[1][0] <= done.seconds - RECENT_S:
            self._seen.popleft()
        begin_s, before = self._seen[0]
        return (done.items - before) / (done.seconds - begin_s) if done.seconds > begin_s else None


class Shown:
    """The progress as a bar."""

    def __init__(self, bar: Progress) -> None:
        self._bar, self._speed = bar, Speed()
        self._task: TaskID = bar.add_task("", total=None, figures="")

    def say(self, doing: str) -> None:
        """Shows the present step."""
        self._bar.update(self._task, description=doing)

    def __call__(self, done: Done) -> None:
        """Shows the number of scored items, the speed and the time left."""
        self._bar.update(self._task, completed=done.items, total=done.total, figures=figures(done, self._speed(done)))


class Lines:
    """The progress as lines, at most one every 30 s.

    Args:
        clock: Returns seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._speed = clock, Speed()
        self._latest = clock()

    def say(self, doing: str) -> None:
        """Does nothing: a step that takes seconds needs no line."""

    def __call__(self, done: Done) -> None:
        """Prints a line if the latest one is 30 s old."""
        now, speed = self._clock(), self._speed(done)
        if now - self._latest >= INTERVAL:
            self._latest = now
            note(f"scored {figures(done, speed)}")


def figures(done: Done, speed: float | None) -> str:
    """Scored items, their speed, and the time left: ``12 of 100 histories, 24 a minute, about 4 min left``."""
    plural = "histories" if done.noun == "history" else f"{done.noun}s"
    parts = [f"{done.items:,} of {done.total:,} {done.noun if done.total == 1 else plural}"]
    if speed:
        parts.append(f"{speed:,.0f} a second" if speed >= 1 else f"{60 * speed:,.2g} a minute")
    if speed and done.items < done.total:
        parts.append(f"about {_duration((done.total - done.items) / speed)} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


@contextmanager
def shown_progress() -> Iterator[Shown | Lines]:
    """Yields the display of the progress; the terminal is left as it was."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[figures]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        yield Shown(bar)
