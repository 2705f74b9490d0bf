"""Replica counts of ``--to``: ``4..24``, or ``4,6,8``."""

from __future__ import annotations

import re

from assignor_lab.documents.wording import plural
from assignor_lab.planning.making import PlanError

__all__ = ["counts_within", "is_several", "parse_counts"]

#: Most counts of one table.
MOST = 128
#: Largest count that can be given.
LARGEST = 100_000
_NUMBER = r"([0-9]{1,9})"
_RANGE = re.compile(rf"\A{_NUMBER}\.\.{_NUMBER}", re.ASCII)
_LIST = re.compile(rf"\A{_NUMBER}(?:,{_NUMBER})*", re.ASCII)


def is_several(text: str) -> bool:
    """True if ``--to`` has a range or a list in place of one number."""
    return ".." in text or "," in text


def parse_counts(text: str) -> tuple[int, ...]:
    """The counts of a range or a list, each once, from the smallest to the largest.

    Raises:
        PlanError: if the text is neither, a range is turned round, a count is below 1, or there are too many.
    """
    plain = text.replace(" ", "")
    if (found := _RANGE.fullmatch(plain)) is not None:
        low, high = int(found[1]), int(found[2])
        if high < low:
            raise PlanError(f"--to {text:.40}: the range is turned round: write {high}..{low}")
        _check(text, low, high, high - low + 1)
        return tuple(range(low, high + 1))
    if _LIST.fullmatch(plain) is None:
        raise PlanError(f"--to {text!r:.60}: write a range such as 4..24, or a list such as 4,6,8")
    counts = sorted({int(each) for each in plain.split(",")})
    _check(text, counts[0], counts[-1], len(counts))
    return tuple(counts)


def counts_within(
    counts: tuple[int, ...], present: int, tasks: int, unit: str, task: str
) -> tuple[tuple[int, ...], list[str]]:
    """The counts that are worth a play, and a sentence on the others: more instances than tasks.

    If only the present count is left, the next larger one is played, too: it shows that nothing changes.

    Raises:
        PlanError: if each count is above the number of tasks.
    """
    kept = tuple(count for count in counts if count <= tasks)
    above = [count for count in counts if count > tasks]
    if not kept:
        raise PlanError(
            f"--to {_span(above)}: the group has {plural(tasks, task)}, and each further {unit} is idle: give counts "
            f"from 1 to {tasks}"
        )
    if kept == (present,) and above:
        kept, above = (present, above[0]), above[1:]
    if not above:
        return kept, []
    return kept, [
        f"{_span(above)} {unit}s are not played: the group has {plural(tasks, task)}, and each further {unit} is idle"
    ]


def _span(counts: list[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _check(text: str, low: int, high: int, count: int) -> None:
    if low < 1:
        raise PlanError(f"--to {text:.40}: a group has at least 1 member: begin with 1")
    if high > LARGEST or count > MOST:
        raise PlanError(f"--to {text:.40}: at most {MOST} counts, up to {LARGEST}: give a list such as 4,8,16")
