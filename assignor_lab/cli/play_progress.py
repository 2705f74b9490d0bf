"""The progress of plays, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["shown_plays"]


@contextmanager
def shown_plays(plays: int | None) -> Iterator[Callable[[], None]]:
    """A bar on a terminal; yields a function to call after each play.

    Args:
        plays: Number of plays; ``None``: unknown, so that the bar has their count and the time.
    """
    counting = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    columns = Progress.get_default_columns() if plays is not None else counting
    shown = Console(file=sys.stderr)
    with Progress(*columns, console=shown, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("playing", total=plays)
        yield lambda: progress.advance(task)
