"""The metrics of a kind of group as columns: the lab's own, and those that plugins bring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from typing import Any, NoReturn, TypeVar

from assignment_api.plugins import Found, MetricPlugin, PluginError, Registry
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignor_lab.groups.columns import Column, column_names
from assignor_lab.groups.kind import Measure

__all__ = ["measures_of", "metrics_of", "own_metrics", "plugin_columns"]


S = TypeVar("S")
A = TypeVar("A")


def own_metrics(metrics: Iterable[MetricPlugin]) -> dict[str, Found[MetricPlugin]]:
    """Column to metric, of metrics of the lab's own that do not come by the registry."""
    version = metadata.version(BUILTIN_DISTRIBUTION)
    return {metric.name: Found(metric.name, metric, BUILTIN_DISTRIBUTION, version) for metric in metrics}


def metrics_of(
    registry: Registry, kind: str, own: Iterable[MetricPlugin] = (), columns: Sequence[Column] = ()
) -> dict[str, Found[MetricPlugin]]:
    """Column to metric: the lab's own, then those of the registry.

    Args:
        registry: What is installed.
        kind: Kind of scenarios.
        own: The lab's own metrics that do not come by the registry.
        columns: Further columns of the kind's results.
    """
    found = own_metrics(own)
    names = plugin_columns(registry, kind, (*found, *(column.name for column in columns)))
    return found | {name: registry.metric(name) for name in names}


def plugin_columns(registry: Registry, kind: str, own: Iterable[str] = ()) -> tuple[str, ...]:
    """Column names of the registered metrics of a kind, in the registry's order.

    One that is called like another column gets its distribution before its name.

    Args:
        registry: What is installed.
        kind: Kind of scenarios.
        own: Columns that the kind has besides.
    """
    taken = column_names() | set(own)
    return tuple(
        f"{found.distribution}:{found.name}" if found.name in taken else found.name
        for found in registry.metrics()
        if found.plugin.kind == kind
    )


def measures_of(
    registry: Registry,
    names: Iterable[str],
    of_plugin: Callable[[MetricPlugin], Measure[S, A]],
    own: Mapping[str, Measure[S, A]] | None = None,
) -> dict[str, Measure[S, A]]:
    """Column to what computes it.

    Args:
        registry: What is installed here; a metric that is not has a measure that raises its error.
        names: The columns.
        of_plugin: Makes a measure of a registered metric.
        own: Column to measure, of metrics of the lab's own that do not come by the registry.
    """
    measures: dict[str, Measure[S, A]] = {}
    for name in names:
        known = (own or {}).get(name)
        try:
            measures[name] = of_plugin(registry.metric(name).plugin) if known is None else known
        except PluginError as error:
            measures[name] = _missing(error)
    return measures


def _missing(error: PluginError) -> Callable[[Any, Any], NoReturn]:
    """Stands for a metric that the driver has and this process has not: each of its figures says so."""

    def measure(_state: Any, _answer: Any) -> NoReturn:
        raise error

    return measure
