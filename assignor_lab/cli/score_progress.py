"""The progress of ``assignor score``: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from assignor_lab.scoring.scored import Progress as Done

__all__ = ["Shown", "shown_progress"]


class Shown:
    """What is told of the progress; without a bar, nobody hears of it."""

    def __init__(self, bar: Progress | None = None) -> None:
        self._bar = bar
        self._task = None if bar is None else bar.add_task("", total=None, rate="")

    def say(self, doing: str) -> None:
        """Tells what is being done."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=doing)

    def __call__(self, done: Done) -> None:
        """Tells how far the scoring is."""
        if self._bar is not None and self._task is not None:
            rate = done.states / done.seconds if done.seconds > 0 else 0.0
            self._bar.update(self._task, completed=done.items, total=done.total, rate=f"{rate:,.0f} states/s")


@contextmanager
def shown_progress() -> Iterator[Shown]:
    """Yields what is to be told of the progress; the terminal is left as it was."""
    if not sys.stderr.isatty():
        yield Shown()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        yield Shown(bar)
