"""Hooks that return something else than they promise, or fail."""

from __future__ import annotations

from typing import Any

from assignment_api.plugins import MetricPlugin, hookimpl


@hookimpl
def assignor_lab_task_assignors() -> Any:
    """Neither a list nor a tuple."""
    return "sticky"


@hookimpl
def assignor_lab_metrics() -> Any:
    """One good metric among garbage."""
    good = MetricPlugin("one", "1", "none", "Always one.", lambda _application, _assignment: 1.0)
    return [good, "garbage", None]


@hookimpl
def assignor_lab_scenario_families() -> Any:
    """Fails."""
    raise RuntimeError("no families today")


@hookimpl
def assignor_lab_assignment_computed() -> None:
    """An observer that fails."""
    raise RuntimeError("seen too much")
