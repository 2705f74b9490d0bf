"""Plays of ``plan`` and ``advise``: their progress on a terminal, and Spark as their place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any, Protocol

import typer

__all__ = ["Master", "PlaysElsewhere", "Remote", "plays_elsewhere", "shown_plays"]

Master = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", help="Play on Spark's executors, such as spark://HOST:7077; equal results."
    ),
]
Remote = Annotated[
    str | None,
    typer.Option("--remote", metavar="URL", help="Play on a Spark Connect server, such as sc://HOST:15002."),
]


class PlaysElsewhere(Protocol):
    """Runs numbered plays on another machine."""

    def __call__(
        self, work: Callable[[int], Any], count: int, *, written: Callable[[Any], Any], read: Callable[[Any], Any]
    ) -> Iterator[Any]:
        """Yields ``work(0)`` to ``work(count - 1)`` in this order.

        Args:
            work: A partial function of a module.
            count: How often it is called.
            written: Converts a result to JSON.
            read: Converts JSON to a result.
        """


@contextmanager
def plays_elsewhere(master: str | None, remote: str | None) -> Iterator[PlaysElsewhere | None]:
    """Runs plays on Spark's executors; ``None``: on this machine.

    Raises:
        typer.BadParameter: if both are given.
    """
    if master is not None and remote is not None:
        raise typer.BadParameter("give --master or --remote, not both")
    if master is None and remote is None:
        yield None
        return
    from assignor_lab.scoring.spark.executors import fit_executors
    from assignor_lab.scoring.spark.plays import plays_on_spark
    from assignor_lab.scoring.spark.session import open_session, parallelism_of

    with open_session(master, remote) as spark:
        tasks = fit_executors(spark, master, []) or parallelism_of(spark)
        yield partial(plays_on_spark, spark, tasks=tasks)


@contextmanager
def shown_plays(plays: int | None) -> Iterator[Callable[[], None]]:
    """A bar on a terminal; yields a function to call after each play.

    Args:
        plays: Number of plays; ``None``: unknown, so that the bar has their count and the time.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    counting = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    columns = Progress.get_default_columns() if plays is not None else counting
    shown = Console(file=sys.stderr)
    with Progress(*columns, console=shown, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("playing", total=plays)
        yield lambda: progress.advance(task)
