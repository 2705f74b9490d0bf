"""The metrics of a kind of group as columns: the lab's own, and those of plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from typing import Any, NoReturn, TypeVar

from assignment_api.plugins import Found, MetricPlugin, PluginError, Registry
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignor_lab.groups.columns import TableColumn, column_names
from assignor_lab.groups.kind import Measure
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.discovery.entries import is_apart
from assignor_lab.runtime.isolation.errors import IsolationError
from assignor_lab.runtime.isolation.exclusion import Exclusions, metric_key

__all__ = ["MeasuresWithExclusions", "measures_of", "metrics_of", "own_metrics", "plugin_columns"]

S = TypeVar("S")
A = TypeVar("A")


def own_metrics(metrics: Iterable[MetricPlugin]) -> dict[str, Found[MetricPlugin]]:
    """Column to metric, for the lab's own metrics outside the registry."""
    version = metadata.version(BUILTIN_DISTRIBUTION)
    return {metric.name: Found(metric.name, metric, BUILTIN_DISTRIBUTION, version) for metric in metrics}


def metrics_of(
    registry: Registry, kind: str, own: Iterable[MetricPlugin] = (), columns: Sequence[TableColumn] = ()
) -> dict[str, Found[MetricPlugin]]:
    """Column to metric: the lab's own, then those of the registry."""
    found = own_metrics(own)
    names = plugin_columns(registry, kind, (*found, *(column.name for column in columns)))
    return found | {name: registry.metric(name) for name in names}


def plugin_columns(registry: Registry, kind: str, own: Iterable[str] = ()) -> tuple[str, ...]:
    """Column names of the registered metrics of a kind, in the registry's order.

    A metric with the name of another column gets its distribution before its name.
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
    """Column to the function that computes it; a metric that is not installed has a measure that raises its error."""
    measures: dict[str, Measure[S, A]] = {}
    for name in names:
        known = (own or {}).get(name)
        try:
            measures[name] = of_plugin(registry.metric(name).plugin) if known is None else known
        except PluginError as error:
            measures[name] = _missing(error)
    return measures


def _missing(error: PluginError) -> Callable[[Any, Any], NoReturn]:
    def measure(_state: Any, _answer: Any) -> NoReturn:
        raise error

    return measure


class MeasuresWithExclusions:
    """The measures of a run, without those of other processes that lost too much time."""

    def __init__(self, measures: Mapping[str, Measure[Any, Any]], registry: Registry) -> None:
        self._exclusions = Exclusions()
        self.measures: Mapping[str, Any] = {
            column: self._sparing(column, measure) if _is_apart(registry, column) else measure
            for column, measure in measures.items()
        }

    def begin(self, item: WorkItem) -> None:
        self._exclusions = Exclusions(item.excluded)

    def _sparing(self, column: str, measure: Measure[Any, Any]) -> Measure[Any, Any]:
        key = metric_key(column)

        def spared(state: Any, answer: Any) -> float | None:
            refusal = self._exclusions.refusal(key, key)
            if refusal is not None:
                raise refusal
            try:
                return measure(state, answer)
            except IsolationError as error:
                self._exclusions.note(key, error)
                raise

        return spared


def _is_apart(registry: Registry, column: str) -> bool:
    try:
        return is_apart(registry.metric(column).plugin)
    except PluginError:
        # One of the lab's own outside the registry, or one that this process lacks.
        return False
