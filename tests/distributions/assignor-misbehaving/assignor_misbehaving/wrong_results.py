from __future__ import annotations

from typing import Any

from assignment_api.plugins import MetricPlugin, hookimpl


@hookimpl
def assignor_lab_task_assignors() -> Any:
    return "sticky"


@hookimpl
def assignor_lab_metrics() -> Any:
    good = MetricPlugin("one", "1", "none", "Always one.", lambda _application, _assignment: 1.0)
    return [good, "garbage", None]


@hookimpl
def assignor_lab_scenario_families() -> Any:
    raise RuntimeError("no families today")


@hookimpl
def assignor_lab_assignment_computed() -> None:
    raise RuntimeError("seen too much")
