"""Reduction of a case that shows a fault, by one simplification after the other.

The kit for authors, the fuzz of simulated groups and the survey of client libraries use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["reduced"]

_Case = TypeVar("_Case")


def reduced(
    case: _Case, simplified: Callable[[_Case], Iterable[_Case]], still_shows: Callable[[_Case], bool], most: int
) -> _Case:
    """The simplest case that was found.

    Args:
        simplified: Simpler cases, the largest step first.
        still_shows: True if a case shows the same fault.
        most: Most simplifications that are tried.
    """
    place = failed = 0
    cases = list(simplified(case))
    while failed < len(cases) and most > 0:
        most -= 1
        simpler = cases[place % len(cases)]
        if still_shows(simpler):
            # The next simplification is probably at the same place of the new list.
            case, failed = simpler, 0
            cases = list(simplified(case))
        else:
            place, failed = place + 1, failed + 1
    return case
