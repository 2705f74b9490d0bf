"""The headline of a run: five figures for everybody who is compared, with paired differences, and the order they make.

A figure is compared over the states in which everybody has it, each history counting alike. Who is better in one figure
than another, with confidence, and behind in none, comes before it; all others share their place, so that no place says
more than the intervals do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import permutations
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from assignment_api.plugins import MetricPlugin
from assignor_lab.compare.verdicts import best_of
from assignor_lab.groups.columns import OF_FAMILY, OF_SCENARIO
from assignor_lab.groups.headline import FAILURES, HeadlineFigure
from assignor_lab.groups.work import OBSERVED
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.statistics.signs import FEWEST_SIGNS, is_beyond_chance

if TYPE_CHECKING:
    from assignor_lab.scoring.statistics.differences import Difference

__all__ = ["MOST_COMPARED", "Headline", "headline"]

#: Most assignors that are compared with each other for an order; pairs grow with the square.
MOST_COMPARED = 12
FAILED = "Decisions without an answer, and those that leave tasks to nobody."
FAILED_ALONE = "Decisions without an answer."

Numbers = npt.NDArray[np.float64]
#: What a comparison tells of the first of two.
BETTER, WORSE, EQUAL, UNCLEAR, NONE = "better", "worse", "equal", "unclear", "none"


@attrs.frozen
class Headline:
    """The headline.

    Args:
        document: The summary's ``headline``.
        places: Assignor to its place, from 1; empty where no order is made.
    """

    document: dict[str, Any]
    places: Mapping[str, int]


def headline(
    table: ResultsTable,
    compared: Sequence[str],
    figures: Sequence[HeadlineFigure],
    metrics: Mapping[str, MetricPlugin],
    baseline: str | None,
) -> Headline:
    """The five figures of ``compared``.

    Args:
        table: The finished table.
        compared: Assignors with a comparable answer, in the order of the summary.
        figures: The figures of the kind of group.
        metrics: Column to metric.
        baseline: Whom the run compares with, or ``None``: Kafka's own decision where it is known, else the first.
    """
    against = _baseline(compared, baseline)
    states = _States(table, compared)
    measured = [_figure(figure, states, metrics, against) for figure in figures]
    document = {
        "baseline": against,
        "states": states.number,
        "histories": len(np.unique(states.units)),
        "figures": [entry for entry, _ in measured],
    }
    return Headline(document, _places(compared, [found for _, found in measured if found is not None]))


def _baseline(compared: Sequence[str], baseline: str | None) -> str | None:
    for name in (baseline, OBSERVED, *compared[:1]):
        if name in compared:
            return name
    return None


class _States:
    """The states that everybody who is compared was asked about, comparably; figures are aligned by them."""

    def __init__(self, table: ResultsTable, compared: Sequence[str]) -> None:
        self._table = table
        self.compared = tuple(compared)
        keys = {name: _keys(table, name) for name in compared}
        shared: npt.NDArray[np.int64] = (
            reduce(lambda one, other: np.intersect1d(one, other, assume_unique=True), keys.values())
            if keys
            else np.zeros(0, np.int64)
        )
        #: Position of each shared state among the rows of an assignor.
        self._rows = {name: _positions(table, name)[np.searchsorted(known, shared)] for name, known in keys.items()}
        self.units = shared >> _ROUND_BITS
        self.number = len(shared)

    def column(self, metric: str) -> dict[str, Numbers]:
        """A metric by assignor, with NaN where there is no figure."""
        columns = self._table.column(metric)
        return {
            name: np.asarray(columns[name].to_numpy(zero_copy_only=False), dtype=np.float64)[rows]
            for name, rows in self._rows.items()
        }

    def failed(self, metrics: Sequence[str]) -> dict[str, Numbers]:
        """1 where an assignor has no answer, or one of ``metrics`` is above 0, else 0."""
        columns = [self.column(metric) for metric in metrics]
        found = {}
        for name, rows in self._rows.items():
            errors = pc.is_valid(self._table.rows_of(name)["error_type"]).to_numpy()[rows]
            found[name] = reduce(np.logical_or, [column[name] > 0 for column in columns], errors).astype(np.float64)
        return found


#: More rounds than any history has: item and round make one number, whose order is that of the rows.
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
    """A figure as it was measured: assignor to the mean of each history."""

    units: Mapping[str, Numbers]
    direction: str


def _figure(
    figure: HeadlineFigure, states: _States, metrics: Mapping[str, MetricPlugin], against: str | None
) -> tuple[dict[str, Any], _Found | None]:
    metric, known, columns = _measured(figure, states, metrics)
    entry: dict[str, Any] = {"figure": figure.name, "title": figure.title_of(metric)}
    if not known.any():
        unknown = dict.fromkeys(("metric", "unit", "direction", "summary"))
        return {**entry, **unknown, "not_measured": figure.not_measured, "states": 0, "best": [], "of": []}, None
    plugin = None if metric is None else metrics[metric]
    units = {name: _unit_means(values[known], states.units[known]) for name, values in columns.items()}
    found = _Found(units, "lower" if plugin is None else plugin.direction)
    entry |= {
        "metric": metric,
        "unit": "share" if plugin is None else plugin.unit,
        "direction": found.direction,
        "summary": (FAILED if figure.metrics else FAILED_ALONE) if plugin is None else plugin.summary,
        "not_measured": None,
        "states": int(np.count_nonzero(known)),
        "best": [],
        "of": [_compared(name, found, against) for name in states.compared],
    }
    entry["best"] = list(best_of({each["assignor"]: each["mean"] for each in entry["of"]}, found.direction))
    return entry, found


def _measured(
    figure: HeadlineFigure, states: _States, metrics: Mapping[str, MetricPlugin]
) -> tuple[str | None, npt.NDArray[np.bool_], Mapping[str, Numbers]]:
    """The metric that says most among those known in most states, where everybody has it, and its values."""
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


def _compared(name: str, found: _Found, against: str | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"assignor": name, "mean": float(np.mean(found.units[name]))}
    if against is None or name == against:
        unknown = dict.fromkeys(
            ("difference", "low", "high", "level", "no_interval", "lower", "equal", "higher", "tells")
        )
        return {**entry, **unknown}
    difference = _difference(found.units[name], found.units[against])
    entry |= _counts(found.units[name], found.units[against])
    if difference is None:
        missing = {"code": "extra", "reason": "install assignor-lab[statistics] for intervals", "enough": None}
        plain = float(np.mean(found.units[name] - found.units[against]))
        return {
            **entry,
            "difference": plain,
            "low": None,
            "high": None,
            "level": None,
            "no_interval": missing,
            "tells": _told_by_signs(entry["lower"], entry["higher"], plain, found.direction),
        }
    why = None if difference.no_interval is None else attrs.asdict(difference.no_interval)
    return {
        **entry,
        **{key: getattr(difference, key) for key in ("difference", "low", "high", "level")},
        "no_interval": why,
        "tells": _told(difference, found.direction),
    }


def _counts(own: Numbers, other: Numbers) -> dict[str, int]:
    return {
        "lower": int(np.count_nonzero(own < other)),
        "equal": int(np.count_nonzero(own == other)),
        "higher": int(np.count_nonzero(own > other)),
    }


def _difference(own: Numbers, other: Numbers) -> Difference | None:
    try:
        from assignor_lab.scoring.statistics.differences import paired_difference
    except ModuleNotFoundError:  # the extra "statistics" is not installed
        return None
    return paired_difference(own, other, np.arange(len(own)))


def _told(difference: Difference, direction: str) -> str:
    """What the interval tells of the first of two, or the sign test where there is none, as the figure's direction."""
    if difference.lower == difference.higher == 0:
        return EQUAL
    if difference.no_interval is None and difference.low is not None and difference.high is not None:
        if difference.low <= 0 <= difference.high:
            return UNCLEAR
        return BETTER if (difference.high < 0) == (direction == "lower") else WORSE
    return _told_by_signs(difference.lower, difference.higher, difference.difference or 0.0, direction)


