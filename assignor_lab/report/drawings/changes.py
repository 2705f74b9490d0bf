"""Marks of starts, stops and crashes in a Gantt picture: a sign above the rows, and a line through them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from assignor_lab.documents.wording import figure, listed
from assignor_lab.model.pictures import GanttChange
from assignor_lab.report.summary.down_times import clock

__all__ = ["HEAD", "ChangeSign", "change_signs"]

#: Height of the signs above the rows, in units of the drawing.
HEAD = 10.0
MOST_NAMED = 5

_UP, _DOWN = "M{0:.1f} 7.5l3-6 3 6z", "M{0:.1f} 1.5h6l-3 6z"
#: Each change: its words, its class in the style sheet, and its sign from a left end.
_KINDS = {
    "start": ("process starts", "comes", _UP),
    "joined": ("new in the group", "comes", _UP),
    "restarted": ("restarted", "again", "M{0:.1f} 4.5l3-3 3 3-3 3z"),
    "stop": ("process stops", "goes", _DOWN),
    "gone": ("gone from the group", "goes", _DOWN),
    "crash": ("process crashes", "crashes", "M{0:.1f} 1.5l6 6m0-6l-6 6"),
}
_HALF = 3.0


@attrs.frozen
class ChangeSign:
    """Changes of one kind: class in the style sheet, words and sign for the legend, marks as (path, tooltip)."""

    kind: str
    words: str
    sign: str
    marks: tuple[tuple[str, str], ...]


def change_signs(
    changes: Iterable[GanttChange], until_ms: int, bottom: float, x: Callable[[int], float], begun_ms: int | None
) -> tuple[ChangeSign, ...]:
    """The changes by kind; unknown ones and those outside the picture are left out.

    Args:
        bottom: Lower end of the lines.
        x: Horizontal position of a moment.
        begun_ms: Clock time at the start of the picture, in epoch milliseconds, or ``None``.
    """
    found: dict[str, dict[int, list[str]]] = {kind: {} for kind in _KINDS}
    for each in changes:
        if each.change in found and 0 <= each.at_ms <= until_ms:
            found[each.change].setdefault(each.at_ms, []).append(each.instance)

    def left(at_ms: int) -> float:
        """Left end of a sign, which stays whole at both ends of the picture."""
        return min(max(x(at_ms) - _HALF, x(0)), x(until_ms) - 2 * _HALF)

    signs = []
    for change, moments in found.items():
        words, kind, sign = _KINDS[change]
        marks = tuple(
            (f"{sign.format(left(at))}M{x(at):.1f} {HEAD - 1:g}V{bottom:.1f}", _title(at, names, words, begun_ms))
            for at, names in sorted(moments.items())
        )
        if marks:
            signs.append(ChangeSign(kind, words, sign.format(_HALF), marks))
    return tuple(signs)


def _title(at_ms: int, names: list[str], words: str, begun_ms: int | None) -> str:
    time = clock(begun_ms, at_ms)
    more = len(names) - MOST_NAMED
    named = listed([*names[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
    return f"{figure(at_ms / 1_000)} s{f' ({time} UTC)' if time else ''}: {named}: {words}"
