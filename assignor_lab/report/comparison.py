"""Comparisons of a summary: differences from a baseline, worst cases, and figures for parts of the run.

One class for each object in ``docs/reference/summary-format.md``; summaries of earlier releases have none of them.
"""

from __future__ import annotations

import attrs

__all__ = [
    "Bins",
    "Difference",
    "NoInterval",
    "SizeClass",
    "Slice",
    "SliceDifferences",
    "SliceFigures",
    "Slices",
    "WorstState",
]


@attrs.frozen
class NoInterval:
    """Why a difference has no interval."""

    code: str
    reason: str


@attrs.frozen
class Difference:
    """One metric of an assignor against the baseline's, history by history."""

    assignor: str
    metric: str
    histories: int
    states: int
    mean: float | None
    baseline_mean: float | None
    difference: float | None
    low: float | None
    high: float | None
    level: float
    effect: float | None
    lower: int
    equal: int
    higher: int
    no_interval: NoInterval | None = None


@attrs.frozen
class WorstState:
    """A state in which an assignor does worst, by its figure (``value``) or beside the baseline (``difference``)."""

    assignor: str
    metric: str
    by: str
    value: float
    baseline_value: float | None
    scenario: str
    round: int
    family: str | None
    replay: str | None
    time_ms: int | None = None


@attrs.frozen
class SizeClass:
    """Groups of so many clients; ``high`` ``None``: and more."""

    low: int
    high: int | None


@attrs.frozen
class Slice:
    """A part of the run: positions of family and size class, ``None`` for all of them."""

    family: int | None
    size: int | None
    histories: int


@attrs.frozen
class Bins:
    """The histogram bins of a metric: ``number`` of one ``width``; the last one holds what lies beyond, too."""

    metric: str
    start: float
    width: float
    number: int
    whole: bool


@attrs.frozen
class SliceFigures:
    """Figures of one assignor and metric, with an entry for each part; ``counts`` stop at the last full bin."""

    assignor: str
    metric: str
    n: tuple[int, ...]
    mean: tuple[float | None, ...]
    min: tuple[float | None, ...]
    max: tuple[float | None, ...]
    counts: tuple[tuple[int, ...], ...]


@attrs.frozen
class SliceDifferences:
    """Differences from the baseline of one assignor and metric, with an entry for each part."""

    assignor: str
    metric: str
    histories: tuple[int, ...]
    difference: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    no_interval: tuple[str | None, ...] = ()


@attrs.frozen
class Slices:
    """The run cut by family and size: the parts, the whole run first, then figures by metric and assignor.

    Args:
        families: Families by name; ``None``: states that were not generated.
        sizes: Size classes.
        of: The parts.
        bins: Bins of each metric.
        figures: Figures in each part.
        differences: Differences in each part.
    """

    families: tuple[str | None, ...]
    sizes: tuple[SizeClass, ...]
    of: tuple[Slice, ...]
    bins: tuple[Bins, ...]
    figures: tuple[SliceFigures, ...]
    differences: tuple[SliceDifferences, ...]
