"""Metrics and families that hang or die again and again are not asked for ever, by the rules for assignors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.plugins import PluginError, Registry
from assignor_lab.groups.kind import Measure
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.discovery.entries import is_apart
from assignor_lab.runtime.isolation.errors import IsolationError
from assignor_lab.runtime.isolation.exclusion import Exclusions, metric_key

__all__ = ["SparingMeasures"]


class SparingMeasures:
    """The measures of a run, of which those of other processes are left out once they have lost too much.

    Args:
        measures: Column to what computes it.
        registry: Where metrics of plugins are found.
    """

    def __init__(self, measures: Mapping[str, Measure[Any, Any]], registry: Registry) -> None:
        self._exclusions = Exclusions()
        #: Column to what computes it, or says why it is not asked.
        self.measures: Mapping[str, Any] = {
            column: self._sparing(column, measure) if _is_apart(registry, column) else measure
            for column, measure in measures.items()
        }

    def begin(self, item: WorkItem) -> None:
        """Goes on with another item."""
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
        # One of the lab's own that does not come by the registry, or one that this process has not.
        return False