def _told_by_signs(lower: int, higher: int, difference: float, direction: str) -> str:
    if not lower + higher:
        return EQUAL
    if lower + higher < FEWEST_SIGNS:
        return NONE
    more = lower - higher
    # Many small differences one way and a few large ones the other way are no finding.
    if not is_beyond_chance(lower, higher) or more * difference >= 0:
        return UNCLEAR
    return BETTER if (more > 0) == (direction == "lower") else WORSE


# --- order ----------------------------------------------------------------------------------------


def _places(compared: Sequence[str], figures: Sequence[_Found]) -> dict[str, int]:
    """1 and the number of those that do better: better in some figure, with confidence, and behind in none."""
    if len(compared) > MOST_COMPARED:
        return {}
    before: dict[str, int] = dict.fromkeys(compared, 0)
    for one, other in permutations(compared, 2):
        before[other] += _is_ahead(figures, one, other)
    return {name: 1 + number for name, number in before.items()}


def _is_ahead(figures: Sequence[_Found], one: str, other: str) -> bool:
    surely = False
    for found in figures:
        own, others = found.units[one], found.units[other]
        lead = float(np.mean(own - others)) * (-1 if found.direction == "lower" else 1)
        if lead < 0:
            return False
        difference = _difference(own, others)
        surely |= difference is not None and _told(difference, found.direction) == BETTER
    return surely
