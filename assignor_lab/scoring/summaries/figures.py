"""Means, quantiles, worst cases and places, from the finished table of results.

One column is in memory at a time. Sums are exact (``math.fsum``), so figures do not depend on the order of pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assignment_api.plugins import MetricPlugin
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

    aggregates: list[dict[str, Any]]
    headline: dict[str, Any]
    ranking: dict[str, Any]
    evaluation: dict[str, Any]
    assign_ms: list[dict[str, Any]]
    probes: list[dict[str, Any]]
    captured: list[int]
    more_captured: int
    worst: list[tuple[int, int, str, bool]]
    first: list[tuple[int, int]]


METHOD = (
    "An assignor comes before another one if it is better in one of the headline's figures, with 95 % confidence, and "
    "behind in none; all others share a place. Means are over the states with a comparable answer of every assignor."
)


def aggregates(table: ResultsTable, metrics: Mapping[str, MetricPlugin]) -> list[dict[str, Any]]:
    entries: dict[tuple[str, str], dict[str, Any]] = {}
    for metric, plugin in metrics.items():
        for assignor, values in table.column(metric).items():
            entries[assignor, metric] = _aggregate(table, assignor, metric, plugin, values)
    return [entries[assignor, metric] for assignor in table.assignors for metric in metrics]


def _aggregate(
    table: ResultsTable, assignor: str, metric: str, plugin: MetricPlugin, values: pa.Array
) -> dict[str, Any]:
    known = values.drop_null()
    figures: dict[str, Any] = dict.fromkeys(("mean", "median", "p90", "min", "max", "worst"))
    if len(known):
        median, p90 = pc.quantile(known, [0.5, 0.9]).to_pylist()
        low, high = pc.min(known).as_py(), pc.max(known).as_py()
        figures = {"mean": _mean(known), "median": median, "p90": p90, "min": low, "max": high, "worst": None}
        if plugin.direction != "none":
            worst = high if plugin.direction == "lower" else low
            figures["worst"] = _worst(table, assignor, values, worst)
    return {"assignor": assignor, "metric": metric, "n": len(known), **figures}


def _worst(table: ResultsTable, assignor: str, values: pa.Array, worst: float) -> dict[str, Any]:
    row = table.origin(assignor, pc.index(values, worst).as_py())
    name = row["scenario"] if row["scenario"] is not None else f"item {row['item']}"
    return {"scenario": name, "round": row["round"], "time_ms": row["time_ms"], "value": worst}


def _mean(values: pa.Array) -> float:
    return exact_sum(values.to_numpy(zero_copy_only=False)) / len(values)


def ranking(
    table: ResultsTable, ranked: Sequence[str], metrics: Mapping[str, MetricPlugin], order: Mapping[str, int]
) -> dict[str, Any]:
    """The summary's ``ranking`` of the assignors ``ranked``, whose places over all are those of ``order``."""
    states, by_metric = places_by_metric(table, ranked, metrics)
    return ranked_by(states, by_metric, ranked, metrics, order)


def places_by_metric(
    table: ResultsTable, ranked: Sequence[str], metrics: Mapping[str, MetricPlugin]
) -> tuple[int, list[dict[str, Any]]]:
    """Number of states in which all of ``ranked`` have a comparable answer, and the entries of ``by_metric``."""
    masks = table.answered(ranked)
    states = masks[ranked[0]].true_count if ranked else 0
    by_metric: list[dict[str, Any]] = []
    for metric, plugin in metrics.items():
        if plugin.direction == "none" or not states:
            continue
        means, count = _paired_means(table.column(metric), masks)
        if count:
            places = _places(means, lower_is_better=plugin.direction == "lower")
            by_metric.append({"metric": metric, "n": count, "places": places})
    return states, by_metric


