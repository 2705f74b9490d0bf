"""Means, quantiles, worst cases and places, from the finished table of results.

One column is in memory at a time. Sums are exact (``math.fsum``), so figures do not depend on the order of pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from pathlib import Path

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assignment_api.plugins import MetricPlugin
from assignor_lab.model.comparisons import Distributions, SummaryDifference, SummarySlices, Verdict, WorstState
from assignor_lab.model.run_summary import (
    Aggregate,
    AssignTime,
    MetricPlace,
    MetricRanking,
    OverallPlace,
    ProbeCounts,
    Ranking,
    SummaryHeadline,
    WorstCase,
)
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.statistics.sums import exact_sum

__all__ = ["MAX_PLACEMENTS", "MAX_WORST", "METHOD", "Figures", "aggregates", "assign_times", "ranking", "worst_states"]


#: Most states with kept placements, and the share of worst cases of generated states among them.
MAX_PLACEMENTS = 60


MAX_WORST = 12


@attrs.frozen(eq=False)
class Figures:
    """The measurements: parts of the summary, and states to show.

    Args:
        worst: For each metric with differences, its worst state: item, round, assignor; and true if it is a captured
            one.
        first: The first states: item and round.
    """

    aggregates: tuple[Aggregate, ...]
    headline: SummaryHeadline
    ranking: Ranking
    baseline: str | None
    distributions: Distributions
    differences: tuple[SummaryDifference, ...]
    worst_cases: tuple[WorstState, ...]
    slices: SummarySlices
    gates: tuple[Verdict, ...]
    assign_ms: tuple[AssignTime, ...]
    probes: tuple[ProbeCounts, ...]
    captured: tuple[int, ...]
    more_captured: int
    worst: tuple[tuple[int, int, str, bool], ...]
    first: tuple[tuple[int, int], ...]


METHOD = (
    "An assignor comes before another one if it is better in one of the headline's figures, with 95 % confidence, and "
    "behind in none; all others share a place. Means are over the states with a comparable answer of every assignor."
)


def aggregates(table: ResultsTable, metrics: Mapping[str, MetricPlugin]) -> list[Aggregate]:
    entries: dict[tuple[str, str], Aggregate] = {}
    for metric, plugin in metrics.items():
        for assignor, values in table.column(metric).items():
            entries[assignor, metric] = _aggregate(table, assignor, metric, plugin, values)
    return [entries[assignor, metric] for assignor in table.assignors for metric in metrics]


def _aggregate(table: ResultsTable, assignor: str, metric: str, plugin: MetricPlugin, values: pa.Array) -> Aggregate:
    known = values.drop_null()
    if not len(known):
        return Aggregate(assignor, metric, 0, None, None, None, None, None, None)
    median, p90 = pc.quantile(known, [0.5, 0.9]).to_pylist()
    low, high = pc.min(known).as_py(), pc.max(known).as_py()
    worst = None
    if plugin.direction != "none":
        worst = _worst(table, assignor, values, high if plugin.direction == "lower" else low)
    return Aggregate(assignor, metric, len(known), _mean(known), median, p90, low, high, worst)


def _worst(table: ResultsTable, assignor: str, values: pa.Array, worst: float) -> WorstCase:
    origin = table.origin(assignor, pc.index(values, worst).as_py())
    return WorstCase(scenario=origin.name, round=origin.round, time_ms=origin.time_ms, value=worst)


def _mean(values: pa.Array) -> float:
    return exact_sum(values.to_numpy(zero_copy_only=False)) / len(values)


def ranking(
    table: ResultsTable, ranked: Sequence[str], metrics: Mapping[str, MetricPlugin], order: Mapping[str, int]
) -> Ranking:
    """The ranking of the assignors ``ranked``, whose places over all are those of ``order``."""
    states, by_metric = places_by_metric(table, ranked, metrics)
    return ranked_by(states, by_metric, ranked, metrics, order)


def places_by_metric(
    table: ResultsTable, ranked: Sequence[str], metrics: Mapping[str, MetricPlugin]
) -> tuple[int, list[MetricRanking]]:
    """Number of states in which all of ``ranked`` have a comparable answer, and the places in each metric."""
    masks = table.answered(ranked)
    states = masks[ranked[0]].true_count if ranked else 0
    by_metric: list[MetricRanking] = []
    for metric, plugin in metrics.items():
        if plugin.direction == "none" or not states:
            continue
        means, count = _paired_means(table.column(metric), masks)
        if count:
            places = _places(means, lower_is_better=plugin.direction == "lower")
            by_metric.append(MetricRanking(metric, count, places))
    return states, by_metric


def ranked_by(
    states: int,
    by_metric: Sequence[MetricRanking],
    ranked: Sequence[str],
    metrics: Mapping[str, MetricPlugin],
    order: Mapping[str, int],
) -> Ranking:
    return Ranking(METHOD, states, _overall(ranked, by_metric, metrics, order), tuple(by_metric))


def _paired_means(columns: Mapping[str, pa.Array], masks: Mapping[str, pa.Array]) -> tuple[dict[str, float], int]:
    paired = {assignor: columns[assignor].filter(mask) for assignor, mask in masks.items()}
    known: pa.Array | None = None
    for values in paired.values():
        valid = pc.is_valid(values)
        known = valid if known is None else pc.and_(known, valid)
    count = 0 if known is None else known.true_count
    if not count:
        return {}, 0
    return {assignor: _mean(values.filter(known)) for assignor, values in paired.items()}, count


def _places(means: Mapping[str, float], *, lower_is_better: bool) -> tuple[MetricPlace, ...]:
    order = sorted(means.items(), key=lambda entry: entry[1] if lower_is_better else -entry[1])
    places: list[MetricPlace] = []
    for position, (assignor, mean) in enumerate(order, start=1):
        tied = bool(places) and places[-1].mean == mean
        places.append(MetricPlace(places[-1].place if tied else position, assignor, mean))
    return tuple(places)


def _overall(
    ranked: Sequence[str],
    by_metric: Sequence[MetricRanking],
    metrics: Mapping[str, MetricPlugin],
    order: Mapping[str, int],
) -> tuple[OverallPlace, ...]:
    if not by_metric or not order:
        return ()
    # Each group counts alike; otherwise the many measures of balance would decide alone.
    groups = dict.fromkeys(metrics[entry.metric].group for entry in by_metric)
    places: dict[str, dict[str, list[int]]] = {assignor: {group: [] for group in groups} for assignor in ranked}
    best: dict[str, list[str]] = {assignor: [] for assignor in ranked}
    for entry in by_metric:
        shared = all(place.place == 1 for place in entry.places)
        for place in entry.places:
            places[place.assignor][metrics[entry.metric].group].append(place.place or 0)
            if place.place == 1 and not shared:
                best[place.assignor].append(entry.metric)
    means = {
        assignor: fsum(fsum(own) / len(own) for own in by_group.values()) / len(groups)
        for assignor, by_group in places.items()
    }
    return tuple(
        OverallPlace(order[assignor], assignor, means[assignor], tuple(best[assignor]))
        for assignor in sorted(ranked, key=order.__getitem__)
    )


def worst_states(table: ResultsTable, metrics: Mapping[str, MetricPlugin], most: int) -> list[tuple[int, int, str]]:
    """The worst row of each metric: item, round and assignor, each state once, at most ``most``."""
    found: dict[tuple[int, int], str] = {}
    for metric, plugin in metrics.items():
        if plugin.direction == "none" or len(found) >= most:
            continue
        worst: tuple[float, str, int] | None = None
        lowest: float | None = None
        sign = 1.0 if plugin.direction == "lower" else -1.0
        for assignor, values in table.column(metric).items():
            if values.null_count == len(values):
                continue
            bad = sign * (pc.max(values) if sign > 0 else pc.min(values)).as_py()
            good = sign * (pc.min(values) if sign > 0 else pc.max(values)).as_py()
            lowest = good if lowest is None else min(lowest, good)
            if worst is None or bad > worst[0]:
                worst = bad, assignor, pc.index(values, sign * bad).as_py()
        if worst is not None and lowest is not None and worst[0] > lowest:
            row = table.origin(worst[1], worst[2])
            found.setdefault((row.item, row.round), worst[1])
    return [(item, number, assignor) for (item, number), assignor in found.items()]


def first_states(table: ResultsTable, most: int) -> list[tuple[int, int]]:
    """The first states, item and round, with an answer; at most ``most``."""
    found: dict[tuple[int, int], None] = {}
    for assignor in table.assignors if most > 0 else ():
        rows = table.rows_of(assignor).slice(0, most)
        found.update(dict.fromkeys(zip(rows["item"].to_pylist(), rows["round"].to_pylist(), strict=True)))
    return sorted(found)[:most] if most > 0 else []


def probe_counts(path: Path, assignors: Sequence[str]) -> list[ProbeCounts]:
    """The probes in the table ``run_metrics``, of assignors that were called again."""
    columns = ("deterministic", "same_hash_seed", "same_order", "pure")
    table = pq.read_table(
        path, columns=["assignor", "peak_memory_bytes", *columns], filters=pc.is_valid(pc.field("pure"))
    )
    entries = []
    for assignor in assignors:
        rows = table.filter(pc.equal(table["assignor"], assignor))
        if rows.num_rows:
            peaks = rows["peak_memory_bytes"].drop_null()
            entries.append(
                ProbeCounts(
                    assignor,
                    rows.num_rows,
                    pc.quantile(peaks, 0.5)[0].as_py() if len(peaks) else None,
                    pc.max(peaks).as_py(),
                    *(pc.sum(rows[column]).as_py() for column in columns),
                )
            )
    return entries


def assign_times(path: Path, assignors: Sequence[str]) -> list[AssignTime]:
    """Times of the assign calls, from the table ``run_metrics``."""
    table = pq.read_table(path, columns=["assignor", "assign_ms", "assign_wall_ms"])
    entries = []
    for assignor in assignors:
        rows = table.filter(pc.equal(table["assignor"], assignor))
        values = rows["assign_ms"].drop_null()
        median, p99 = pc.quantile(values, [0.5, 0.99]).to_pylist() if len(values) else (None, None)
        wall = pc.quantile(rows["assign_wall_ms"], [0.5]).to_pylist()[0] if len(values) else None
        entries.append(AssignTime(assignor, len(values), median, p99, pc.max(values).as_py(), wall))
    return entries
