"""The headline of a run: five figures for all compared assignors, with paired differences, and the resulting order.

A figure is compared over the states in which all assignors have it, each history counting alike. An assignor comes
before another one if it is better in some figure, with confidence, and behind in none. All others share their place, so
that no place claims more than the intervals do. All comparisons together are one family of tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from assignment_api.plugins import MetricPlugin
from assignor_lab.compare.figures import best_of, has_failed
from assignor_lab.compare.play_errors import COLUMN, NO_ERROR, PlayError, play_error
from assignor_lab.compare.verdicts import best_everywhere, missing_cost
from assignor_lab.groups.columns import OF_FAMILY, OF_SCENARIO
from assignor_lab.groups.metrics.headline import FAILURES, HeadlineFigure
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.comparisons import FigureCompared, NoInterval, ValueCompared
from assignor_lab.model.run_summary import SummaryHeadline
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.statistics.signs import FEWEST_SIGNS, holm

if TYPE_CHECKING:
    from assignor_lab.scoring.statistics.differences import PairedDifference

__all__ = ["MOST_COMPARED", "Headline", "PlayedStates", "headline", "headline_of"]

Numbers = npt.NDArray[np.float64]
#: Most assignors in an order; the number of pairs grows with the square.
MOST_COMPARED = 12
FAILED = "Decisions without an answer, and answers that leave tasks without an owner."
FAILED_ALONE = "Decisions without an answer."

#: Verdict of a comparison on the first of two.
BETTER, WORSE, EQUAL, UNCLEAR, NONE = "better", "worse", "equal", "unclear", "none"


@attrs.frozen
class Headline:
    """The headline.

    Args:
        found: Without the number of single decisions, which follows from the sources.
        places: Assignor to its place, from 1; empty without an order.
    """

    found: SummaryHeadline
    places: Mapping[str, int]


def headline(
    table: ResultsTable,
    compared: Sequence[str],
    figures: Sequence[HeadlineFigure],
    metrics: Mapping[str, MetricPlugin],
    baseline: str | None,
    failed: Sequence[str] = (),
) -> Headline:
    """The five figures of ``compared``.

    Args:
        failed: Further contenders without any answer, for the figure of failures.
        baseline: The run's baseline, or ``None``: Kafka's own decision if known, else the first.
    """
    return headline_of(_TableStates(table, compared, failed), figures, metrics, baseline)


def headline_of(
    states: ComparableStates,
    figures: Sequence[HeadlineFigure],
    metrics: Mapping[str, MetricPlugin],
    baseline: str | None = None,
) -> Headline:
    against = _baseline(states.compared, baseline)
    measured = [_figure(figure, states, metrics, against) for figure in figures]
    known = {entry.figure: found for entry, found in measured if found is not None}
    every, sure = _comparisons((*states.compared, *states.failed_in_all), against, known)
    places = _places(states.compared, every, sure)
    first = [name for name, place in places.items() if place == 1]
    best = list(best_everywhere(entry.best for entry, _ in measured))
    if states.in_all == 1 and missing_cost([entry for entry, _ in measured]):
        best = []
    if states.in_all != 1:
        best = first if len(first) < len(places) else []
    found = SummaryHeadline(
        baseline=against,
        states=states.number,
        histories=len(np.unique(states.units)),
        best=tuple(best),
        figures=tuple(_sure_verdicts(entry, against, sure) for entry, _ in measured),
        alone=0,
        comparisons=sum(each.chance is not None for each in every),
    )
    return Headline(found, places)


def _baseline(compared: Sequence[str], baseline: str | None) -> str | None:
    for name in (baseline, OBSERVED, *compared[:1]):
        if name in compared:
            return name
    return None


class ComparableStates(Protocol):
    """The states in which each compared contender has a comparable row; figures are aligned by them.

    Attributes:
        failed_in_all: Contenders without any answer: only the figure of failures has them.
        number: Number of these states.
        in_all: Number of all states, comparable or not.
    """

    compared: tuple[str, ...]
    failed_in_all: tuple[str, ...]
    units: npt.NDArray[np.int64]
    number: int
    in_all: int

    def column(self, metric: str) -> dict[str, Numbers]:
        """A metric by assignor, with NaN for missing figures."""

    def texts(self) -> dict[str, str | None]:
        """Figures of the plays of the one state, by assignor; empty for several states."""

    def failed(self, metrics: Sequence[str]) -> dict[str, Numbers]:
        """1 if an assignor has no answer, or one of ``metrics`` is above 0, else 0; of `failed_in_all`, too."""


class PlayedStates:
    """Some histories as contenders played them.

    Args:
        rows: Contender to its row of each history; ``None`` without a comparable one.
    """

    def __init__(self, rows: Mapping[str, Sequence[Mapping[str, Any] | None]]) -> None:
        answered = {
            name: of for name, of in rows.items() if any(row is not None and row["error_type"] is None for row in of)
        }
        self.compared = tuple(answered)
        asked = [name for name, of in rows.items() if any(row is not None for row in of)]
        self.failed_in_all = tuple(name for name in asked if name not in answered) if answered else ()
        self.in_all = max(map(len, rows.values()), default=0)
        shared = [at for at in range(self.in_all) if all(of[at] is not None for of in answered.values())]
        self._rows = {name: [of[at] or {} for at in shared] for name, of in answered.items()}
        self.units = np.asarray(shared, dtype=np.int64)
        self.number = len(shared)

    def column(self, metric: str) -> dict[str, Numbers]:
        return {
            name: np.asarray([row.get(metric) for row in rows], dtype=np.float64) for name, rows in self._rows.items()
        }

    def texts(self) -> dict[str, str | None]:
        return {name: rows[0].get(COLUMN) for name, rows in self._rows.items()} if self.number == 1 else {}

    def failed(self, metrics: Sequence[str]) -> dict[str, Numbers]:
        found = {
            name: np.asarray([has_failed(row, metrics) for row in rows], dtype=np.float64)
            for name, rows in self._rows.items()
        }
        return found | dict.fromkeys(self.failed_in_all, np.ones(self.number))


class _TableStates:
    def __init__(self, table: ResultsTable, compared: Sequence[str], failed: Sequence[str]) -> None:
        self._table = table
        self.compared = tuple(compared)
        self.failed_in_all = tuple(failed) if compared else ()
        keys = {name: _keys(table, name) for name in compared}
        shared: npt.NDArray[np.int64] = (
            reduce(lambda one, other: np.intersect1d(one, other, assume_unique=True), keys.values())
            if keys
            else np.zeros(0, np.int64)
        )
        self._rows = {name: _positions(table, name)[np.searchsorted(known, shared)] for name, known in keys.items()}
        self.units = shared >> _ROUND_BITS
        self.number = len(shared)
        self.in_all = table.number_of_states

    def column(self, metric: str) -> dict[str, Numbers]:
        columns = self._table.column(metric)
        return {
            name: np.asarray(columns[name].to_numpy(zero_copy_only=False), dtype=np.float64)[rows]
            for name, rows in self._rows.items()
        }

    def texts(self) -> dict[str, str | None]:
        if self.number != 1:
            return {}
        found = self._table.texts(COLUMN)
        return {name: found[name][int(rows[0])].as_py() for name, rows in self._rows.items() if name in found}

    def failed(self, metrics: Sequence[str]) -> dict[str, Numbers]:
        columns = [self.column(metric) for metric in metrics]
        found = {}
        for name, rows in self._rows.items():
            errors = pc.is_valid(self._table.rows_of(name)["error_type"]).to_numpy()[rows]
            found[name] = reduce(np.logical_or, [column[name] > 0 for column in columns], errors).astype(np.float64)
        return found | dict.fromkeys(self.failed_in_all, np.ones(self.number))


#: Above the rounds of any history: item and round form one number, in the order of the rows.
_ROUND_BITS = 20


def _positions(table: ResultsTable, assignor: str) -> npt.NDArray[np.int64]:
    """Positions of an assignor's comparable rows among all of its rows; rows without a state are left out."""
    rows = table.rows_of(assignor)
    comparable = pc.is_null(rows["not_comparable"]).to_numpy()
    stateless = pc.is_in(rows["error_origin"], pa.array([OF_FAMILY, OF_SCENARIO])).to_numpy()
    return np.flatnonzero(comparable & ~stateless).astype(np.int64)


