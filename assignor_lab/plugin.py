"""What the lab itself contributes through the hooks that everybody uses."""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.plugins.entries import MetricPlugin, ScenarioFamily
from assignment_api.plugins.hookspecs import hookimpl
from assignor_lab.scenarios.families import streams_4x40, streams_histories
from assignor_lab.scoring.metrics import LAB_METRICS

__all__ = ["assignor_lab_metrics", "assignor_lab_scenario_families"]


@hookimpl
def assignor_lab_metrics() -> Sequence[MetricPlugin]:
    """The metrics of this project."""
    return LAB_METRICS


@hookimpl
def assignor_lab_scenario_families() -> Sequence[ScenarioFamily]:
    """The families of this project."""
    return (streams_histories(), streams_4x40())
