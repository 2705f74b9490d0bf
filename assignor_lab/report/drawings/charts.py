"""Small drawings as plain numbers; the templates turn them into SVG, each with a text beside it.

``report.js`` draws the same for a part of the run: change both together.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import attrs

from assignor_lab.documents.wording import figure
from assignor_lab.model.comparisons import SummaryBins, SummaryDifference
from assignor_lab.model.run_summary import Aggregate

__all__ = ["Forest", "Histogram", "Spread", "forests", "histogram", "spreads"]

#: Width of a drawing in its own units, and the margin at both ends for the dot.
WIDTH, MARGIN = 160.0, 6.0
#: Height of a histogram's tallest bar, and of its lowest visible one.
TALLEST, LEAST = 24.0, 1.0


@attrs.frozen
class Spread:
    """Values of one assignor as horizontal positions: whole range, middle to 90 %, mean."""

    low: float
    high: float
    median: float
    p90: float
    mean: float


@attrs.frozen
class Histogram:
    """Frequency of each size of a figure.

    Args:
        path: The bars, as an SVG path; heights are square roots, so that rare sizes stay visible beside a frequent one.
        mean: Horizontal position of the mean.
    """

    path: str
    mean: float
    words: str


@attrs.frozen
class Forest:
    """A difference with its interval, as horizontal positions on a scale that includes zero."""

    zero: float
    low: float
    high: float
    difference: float


def spreads(aggregates: Sequence[Aggregate]) -> list[Spread | None]:
    """One drawing for each aggregate of one metric, all to one scale; ``None`` without a value."""
    low = min((each.min for each in aggregates if each.min is not None), default=0.0)
    high = max((each.max for each in aggregates if each.max is not None), default=0.0)
    # The scale starts at zero unless values lie below it, so that differences keep their proportion.
    low = min(low, 0.0)
    found: list[Spread | None] = []
    for each in aggregates:
        values = (each.min, each.max, each.median, each.p90, each.mean)
        known = [value for value in values if value is not None]
        found.append(Spread(*(_place(value, low, high) for value in known)) if len(known) == len(values) else None)
    return found


def histogram(bins: SummaryBins, counts: Sequence[int], mean: float | None, unit: str) -> Histogram | None:
    """The drawing of one assignor's figures; ``None`` without figures.

    Args:
        counts: Figures in each of the first bins; the others are empty.
    """
    if not any(counts) or mean is None:
        return None
    step, tallest = (WIDTH - 2 * MARGIN) / bins.number, max(counts)
    bar = max(step - (1.0 if step > 4 else 0.2), 0.5)
    heights = [max(TALLEST * sqrt(count / tallest), LEAST) if count else 0.0 for count in counts]
    path = "".join(
        f"M{MARGIN + place * step:.1f} {TALLEST:g}h{bar:.1f}v-{height:.1f}h-{bar:.1f}z"
        for place, height in enumerate(heights)
        if height
    )
    reach = bins.start + bins.width * bins.number
    centre = mean + bins.width / 2 if bins.whole else mean
    return Histogram(path, _place(min(centre, reach), bins.start, reach), _histogram_words(bins, counts, unit))


def _histogram_words(bins: SummaryBins, counts: Sequence[int], unit: str) -> str:
    total = sum(counts)
    often = sorted(range(len(counts)), key=lambda place: (-counts[place], place))[:3]
    parts = [
        f"{_bin_words(bins, place, unit)} in {100 * counts[place] / total:.0f} %"
        for place in sorted(often)
        if counts[place]
    ]
    return "Most often: " + ", ".join(parts)


def _bin_words(bins: SummaryBins, place: int, unit: str) -> str:
    low = bins.start + place * bins.width
    if place == bins.number - 1 and bins.number > 1:
        return f"{figure(low, unit)} or more"
    if bins.whole:
        high = low + bins.width - 1
        return figure(low, unit) if high == low else f"{figure(low, unit)} to {figure(high, unit)}"
    return f"{figure(low, unit)} to {figure(low + bins.width, unit)}"


def forests(differences: Sequence[SummaryDifference]) -> list[Forest | None]:
    """One drawing for each difference in one metric, all to one scale; ``None`` without an interval."""
    ends = [end for each in differences for end in (each.low, each.high) if end is not None]
    low, high = min((0.0, *ends)), max((0.0, *ends))
    found: list[Forest | None] = []
    for each in differences:
        if each.low is None or each.high is None or each.difference is None:
            found.append(None)
            continue
        places = (_place(value, low, high) for value in (0.0, each.low, each.high, each.difference))
        found.append(Forest(*places))
    return found


def _place(value: float, low: float, high: float) -> float:
    share = (value - low) / (high - low) if high > low else 0.0
    return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)
