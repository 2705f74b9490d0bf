"""Comparisons of a summary: differences from a baseline, worst cases, and figures for parts of the run.

One class for each object in ``docs/reference/summary-format.md``; summaries of earlier releases have none of them.
"""

from __future__ import annotations

import attrs

from assignor_lab.compare.figures import NoInterval

__all__ = [
    "SummaryBins",
    "SummaryDifference",
    "SizeClass",
    "SummarySlice",
    "SliceDifferences",
    "SliceFigures",
    "SummarySlices",
    "WorstState",
]


@attrs.frozen
class SummaryDifference:
    """One metric of an assignor against the baseline, history by history."""

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
    """A worst state of an assignor, by its figure (``value``) or its ``difference`` from the baseline."""

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
    """A range of client counts; ``high`` is ``None`` if it is open."""

    low: int
    high: int | None


@attrs.frozen
class SummarySlice:
    """A part of the run: positions of family and size class, ``None`` for all of them."""

    family: int | None
    size: int | None
    histories: int


@attrs.frozen
class SummaryBins:
    """The histogram bins of a metric: ``number`` of one ``width``; the last one includes all larger values."""

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
class SummarySlices:
    """The run split by family and size: the parts, the whole run first, then figures by metric and assignor."""

    families: tuple[str | None, ...]
    sizes: tuple[SizeClass, ...]
    of: tuple[SummarySlice, ...]
    bins: tuple[SummaryBins, ...]
    figures: tuple[SliceFigures, ...]
    differences: tuple[SliceDifferences, ...]
