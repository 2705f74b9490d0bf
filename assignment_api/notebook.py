"""HTML tables for ``_repr_html_``, harmless and of bounded size; plugins may use it.

Foreign names are escaped, control characters and direction marks included. The notebook sets the colours, for light and
dark themes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

__all__ = ["MAX_NAMES", "MAX_ROWS", "names_text", "paragraph", "shown", "table"]

#: The rest is counted.
MAX_ROWS, MAX_NAMES = 40, 16
MAX_TEXT = 400
MAX_NAME = 60

_STEERING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def shown(text: object, limit: int = MAX_NAME) -> str:
    """At most ``limit`` characters, none a control character; not yet escaped for HTML."""
    whole = str(text)[: 2 * limit + 1]
    if not (whole.isprintable() and whole.isascii()):
        whole = "".join(_escape(sign) if unicodedata.category(sign) in _STEERING else sign for sign in whole)
    return whole if len(whole) <= limit else f"{whole[: limit - 1]}…"


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")


def names_text(names: Iterable[object], number: int, most: int = MAX_NAMES) -> str:
    """The first ``most`` names with commas, and the number of the others.

    Args:
        names: Only the shown ones are read.
    """
    text = ", ".join(shown(name) for name in islice(names, most))
    return f"{text} and {number - most} more" if number > most else text


def _html(text: str) -> str:
    # Not at the start of each command: the module has a table of all entities.
    from html import escape

    return escape(text)


def paragraph(text: str) -> str:
    """A sentence."""
    return f"<p>{_html(shown(text, MAX_TEXT))}</p>"


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], number: int | None = None) -> str:
    """A table; the first cell of a row is its heading.

    Args:
        rows: Only the shown ones are read.
        number: Of all rows; ``None``: length of ``rows``, then a sequence.
    """
    first = list(islice(iter(rows), MAX_ROWS))
    if number is None:
        number = len(rows) if isinstance(rows, Sequence) else len(first)
    head = "".join(f'<th scope="col" style="text-align:left">{_html(shown(name))}</th>' for name in columns)
    body = "".join(f"<tr>{_heading(row[0])}{''.join(map(_cell, row[1:]))}</tr>" for row in first)
    left = number - len(first)
    foot = f"<p>… and {left} more, which are not shown here</p>" if left > 0 else ""
    title = f'<caption style="text-align:left">{_html(shown(caption, MAX_TEXT))}</caption>'
    return f'<table border="0" cellpadding="4">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}'


def _heading(value: object) -> str:
    return f'<th scope="row" style="text-align:left">{_text(value)}</th>'


def _cell(value: object) -> str:
    side = "right" if isinstance(value, (int, float)) and not isinstance(value, bool) else "left"
    return f'<td style="text-align:{side}">{_text(value)}</td>'


def _text(value: object) -> str:
    return "–" if value is None else _html(shown(value, MAX_TEXT))
