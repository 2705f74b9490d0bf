"""Comparisons of contenders: figures, differences from a baseline, worst cases, gates, and parts of a run."""

from __future__ import annotations

from typing import Literal

import attrs

__all__ = [
    "Distribution",
    "Distributions",
    "FigureCompared",
    "GateStatus",
    "NoInterval",
    "SizeClass",
    "SliceDifferences",
    "SliceFigures",
    "SummaryBins",
    "SummaryDifference",
    "SummarySlice",
    "SummarySlices",
    "ValueCompared",
    "Verdict",
    "WorstState",
]

GateStatus = Literal["passed", "failed", "unknown"]


@attrs.frozen
class NoInterval:
    """Why a difference has no interval.

    Args:
        code: ``few``, ``same``, ``uneven``, or ``extra``: the extra ``statistics`` is not installed.
        reason: One sentence.
        enough: Number of histories that are enough; ``None``: unknown.
    """

    code: str
    reason: str
    enough: int | None = None


@attrs.frozen
class ValueCompared:
    """One contender in one figure.

    Args:
        tells: ``better``, ``worse``, ``equal``, ``unclear`` or ``none`` (too few differ); ``None`` for the baseline.
        lower: Histories (or single states) in which its figure is lower than the baseline's; ``None``: unknown.
    """

    assignor: str
    mean: float
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    no_interval: NoInterval | None = None
    tells: str | None = None
    lower: int | None = None
    equal: int | None = None
    higher: int | None = None
    #: The 90 % band over the plays of one past, low and high; ``None``: it was played once.
    band: tuple[float, ...] | None = None


@attrs.frozen
class FigureCompared:
    """One of the five figures; if ``not_measured`` gives a reason, it has no values.

    Args:
        best: The best contenders; several if nothing separates them, none if it separates no two.
        error: Error of the play of the group's own assignor, as a share; ``None``: unknown, or no play.
        remedy: What to give if the figure is not measured and its cost may decide; ``None``: it cannot decide.
    """

    figure: str
    title: str
    metric: str | None
    unit: str | None
    direction: str | None
    summary: str | None
    not_measured: str | None
    states: int
    of: tuple[ValueCompared, ...]
    best: tuple[str, ...] = ()
    error: float | None = None
    remedy: str | None = None

    @property
    def means(self) -> tuple[float, ...] | None:
        """Mean of each contender; ``None``: not measured."""
        return tuple(each.mean for each in self.of) or None

    @property
    def difference(self) -> float | None:
        """The second one's mean less the first one's."""
        return None if len(self.of) < 2 else self.of[1].mean - self.of[0].mean


@attrs.frozen
class SummaryDifference:
    """One metric of an assignor against the baseline, history by history.

    Args:
        values: The histories' differences at the levels of :class:`Distributions`; ``None`` without any.
    """

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
    values: tuple[float, ...] | None = None
    no_interval: NoInterval | None = None


@attrs.frozen(kw_only=True)
class WorstState:
    """A worst state of an assignor, by its figure (``value``) or its ``difference`` from the baseline.

    Args:
        replay: The command that shows the state again; ``None`` for runs from Python.
    """

    assignor: str
    metric: str
    by: str
    value: float
    baseline_value: float | None
    item: int | None = None
    round: int
    scenario: str
    family: str | None
    seed: int | None = None
    time_ms: int | None = None
    replay: str | None


@attrs.frozen
class Distribution:
    """Quantiles of one metric of one assignor; ``None`` without values."""

    assignor: str
    metric: str
    n: int
    values: tuple[float, ...] | None


@attrs.frozen
class Distributions:
    """Quantiles of all metrics at ``levels``, from the minimum to the maximum."""

    levels: tuple[float, ...]
    of: tuple[Distribution, ...]


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
    """Differences from the baseline of one assignor and metric, with an entry for each part.

    Args:
        no_interval: Code of the reason of a missing interval.
    """

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


@attrs.frozen(kw_only=True)
class Verdict:
    """The result of a gate for one assignor.

    Args:
        status: ``failed`` if the condition holds, ``passed`` if not, ``unknown`` if there is no figure: a build must
            not pass because nothing was measured.
        no_limit: Reason of a missing limit; ``None`` if there is one, or no confidence.
        histories: Counted histories and single states; ``None`` for counts of rows.
    """

    expression: str
    assignor: str
    status: str
    value: float | None = None
    bound: float | None = None
    limit: float | None = None
    confidence: float | None = None
    states: int
    reason: str
    no_limit: NoInterval | None = None
    histories: int | None = None