def ranked_by(
    states: int,
    by_metric: Sequence[dict[str, Any]],
    ranked: Sequence[str],
    metrics: Mapping[str, MetricPlugin],
    order: Mapping[str, int],
) -> dict[str, Any]:
    return {
        "method": METHOD,
        "states": states,
        "overall": _overall(ranked, by_metric, metrics, order),
        "by_metric": list(by_metric),
    }


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


def _places(means: Mapping[str, float], *, lower_is_better: bool) -> list[dict[str, Any]]:
    order = sorted(means.items(), key=lambda entry: entry[1] if lower_is_better else -entry[1])
    places: list[dict[str, Any]] = []
    for position, (assignor, mean) in enumerate(order, start=1):
        tied = bool(places) and places[-1]["mean"] == mean
        place = places[-1]["place"] if tied else position
        places.append({"place": place, "assignor": assignor, "mean": mean})
    return places


def _overall(
    ranked: Sequence[str],
    by_metric: Sequence[Mapping[str, Any]],
    metrics: Mapping[str, MetricPlugin],
    order: Mapping[str, int],
) -> list[dict[str, Any]]:
    if not by_metric or not order:
        return []
    # Each group counts alike; otherwise the many measures of balance would decide alone.
    groups = dict.fromkeys(metrics[entry["metric"]].group for entry in by_metric)
    places: dict[str, dict[str, list[int]]] = {assignor: {group: [] for group in groups} for assignor in ranked}
    best: dict[str, list[str]] = {assignor: [] for assignor in ranked}
    for entry in by_metric:
        shared = all(place["place"] == 1 for place in entry["places"])
        for place in entry["places"]:
            places[place["assignor"]][metrics[entry["metric"]].group].append(place["place"])
            if place["place"] == 1 and not shared:
                best[place["assignor"]].append(entry["metric"])
    means = {
        assignor: fsum(fsum(own) / len(own) for own in by_group.values()) / len(groups)
        for assignor, by_group in places.items()
    }
    return [
        {"place": order[assignor], "assignor": assignor, "mean_place": means[assignor], "best_in": best[assignor]}
        for assignor in sorted(ranked, key=order.__getitem__)
    ]


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
            found.setdefault((row["item"], row["round"]), worst[1])
    return [(item, number, assignor) for (item, number), assignor in found.items()]


def first_states(table: ResultsTable, most: int) -> list[tuple[int, int]]:
    """The first states, item and round, with an answer; at most ``most``."""
    found: dict[tuple[int, int], None] = {}
    for assignor in table.assignors if most > 0 else ():
        rows = table.rows_of(assignor).slice(0, most)
        found.update(dict.fromkeys(zip(rows["item"].to_pylist(), rows["round"].to_pylist(), strict=True)))
    return sorted(found)[:most] if most > 0 else []


def probe_counts(path: Path, assignors: Sequence[str]) -> list[dict[str, Any]]:
    """Entries of the summary's ``probes``, from the table ``run_metrics``, for assignors that were called again."""
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
                {
                    "assignor": assignor,
                    "n": rows.num_rows,
                    "peak_memory_median": pc.quantile(peaks, 0.5)[0].as_py() if len(peaks) else None,
                    "peak_memory_max": pc.max(peaks).as_py(),
                    **{column: pc.sum(rows[column]).as_py() for column in columns},
                }
            )
    return entries


def assign_times(path: Path, assignors: Sequence[str]) -> list[dict[str, Any]]:
    """Entries of the summary's ``assign_ms``, from the table ``run_metrics``."""
    table = pq.read_table(path, columns=["assignor", "assign_ms"])
    entries = []
    for assignor in assignors:
        values = table.filter(pc.equal(table["assignor"], assignor))["assign_ms"].drop_null()
        median, p99 = pc.quantile(values, [0.5, 0.99]).to_pylist() if len(values) else (None, None)
        entries.append(
            {"assignor": assignor, "n": len(values), "median": median, "p99": p99, "max": pc.max(values).as_py()}
        )
    return entries
