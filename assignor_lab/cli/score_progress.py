"""The progress of ``assignor score`` on standard error: a bar on a terminal, a line every 30 s elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.scoring.rows import Progress as Done

__all__ = ["Lines", "Shown", "shown_progress"]

#: Seconds between two lines if standard error is not a terminal.
INTERVAL = 30.0


class Shown:
    """The progress as a bar."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: TaskID = bar.add_task("", total=None, figures="")

    def say(self, doing: str) -> None:
        """Shows the present step."""
        self._bar.update(self._task, description=doing)

    def __call__(self, done: Done) -> None:
        """Shows the number of scored items, the speed and the time left."""
        self._bar.update(self._task, completed=done.items, total=done.total, figures=figures(done))


class Lines:
    """The progress as lines, at most one every 30 s.

    Args:
        clock: Returns seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._latest = clock()

    def say(self, doing: str) -> None:
        """Does nothing: a step that takes seconds needs no line."""

    def __call__(self, done: Done) -> None:
        """Prints a line if the latest one is 30 s old."""
        now = self._clock()
        if now - self._latest >= INTERVAL:
            self._latest = now
            note(f"scored {figures(done)}")


def figures(done: Done) -> str:
    """Scored items, the speed, and the time left: ``12 of 100 histories, 35 states/s, about 2 min left``."""
    plural = "histories" if done.noun == "history" else f"{done.noun}s"
    parts = [f"{done.items:,} of {done.total:,} {done.noun if done.total == 1 else plural}"]
    if done.seconds > 0:
        parts.append(f"{done.states / done.seconds:,.0f} states/s")
    if 0 < done.items < done.total:
        parts.append(f"about {_duration(done.seconds / done.items * (done.total - done.items))} left")
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
