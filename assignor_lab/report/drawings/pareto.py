"""The Pareto picture: two figures of the headline against each other, and the contenders that none beats in both."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import hypot

import attrs

from assignor_lab.documents.wording import listed, mean, shortened, unit_words
from assignor_lab.model.comparisons import FigureCompared, ValueCompared
from assignor_lab.model.run_summary import Results

__all__ = ["Axis", "Pareto", "ParetoPoint", "pareto"]

WIDTH, HEIGHT = 440.0, 274.0
LEFT, RIGHT, TOP, BOTTOM = 86.0, 24.0, 42.0, 60.0
#: Longest name inside a sentence, and most names in one.
NAME_LIMIT, MOST_NAMES = 40, 6
#: Closer dots hide each other's numbers.
NEAR = 9.0
#: Longest figure that fits at an axis.
TICK_LIMIT = 9


@attrs.frozen
class ParetoPoint:
    """One contender.

    Args:
        y: Likewise; better is further down.
        across: Ends of the interval of the first figure, as positions, or ``None`` without one.
        upright: The same of the second one.
        is_first: True if no contender is at least as good in both figures and better in one.
        hidden: True if another dot is drawn in its place.
    """

    number: int
    name: str
    x: float
    y: float
    across: tuple[float, float] | None
    upright: tuple[float, float] | None
    values: tuple[str, str]
    is_first: bool
    hidden: bool = False
    beside: tuple[int, ...] = ()


@attrs.frozen
class Axis:
    """A figure and its better direction.

    Args:
        better: The better direction, in words.
        ticks: The least and the greatest mean: positions in the drawing, and their words.
    """

    title: str
    unit: str
    better: str
    ticks: tuple[tuple[float, str], ...]


@attrs.frozen
class Pareto:
    """The picture: the horizontal figure, the vertical one, the points, and the conclusion."""

    across: Axis
    upright: Axis
    points: tuple[ParetoPoint, ...]
    words: str


def pareto(results: Results, names: Mapping[str, str]) -> Pareto | None:
    """The first two figures of the headline in which contenders differ; ``None`` without such a pair."""
    if results.headline is None:
        return None
    differing = [each for each in results.headline.figures if len({value.mean for value in each.of}) > 1]
    for across, upright in combinations(differing, 2):
        if {value.assignor for value in across.of} == {value.assignor for value in upright.of}:
            return _picture(across, upright, results.headline.baseline, names)
    return None


def _picture(across: FigureCompared, upright: FigureCompared, baseline: str | None, names: Mapping[str, str]) -> Pareto:
    second = {value.assignor: value for value in upright.of}
    pairs = [(value, second[value.assignor]) for value in across.of]
    x_scale = _Scale.of(across, baseline, LEFT, WIDTH - RIGHT)
    y_scale = _Scale.of(upright, baseline, HEIGHT - BOTTOM, TOP)
    points = tuple(
        ParetoPoint(
            number,
            names.get(x.assignor, x.assignor),
            x_scale.place(x.mean),
            y_scale.place(y.mean),
            x_scale.interval(x),
            y_scale.interval(y),
            (mean(x.mean, across.unit or ""), mean(y.mean, upright.unit or "")),
            not any(_beats(across, upright, other, (x, y)) for other in pairs),
        )
        for number, (x, y) in enumerate(pairs, start=1)
    )
    return Pareto(_axis(across, x_scale), _axis(upright, y_scale), _apart(points), _words(across, upright, points))


def _apart(points: tuple[ParetoPoint, ...]) -> tuple[ParetoPoint, ...]:
    """Of dots in the same place one is drawn, with the numbers of the others beside it."""
    seen: list[ParetoPoint] = []
    for point in points:
        under = next((each for each in seen if hypot(each.x - point.x, each.y - point.y) < NEAR), None)
        if under is None:
            seen.append(point)
        else:
            seen[seen.index(under)] = attrs.evolve(under, beside=(*under.beside, point.number))
    drawn = {each.number: each for each in seen}
    return tuple(drawn.get(each.number, attrs.evolve(each, hidden=True)) for each in points)


def _beats(
    across: FigureCompared,
    upright: FigureCompared,
    one: tuple[ValueCompared, ValueCompared],
    other: tuple[ValueCompared, ValueCompared],
) -> bool:
    gaps = [
        (mine.mean - theirs.mean) * (-1 if figure.direction == "higher" else 1)
        for figure, mine, theirs in zip((across, upright), one, other, strict=True)
    ]
    return max(gaps) <= 0 and min(gaps) < 0


def _axis(figure: FigureCompared, scale: _Scale) -> Axis:
    better = "more is better" if figure.direction == "higher" else "less is better"
    unit = unit_words(figure.unit or "")
    means = {value.mean for value in figure.of}
    # At least a third of the axis apart: intervals reach no further beyond them than their distance.
    ticks = tuple((scale.place(each), _tick(each, figure.unit or "")) for each in (min(means), max(means)))
    return Axis(figure.title, unit[:1].lower() + unit[1:], better, ticks)


def _tick(value: float, unit: str) -> str:
    words = mean(value, unit)
    return words if len(words) <= TICK_LIMIT else f"{value:.3g}"


def _words(across: FigureCompared, upright: FigureCompared, points: tuple[ParetoPoint, ...]) -> str:
    first = [each for each in points if each.is_first]
    figures = f"{across.title.lower()} and {upright.title.lower()}"
    if len(first) == len(points):
        return (
            f"By their means in {figures}, no assignor is behind another in both: the better one in one figure "
            "is worse in the other."
        )
    named = [shortened(each.name, NAME_LIMIT) for each in first[:MOST_NAMES]]
    more = [f"{len(first) - MOST_NAMES} more"] if len(first) > MOST_NAMES else []
    verb = "is" if len(first) == 1 else "are"
    return f"By their means in {figures}, {listed([*named, *more])} {verb} behind no other in both; all others are."


@attrs.frozen
class _Scale:
    """Values to positions, the better end at ``start``; includes all means, and intervals if they fit."""

    low: float
    high: float
    start: float
    end: float
    baseline: float | None
    flipped: bool

    @classmethod
    def of(cls, figure: FigureCompared, baseline: str | None, start: float, end: float) -> _Scale:
        means = [value.mean for value in figure.of]
        of_baseline = next((value.mean for value in figure.of if value.assignor == baseline), None)
        span = max(means) - min(means)
        reach = [*means]
        for value in figure.of:
            if of_baseline is not None and value.low is not None and value.high is not None:
                ends = (of_baseline + value.low, of_baseline + value.high)
                # A far larger interval would press all points together.
                reach += [min(max(end, min(means) - span), max(means) + span) for end in ends]
        return cls(min(reach), max(reach), start, end, of_baseline, figure.direction == "higher")

    def place(self, value: float) -> float:
        share = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        share = 1 - share if self.flipped else share
        return round(self.start + share * (self.end - self.start), 1)

    def interval(self, value: ValueCompared) -> tuple[float, float] | None:
        if self.baseline is None or value.low is None or value.high is None:
            return None
        return self.place(self.baseline + value.low), self.place(self.baseline + value.high)
