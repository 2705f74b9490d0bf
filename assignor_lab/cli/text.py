"""Output of the command: names from files, logs, clusters and plugins are data, whatever they contain."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["console", "note", "plain", "print_json", "print_line", "table"]

#: Width of a table that does not go to a terminal, unless COLUMNS says otherwise.
_PIPED_WIDTH = 200


def plain(value: object, *, keep_lines: bool = False) -> str:
    """``value`` as text in which nothing can steer a terminal: control and invisible signs are shown as escapes.

    Args:
        value: Anything; its ``str()`` is taken.
        keep_lines: Leave line ends as they are.
    """
    return "".join(
        sign if sign.isprintable() or (keep_lines and sign == "\n") else _escaped(sign) for sign in str(value)
    )


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii") if not sign.isspace() or ord(sign) < 32 else " "


def console() -> Console:
    """The console for results: standard output, no markup, no emoji codes, nothing coloured by guessing."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=sys.stdout, markup=False, emoji=False, highlight=False, width=width)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table of foreign text; long cells are folded, never cut."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(Text(column), overflow="fold")
    for row in rows:
        made.add_row(*(Text(plain(cell)) for cell in row))
    return made


def print_line(text: object = "") -> None:
    """One line of result, made plain."""
    sys.stdout.write(plain(text) + "\n")


def note(text: object) -> None:
    """One message on standard error, made plain."""
    sys.stderr.write(f"assignor: {plain(text)}\n")


def print_json(document: Any) -> None:
    """A JSON document on standard output, in ASCII, so that it cannot steer a terminal either."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=True, default=str) + "\n")
