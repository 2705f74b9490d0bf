"""Progress of random episodes, for both commands that play them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from assignor_lab.cli.text import note
from assignor_lab.simulation.seeded_parts import PART

__all__ = ["note_speed", "shown_parts"]

_T = TypeVar("_T")


def shown_parts(parts: Iterable[_T], episodes: int) -> Iterator[_T]:
    """Yields the parts on arrival, with a bar on a terminal."""
    yield from track(
        parts,
        "playing",
        total=-(-episodes // PART),
        console=Console(file=sys.stderr),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def note_speed(episodes: int, seconds: float) -> None:
    """Prints the duration."""
    note(f"{episodes:,} episodes in {seconds:,.1f} s, {episodes / max(seconds, 1e-9):,.0f} a second")