def _keys(table: ResultsTable, assignor: str) -> npt.NDArray[np.int64]:
    rows = table.rows_of(assignor)
    items, rounds = (np.asarray(rows[name].to_numpy(), dtype=np.int64) for name in ("item", "round"))
    keys: npt.NDArray[np.int64] = ((items << _ROUND_BITS) + rounds)[_positions(table, assignor)]
    return keys


# --- one figure -----------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _Found:
    units: Mapping[str, Numbers]
    direction: str


def _figure(
    figure: HeadlineFigure, states: ComparableStates, metrics: Mapping[str, MetricPlugin], against: str | None
) -> tuple[FigureCompared, _Found | None]:
    metric, known, columns = _measured(figure, states, metrics)
    title = figure.title_of(metric)
    if not known.any():
        missing = figure.not_measured
        return FigureCompared(figure.name, title, None, None, None, None, missing, 0, (), remedy=figure.remedy), None
    plugin = None if metric is None else metrics[metric]
    units = {name: _unit_means(values[known], states.units[known]) for name, values in columns.items()}
    found = _Found(units, "lower" if plugin is None else plugin.direction)
    error = play_error(figure.name, metric, states.texts())
    # Those that always failed have no other figure, and follow.
    of = tuple(
        _compared(name, found, against, error) for name in (*states.compared, *states.failed_in_all) if name in units
    )
    entry = FigureCompared(
        figure=figure.name,
        title=title,
        metric=metric,
        unit="share" if plugin is None else plugin.unit,
        direction=found.direction,
        summary=(FAILED if figure.metrics else FAILED_ALONE) if plugin is None else plugin.summary,
        not_measured=None,
        states=int(np.count_nonzero(known)),
        of=of,
        best=best_of({each.assignor: each.mean for each in of}, found.direction, error),
        error=error.error,
    )
    return entry, found


