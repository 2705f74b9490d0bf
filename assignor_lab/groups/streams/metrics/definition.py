"""How a metric of the lab is written down: a function of a placement with its unit, direction and words."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Literal

from assignment_api import ApplicationMetadata, TaskAssignment
from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.streams.placement import Placement, placement_of

__all__ = ["Definition", "as_metric", "metric"]

#: A metric before it is a plugin's: the figure for one placement, or ``None`` where the state does not tell.
Definition = Callable[[Placement], float | None]


def metric(
    group: str, unit: str, direction: Literal["lower", "higher", "none"], unavoidable: str = ""
) -> Callable[[Definition], MetricPlugin]:
    """Makes a metric of the decorated function: its name is the metric's name, its docstring's first line the summary.

    Args:
        group: Heading in reports.
        unit: What is counted.
        direction: Which way is better.
        unavoidable: What no assignor can avoid.
    """

    def make(definition: Definition) -> MetricPlugin:
        name = getattr(definition, "__name__", "")
        summary = (inspect.getdoc(definition) or "").partition("\n")[0]
        return as_metric(definition, name, group, unit, direction, summary, unavoidable)

    return make


def as_metric(
    definition: Definition,
    name: str,
    group: str,
    unit: str,
    direction: Literal["lower", "higher", "none"],
    summary: str,
    unavoidable: str = "",
) -> MetricPlugin:
    """A metric whose name and words are given, for definitions that come in several kinds."""

    def compute(application: ApplicationMetadata, assignment: TaskAssignment) -> float | None:
        return definition(placement_of(application, assignment))

    compute.__doc__ = definition.__doc__
    return MetricPlugin(name, unit, direction, summary, compute, group=group, unavoidable=unavoidable)
