"""The progress of ``assignor score``: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from assignor_lab.scoring.scored import Progress as Done

__all__ = ["shown_progress"]


@contextmanager
def shown_progress() -> Iterator[Callable[[Done], None]]:
    """Yields what is to be told of the progress."""
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    columns = (
        TextColumn("scoring"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("scoring", total=None, rate="")

        def show(done: Done) -> None:
            rate = done.states / done.seconds if done.seconds > 0 else 0.0
            bar.update(task, completed=done.items, total=done.total, rate=f"{rate:,.0f} states/s")

        yield show
