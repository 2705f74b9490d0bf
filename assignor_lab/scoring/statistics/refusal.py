"""Reasons of a missing interval: too few histories that differ, none at all, or too uneven differences.

No method covers the mean of every distribution (R. R. Bahadur and L. J. Savage, "The nonexistence of certain
statistical procedures in nonparametric problems", 1956): an event in one of a thousand histories is absent from most
hundreds. So an interval needs support in the sample itself. The constants come from simulation, and are judged by the
coverage among the samples with an interval (``python -m benchmarks.coverage``).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, fsum, log, log10, sqrt
from typing import Literal

import attrs
import numpy as np
import numpy.typing as npt

from assignor_lab.model.comparisons import NoInterval

__all__ = [
    "FEWEST",
    "STANDS_OUT",
    "Numbers",
    "Shape",
    "few",
    "largest_inequality",
    "least_alike",
    "refusal",
    "same",
    "shape_of",
    "usual_of",
]

Numbers = Sequence[float] | npt.NDArray[np.float64]

#: A value stands out if its distance from the usual one is more than this part of the mean distance.
STANDS_OUT = 0.1
#: A value shared by this part of a sample is its usual one, wherever the median is.
_SHARED = 1 / 3
#: Distances below this part of the largest value are rounding errors.
_ROUNDING = 1e-13


@attrs.frozen
class Shape:
    """The shape of a sample.

    Distances are from its usual value: one that a third of it shares, or else the median.

    Args:
        spread: The sample's standard deviation; 0 if all are equal.
        skewness: The third moment about the mean, in units of ``spread``.
        lean: The mean minus the usual value, in mean distances: 1 if all differences are above it, -1 below, 0 if both
            sides have the same weight.
        differing: Values that stand out from the usual one.
        inequality: Gini's coefficient of their distances: 0 if all are equal, near 1 if one value is nearly all of the
            difference.
        largest_tenth: Share of their largest tenth in their sum.
    """

    number: int
    mean: float
    spread: float
    skewness: float
    lean: float
    differing: int
    inequality: float
    largest_tenth: float


def shape_of(values: Numbers) -> Shape:
    """The shape of at least one value."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    number, mean = len(ordered), fsum(ordered.tolist()) / len(ordered)
    usual = _usual(ordered, mean)
    distances = np.sort(np.abs(ordered - usual))
    typical = float(distances.sum()) / number
    if typical <= _ROUNDING * float(np.abs(ordered).max()):
        return Shape(number, mean, 0.0, 0.0, 0.0, 0, 0.0, 0.0)
    # In mean distances, so that squares stay finite.
    about = (ordered - mean) / typical
    squares = about * about
    spread = sqrt(float(squares.sum()) / (number - 1))
    standing_out = distances[distances > STANDS_OUT * typical]
    return Shape(
        number=number,
        mean=mean,
        spread=spread * typical,
        skewness=float((squares * about).sum()) / number / spread**3,
        lean=(mean - usual) / typical,
        differing=len(standing_out),
        inequality=_gini(standing_out),
        largest_tenth=float(standing_out[-ceil(len(standing_out) / 10) :].sum() / standing_out.sum()),
    )


def usual_of(values: npt.NDArray[np.float64]) -> float:
    """The usual one of at least one value."""
    return _usual(np.sort(values), float(values.mean()))


def _usual(ordered: npt.NDArray[np.float64], mean: float) -> float:
    """Of two middle values it is the one away from the mean, where the values are dense."""
    number = len(ordered)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    counts = np.diff(starts, append=number)
    most = int(counts.max())
    if most >= _SHARED * number and int((counts == most).sum()) == 1:
        return float(ordered[starts[counts.argmax()]])
    low, high = float(ordered[(number - 1) // 2]), float(ordered[number // 2])
    return low if mean - low >= high - mean else high


def _gini(ordered: npt.NDArray[np.float64]) -> float:
    number = len(ordered)
    if number < 2:
        return 0.0
    ranks = np.arange(number) / (number - 1)
    return max(2 * float((ranks * ordered).sum()) / float(ordered.sum()) - 1, 0.0)


#: Least number of histories that differ from the usual difference.
FEWEST = 30
#: Expected number of differing histories with which nearly every run has :data:`FEWEST`: two standard deviations more.
_EXPECTED = FEWEST + 2 * FEWEST**0.5
#: :func:`largest_inequality` is 1 - ``_SLACK * differing ** -_RATE``.
_SLACK, _RATE = 0.72, 0.15
#: Larger numbers of histories are not named.
_MOST = 1_000_000
#: If all histories of a run are equal, at most this share of all histories may differ.
_UNSEEN = 0.05


def refusal(shape: Shape) -> NoInterval | None:
    """The reason why a sample of this shape has no interval; ``None`` if it has one."""
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
    """The reason that too few of ``number`` histories differ."""
    if number < FEWEST:
        reason = f"{number} {'history is' if number == 1 else 'histories are'} too few: {FEWEST} must differ"
    else:
        reason = f"{differing:,} of {number:,} histories differ noticeably: {FEWEST} must"
    return _refused("few", reason, _enough(number, max(differing, 1), inequality))


def same(number: int, enough: int | None = None) -> NoInterval:
    """The reason that all histories have the same difference.

    Args:
        enough: Sufficient number of histories, if known.
    """
    if number == 1:
        return few(1, 1)
    reason = f"all {number:,} histories are alike, so the rarity of another one is unknown"
    return _refused("same", reason, enough)


def largest_inequality(differing: int) -> float:
    """The largest inequality with an interval; it grows with the differing histories, which show more of the tail."""
    return 1 - _SLACK * float(differing**-_RATE)


def least_alike(confidence: float) -> int:
    """Number of equal histories after which, with ``confidence``, at most one in twenty of all histories differs."""
    return ceil(log(1 - confidence) / log(1 - _UNSEEN))


def _enough(number: int, differing: int, inequality: float) -> int:
    # Twice the exact number, because a larger run finds rare histories that raise the inequality.
    needed = max(_EXPECTED, 2.0 * pow(_SLACK / (1 - min(inequality, 0.999)), 1 / _RATE))
    return _two_digits(number * needed / differing)


def _two_digits(histories: float) -> int:
    unit: int = 10 ** max(floor(log10(histories)) - 1, 0)
    return ceil(histories / unit) * unit


def _refused(code: Literal["few", "same", "uneven"], reason: str, enough: int | None) -> NoInterval:
    if enough is None:
        return NoInterval(code, reason, None)
    if enough > _MOST:
        return NoInterval(code, f"{reason}; not even {_MOST:,} histories would do", None)
    return NoInterval(code, f"{reason}; about {enough:,} histories would do", enough)
