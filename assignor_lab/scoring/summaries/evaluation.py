"""Evaluation of the table: distributions, differences from a baseline, worst cases, gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from assignment_api.plugins import MetricPlugin
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.statistics.distributions import distributions, quantiles
from assignor_lab.scoring.statistics.slices import Slices, slices_of
from assignor_lab.scoring.statistics.worst import worst_rows
from assignor_lab.scoring.terms import EvaluationTerms

if TYPE_CHECKING:
    from assignor_lab.scoring.output.results_table import PairedFigures, Pairs

__all__ = ["evaluated", "evaluation", "gates_judged"]


def evaluation(table: ResultsTable, metrics: Mapping[str, MetricPlugin], terms: EvaluationTerms) -> dict[str, Any]:
    """The keys of the summary's ``results`` that were added after the first release of format 1."""
    found = evaluated(table, metrics, terms, len(metrics))
    return {"baseline": terms.baseline, **found, "gates": gates_judged(table, terms)}


def evaluated(
    table: ResultsTable, metrics: Mapping[str, MetricPlugin], terms: EvaluationTerms, number: int
) -> dict[str, Any]:
    pairs = {assignor: _pairs(table, assignor, terms.baseline) for assignor in table.assignors}
    compared: dict[tuple[str, str], dict[str, Any]] = {}
    worst: dict[tuple[str, str], list[dict[str, Any]]] = {}
    slices = slices_of(table, number)
    cells = {
        assignor: slices.cells_of(table.rows_of(assignor)["item"].combine_chunks()) for assignor in table.assignors
    }
    sliced: dict[str, list[dict[str, Any]]] = {"bins": [], "figures": [], "differences": []}
    for metric, plugin in metrics.items():
        columns = table.column(metric)
        bins, spreads = slices.spread(columns, cells)
        sliced["bins"].append({"metric": metric, **attrs.asdict(bins)})
        for assignor, values in columns.items():
            found, head = pairs[assignor], {"assignor": assignor, "metric": metric}
            sliced["figures"].append({**head, **spreads[assignor]})
            figures = None
            if found is not None and terms.baseline is not None:
                figures = found.figures(values, columns[terms.baseline])
                compared[assignor, metric] = {**head, **_difference(figures)}
                sliced["differences"].append({**head, **_sliced(slices, figures)})
            cases = worst[assignor, metric] = []
            for case in _cases(values, figures, plugin):
                origin = _origin(table, assignor, case.pop("row"))
                cases.append({**head, **case, **origin, "replay": _replay(terms, assignor, origin)})
    order = [(assignor, metric) for assignor in table.assignors for metric in metrics]
    return {
        "distributions": distributions(table, metrics),
        "differences": [compared[key] for key in order if key in compared],
        "worst_cases": [case for key in order for case in worst[key]],
        "slices": {**slices.described(), **sliced},
    }


def _origin(table: ResultsTable, assignor: str, row: int) -> dict[str, Any]:
    origin = table.origin(assignor, row)
    return {**origin, "scenario": f"item {origin['item']}"} if origin["scenario"] is None else origin


def _pairs(table: ResultsTable, assignor: str, baseline: str | None) -> Pairs | None:
    if baseline is None or baseline not in table.assignors or assignor == baseline:
        return None
    from assignor_lab.scoring.output.results_table import pairs_of

    return pairs_of(table, assignor, baseline)


def _difference(figures: PairedFigures) -> dict[str, Any]:
    from assignor_lab.scoring.statistics.differences import paired_difference

    found = paired_difference(figures.own, figures.baseline, figures.units)
    entry = {field.name: getattr(found, field.name) for field in attrs.fields(type(found))}
    spread = quantiles(pa.array(entry.pop("unit_differences")))
    entry["histories"] = entry.pop("units")
    order = ("histories", "states", "mean", "baseline_mean", "difference", "low", "high", "level", "effect")
    why = None if found.no_interval is None else attrs.asdict(found.no_interval)
    return {**{key: entry[key] for key in (*order, "lower", "equal", "higher")}, "values": spread, "no_interval": why}


def _sliced(slices: Slices, figures: PairedFigures) -> dict[str, Any]:
    from assignor_lab.scoring.statistics.slice_differences import slice_differences

    return slice_differences(slices, figures)


def _cases(values: pa.Array, figures: PairedFigures | None, plugin: MetricPlugin) -> Iterator[dict[str, Any]]:
    """Worst rows: by their own figure, then by their distance behind the baseline's."""
    for row in worst_rows(_numbers(values), plugin.direction):
        behind = None if figures is None else _beside(figures, row)
        yield {"by": "value", "row": row, "value": values[row].as_py(), "baseline_value": behind}
    if figures is None:
        return
    for position in worst_rows(figures.own - figures.baseline, plugin.direction, beyond=0.0):
        own, other = float(figures.own[position]), float(figures.baseline[position])
        yield {"by": "difference", "row": int(figures.rows[position]), "value": own, "baseline_value": other}


def _numbers(values: pa.Array) -> npt.NDArray[np.float64]:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _beside(figures: PairedFigures, row: int) -> float | None:
    """The baseline's figure in the state of a row; ``None`` if either is missing."""
    position = int(np.searchsorted(figures.rows, row))
    found = position < len(figures.rows) and figures.rows[position] == row
    return float(figures.baseline[position]) if found else None


def _replay(terms: EvaluationTerms, assignor: str, origin: Mapping[str, Any]) -> str | None:
    if terms.replay is None:
        return None
    names: Sequence[str] = tuple(dict.fromkeys(name for name in (assignor, terms.baseline) if name is not None))
    return terms.replay.command(origin["item"], origin["round"], origin["family"], origin["seed"], names)


def gates_judged(table: ResultsTable, terms: EvaluationTerms) -> list[dict[str, Any]]:
    if not terms.gates or terms.subjects is None:
        return []
    from assignor_lab.scoring.gates import judge

    entries = []
    for verdict in judge(terms.gates, terms.subjects, table):
        entry = attrs.asdict(verdict)
        entry["histories"] = entry.pop("units")
        entries.append(entry)
    return entries