def _measured(
    figure: HeadlineFigure, states: ComparableStates, metrics: Mapping[str, MetricPlugin]
) -> tuple[str | None, npt.NDArray[np.bool_], Mapping[str, Numbers]]:
    """The first metric of the figure among those known in most states, and its values."""
    if figure.name == FAILURES:
        columns = states.failed([metric for metric in figure.metrics if metric in metrics])
        return None, np.ones(states.number, np.bool_), columns
    best: tuple[str | None, npt.NDArray[np.bool_], Mapping[str, Numbers]] = (None, np.zeros(0, np.bool_), {})
    for metric in figure.metrics:
        if metric in metrics and states.number:
            columns = states.column(metric)
            known = reduce(np.logical_and, [~np.isnan(values) for values in columns.values()])
            if np.count_nonzero(known) > np.count_nonzero(best[1]):
                best = metric, known, columns
    return best


def _unit_means(values: Numbers, units: npt.NDArray[np.int64]) -> Numbers:
    _, position = np.unique(units, return_inverse=True)
    means: Numbers = np.bincount(position, weights=values) / np.bincount(position)
    return means


def _compared(name: str, found: _Found, against: str | None, error: PlayError = NO_ERROR) -> ValueCompared:
    own = found.units[name]
    value = ValueCompared(name, float(np.mean(own)), band=error.band_of(name))
    if against is None or name == against:
        return value
    other = found.units[against]
    difference = _difference(own, other)
    lower, higher = int(np.count_nonzero(own < other)), int(np.count_nonzero(own > other))
    value = attrs.evolve(value, lower=lower, equal=int(np.count_nonzero(own == other)), higher=higher)
    if difference is None:
        plain = float(np.mean(own - other))
        return attrs.evolve(
            value,
            difference=plain,
            no_interval=NoInterval("extra", "install assignor-lab[statistics] for intervals"),
            tells=NONE if lower or higher else EQUAL,
        )
    return attrs.evolve(
        value,
        difference=difference.difference,
        low=difference.low,
        high=difference.high,
        level=difference.level,
        no_interval=difference.no_interval,
        tells=_verdict(difference, found.direction),
    )


def _difference(own: Numbers, other: Numbers) -> PairedDifference | None:
    try:
        from assignor_lab.scoring.statistics.differences import paired_difference
    except ModuleNotFoundError:  # the extra "statistics" is not installed
        return None
    return paired_difference(own, other, np.arange(len(own)))


