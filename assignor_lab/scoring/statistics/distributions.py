"""Distributions of each metric: quantiles over all states."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from assignment_api.plugins import MetricPlugin
from assignor_lab.model.comparisons import Distribution, Distributions
from assignor_lab.scoring.output.results_table import ResultsTable

__all__ = ["LEVELS", "distributions", "quantiles"]

#: Levels of the quantiles, from the minimum to the maximum.
LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)


def distributions(table: ResultsTable, metrics: Mapping[str, MetricPlugin]) -> Distributions:
    found: dict[tuple[str, str], Distribution] = {}
    for metric in metrics:
        for assignor, values in table.column(metric).items():
            known = values.drop_null()
            found[assignor, metric] = Distribution(assignor, metric, len(known), quantiles(known))
    return Distributions(LEVELS, tuple(found[name, metric] for name in table.assignors for metric in metrics))


def quantiles(values: pa.Array) -> tuple[float, ...] | None:
    """The quantiles at ``LEVELS``, with linear interpolation; ``None`` without values."""
    return tuple(pc.quantile(values, list(LEVELS)).to_pylist()) if len(values) else None
