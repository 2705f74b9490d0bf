"""Refusals of an interval: too few histories that differ, none that does, or too uneven a difference.

No method covers the mean of every distribution (R. R. Bahadur and L. J. Savage, "The nonexistence of certain
statistical procedures in nonparametric problems", 1956): what happens once in a thousand histories shows in no hundred
of them. So an interval is given only where the sample itself speaks for it; the constants are chosen by simulation, and
judged by the coverage among the samples that have an interval (``python -m benchmarks.coverage``).
"""

from __future__ import annotations

from math import ceil, floor, log, log10
from typing import Literal

import attrs

from assignor_lab.scoring.statistics.shape import Shape

__all__ = ["FEWEST", "NoInterval", "few", "largest_inequality", "least_alike", "refusal", "same"]

#: Histories that have to differ from the usual difference.
FEWEST = 30
#: So many differ in expectation where nearly every run has :data:`FEWEST`: two standard deviations more.
_EXPECTED = FEWEST + 2 * FEWEST**0.5
#: :func:`largest_inequality` is 1 less ``_SLACK * differing ** -_RATE``.
_SLACK, _RATE = 0.72, 0.15
#: More histories than this are not named.
_MOST = 1_000_000
#: Where all histories of a run are alike, at most this share of all histories may be others.
_UNSEEN = 0.05


@attrs.frozen
class NoInterval:
    """Why there is no interval.

    Args:
        code: ``few``: too few histories differ; ``same``: none does; ``uneven``: few of them make up the difference.
        reason: One sentence for people.
        enough: Histories that would do, as far as this sample can tell; ``None`` where it cannot.
    """

    code: Literal["few", "same", "uneven"]
    reason: str
    enough: int | None


def refusal(shape: Shape) -> NoInterval | None:
    """Why a sample of this shape has no interval; ``None`` if it has one."""
    if not shape.differing:
        return same(shape.number)
    if shape.differing < FEWEST:
        return few(shape.number, shape.differing, shape.inequality)
    if shape.inequality < largest_inequality(shape.differing):
        return None
    reason = (
        f"a tenth of the {shape.differing:,} histories that differ make up {shape.largest_tenth:.0%} of the "
        "difference: rarer and larger ones than this run has seen must be expected"
    )
    return _refused("uneven", reason, _enough(shape.number, shape.differing, shape.inequality))


def few(number: int, differing: int, inequality: float = 0.0) -> NoInterval:
    """Too few of ``number`` histories differ.

    Args:
        number: All histories, at least one.
        differing: Those that differ.
        inequality: How unequal their differences are.
    """
    if number < FEWEST:
        reason = f"{number} {'history is' if number == 1 else 'histories are'} too few: it takes {FEWEST} that differ"
    else:
        reason = f"{differing:,} of {number:,} histories differ noticeably: it takes {FEWEST}"
    return _refused("few", reason, _enough(number, max(differing, 1), inequality))


def same(number: int, enough: int | None = None) -> NoInterval:
    """All histories differ by the very same amount, or not at all.

    Args:
        number: All histories, at least one.
        enough: So many would do, if that can be said.
    """
    if number == 1:
        return few(1, 1)
    reason = f"all {number:,} histories are alike, so that nothing tells how rare another one is"
    return _refused("same", reason, enough)


def largest_inequality(differing: int) -> float:
    """The inequality from which there is no interval: the more histories differ, the more of the tail has been seen.

    Args:
        differing: Histories that stand out, at least one.
    """
    return 1 - _SLACK * float(differing**-_RATE)


def least_alike(confidence: float) -> int:
    """Histories that have to be alike until, with ``confidence``, at most one in twenty of all histories is not."""
    return ceil(log(1 - confidence) / log(1 - _UNSEEN))


def _enough(number: int, differing: int, inequality: float) -> int:
    # Twice as many as would just do: the inequality grows with the rare histories that a larger run finds.
    needed = max(_EXPECTED, 2.0 * pow(_SLACK / (1 - min(inequality, 0.999)), 1 / _RATE))
    return _two_digits(number * needed / differing)


def _two_digits(histories: float) -> int:
    """Rounded up to two digits: more would claim what no estimate knows."""
    unit: int = 10 ** max(floor(log10(histories)) - 1, 0)
    return ceil(histories / unit) * unit


def _refused(code: Literal["few", "same", "uneven"], reason: str, enough: int | None) -> NoInterval:
    if enough is None:
        return NoInterval(code, reason, None)
    if enough > _MOST:
        return NoInterval(code, f"{reason}; not even {_MOST:,} histories would do", None)
    return NoInterval(code, f"{reason}; about {enough:,} histories would do", enough)
