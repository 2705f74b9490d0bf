"""Output of the command: names from files, logs, clusters and plugins are data with any content."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["console", "fits", "note", "plain", "print_json", "print_line", "print_sentence", "table"]

_PIPED_WIDTH = 200
_BETWEEN, _BEFORE = 3, 2
_PADDING = 2


def plain(value: object, *, keep_lines: bool = False) -> str:
    """``value`` as text that cannot control a terminal: control and invisible characters are shown as escapes."""
    return "".join(
        sign if sign.isprintable() or (keep_lines and sign == "\n") else _escaped(sign) for sign in str(value)
    )


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii") if not sign.isspace() or ord(sign) < 32 else " "


def console() -> Console:
    """The console for results: standard output, no markup, no emoji codes, no highlighting."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=sys.stdout, markup=False, emoji=False, highlight=False, width=width)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table of foreign text; long cells are folded, never cut, and between words if the console is wide enough."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    cells = [[plain(cell) for cell in row] for row in rows]
    # Narrow columns stand closer before a word is broken.
    words = _word_widths(columns, cells)
    padding = next((space for space in range(_PADDING, -1, -1) if _fit(words, space + 1)), _PADDING)
    widths = _widths(columns, cells, padding + 1)
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, padding // 2, 0, padding - padding // 2))
    for column, width in zip(columns, widths, strict=True):
        made.add_column(Text(column), overflow="fold", width=width)
    for row in cells:
        made.add_row(*map(Text, map(_folded, row, widths)))
    return made


def _folded(text: str, width: int | None) -> str:
    """``text`` with a line end before a range in brackets, if the column is only as wide as its parts."""
    from rich.cells import cell_len

    span = _span(text)
    if width is None or not span or cell_len(text) <= width or cell_len(span) > width:
        return text
    return f"{text[: -len(span)].rstrip()}\n{span}"


def _span(text: str) -> str:
    """The range in brackets after one number, such as ``(26.8 to 40.8)`` of ``31.6 (26.8 to 40.8)``; else empty."""
    number, _, rest = text.partition(" (")
    return f"({rest}" if number and rest.endswith(")") and not {" ", "("}.intersection(number) else ""


def _widths(columns: Sequence[str], cells: Sequence[Sequence[str]], between: int) -> list[int | None]:
    """Each column has its longest word at least, and the longest texts are broken; ``None`` if words are.

    If the console is wide enough, a range in brackets stays in one piece.
    """
    from rich.cells import cell_len

    words = _word_widths(columns, cells)
    if not _fit(words, between):
        return [None] * len(words)
    ranges = [max(word, *(cell_len(_span(cell[place])) for cell in cells), 0) for place, word in enumerate(words)]
    if _fit(ranges, between):
        words = ranges
    texts = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    spare = console().width - _BEFORE - between * (len(words) - 1) - sum(words)
    widths: dict[int, int] = {}
    for place in sorted(range(len(words)), key=lambda place: texts[place] - words[place]):
        grown = min(texts[place] - words[place], spare)
        widths[place] = words[place] + grown
        spare -= grown
    return [widths[place] for place in range(len(words))]


def fits(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bool:
    """True if a table of these fits without a break in any word."""
    return _fit(_word_widths(columns, [[plain(cell) for cell in row] for row in rows]))


def _word_widths(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    from rich.cells import cell_len

    texts = zip(columns, *cells, strict=True)
    return [max((cell_len(word) for text in column for word in text.split()), default=1) for column in texts]


def _fit(widths: Sequence[int], between: int = _BETWEEN) -> bool:
    return sum(widths) + between * (len(widths) - 1) + _BEFORE <= console().width


def print_line(text: object = "") -> None:
    """One line of result, made plain."""
    sys.stdout.write(plain(text) + "\n")


def print_sentence(text: object, indent: int = 0) -> None:
    """A sentence of result, made plain, with line ends between words if it is longer than the console is wide."""
    from rich.padding import Padding
    from rich.text import Text

    sentence = Text(plain(text))
    console().print(Padding(sentence, (0, 0, 0, indent), expand=False) if indent else sentence)


def note(text: object) -> None:
    """One message on standard error, made plain."""
    sys.stderr.write(f"assignor: {plain(text)}\n")


def print_json(document: Any) -> None:
    """A JSON document on standard output, in ASCII, so that it cannot control a terminal either."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=True, default=str) + "\n")