def _verdict(difference: PairedDifference, direction: str) -> str:
    """The verdict of the interval on the first of two, as the figure's direction.

    Without an interval there is none, except that equal differences of all histories are judged by their sign.
    """
    if difference.lower == difference.higher == 0:
        return EQUAL
    if difference.no_interval is None and difference.low is not None and difference.high is not None:
        if difference.low <= 0 <= difference.high:
            return UNCLEAR
        return BETTER if (difference.high < 0) == (direction == "lower") else WORSE
    is_same = difference.no_interval is not None and difference.no_interval.code == "same"
    if not is_same or difference.lower + difference.higher < FEWEST_SIGNS:
        return NONE
    return BETTER if (difference.lower > 0) == (direction == "lower") else WORSE


# --- order ----------------------------------------------------------------------------------------


@attrs.frozen
class _Comparison:
    """Two contenders in one figure; the first is before the other on average if ``lead`` is above 0."""

    one: str
    other: str
    figure: str
    lead: float
    chance: float | None


def _comparisons(
    compared: Sequence[str], against: str | None, figures: Mapping[str, _Found]
) -> tuple[list[_Comparison], list[_Comparison]]:
    """All comparisons, and the sure ones.

    All pairs and figures with a known chance are one family: a finding among equal contenders has the probability
    ``LEVEL_OF_ORDERS`` at most (Holm). Of more than :data:`MOST_COMPARED` contenders, the pairs with the baseline are.
    """
    pairs = [*combinations(compared, 2)]
    if len(compared) > MOST_COMPARED:
        pairs = [pair for pair in pairs if against in pair]
    every = [each for name, found in figures.items() for each in _compared_pairs(name, found, pairs)]
    known = [each for each in every if each.chance is not None]
    sure = holm([each.chance for each in known if each.chance is not None])
    return every, [each for each, is_sure in zip(known, sure, strict=True) if is_sure]


def _compared_pairs(figure: str, found: _Found, pairs: Sequence[tuple[str, str]]) -> list[_Comparison]:
    of = {
        pair: _difference(found.units[pair[0]], found.units[pair[1]]) for pair in pairs if found.units.keys() >= {*pair}
    }
    unseen = _chances_of_unseen(of)
    return [
        _Comparison(*pair, figure, _lead(found, *pair), _largest(None if each is None else each.chance(), unseen[pair]))
        for pair, each in of.items()
    ]


def _largest(chance: float | None, unseen: float) -> float | None:
    return None if chance is None else max(chance, unseen)


def _chances_of_unseen(of: Mapping[tuple[str, str], PairedDifference | None]) -> Mapping[tuple[str, str], float]:
    """For each pair, the probability that rare differences of the other pairs outweigh its own, and were not seen."""
    known = {pair: each for pair, each in of.items() if each is not None}
    if not known:
        return dict.fromkeys(of, 0.0)
    from assignor_lab.scoring.statistics.unseen import chance_of_unseen, never_opposed, rare_differences

    rare = {pair: rare_differences(each.unit_differences) for pair, each in known.items()}
    found = dict.fromkeys(of, 0.0)
    for pair, each in known.items():
        others = [one for other, of_other in rare.items() if other != pair for one in of_other]
        if each.no_interval is None:
            others += never_opposed(each.unit_differences)
        found[pair] = chance_of_unseen(each.difference or 0.0, each.units, others)
    return found


def _places(compared: Sequence[str], every: Sequence[_Comparison], sure: Sequence[_Comparison]) -> dict[str, int]:
    """1 plus the number of better ones: surely better in some figure, and behind in none."""
    if len(compared) > MOST_COMPARED:
        return {}
    behind = {(each.one, each.other) if each.lead < 0 else (each.other, each.one) for each in every if each.lead}
    ahead = {(each.one, each.other) if each.lead > 0 else (each.other, each.one) for each in sure}
    before = Counter(other for _, other in ahead - behind)
    return {name: 1 + before[name] for name in compared}


def _sure_verdicts(entry: FigureCompared, against: str | None, sure: Sequence[_Comparison]) -> FigureCompared:
    """A figure whose verdicts hold among all comparisons; the others are unclear."""
    beyond = {frozenset((each.one, each.other)) for each in sure if each.figure == entry.figure}
    return attrs.evolve(
        entry,
        of=tuple(
            attrs.evolve(each, tells=UNCLEAR)
            if each.tells in (BETTER, WORSE) and frozenset((each.assignor, against)) not in beyond
            else each
            for each in entry.of
        ),
    )


def _lead(found: _Found, one: str, other: str) -> float:
    """By how much the first is better on average."""
    return float(np.mean(found.units[one] - found.units[other])) * (-1 if found.direction == "lower" else 1)
