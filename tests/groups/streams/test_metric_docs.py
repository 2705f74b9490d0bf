"""The page on metrics has the metrics' own sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.streams.gaps import GAP_METRICS
from assignor_lab.groups.streams.metrics import LAB_METRICS
from assignor_lab.groups.streams.metrics.weights import SPIKE_METRICS
from assignor_lab.groups.streams_group.metrics import GROUP_METRICS
from assignor_lab.scoring.output.tables import results_schema, run_metrics_schema

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(
    "metric",
    [*LAB_METRICS, *GROUP_METRICS, *GAP_METRICS, *SPIKE_METRICS],
    ids=lambda metric: f"{metric.kind}-{metric.name}",
)
def test_each_metric_is_in_the_page_word_by_word(metric: MetricPlugin) -> None:
    better = {"lower": "lower", "higher": "higher", "none": "neither"}[metric.direction]
    line = f"| `{metric.name}` | {metric.unit} | {better} | {metric.summary} | {metric.unavoidable} |"
    assert line in (DOCS / "reference" / "metrics.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("column", [*results_schema(()).names, *run_metrics_schema().names])
def test_each_column_is_in_the_page_on_scoring(column: str) -> None:
    assert f"`{column}`" in (DOCS / "reference" / "scoring.md").read_text(encoding="utf-8")
