"""Exclusion from the rest of a run, so that a plugin that hangs at every call does not delay it without bound.

A plugin is excluded after too many penalty points: those of the parts of the run before, and within a block those of
the items before. Blocks and parts depend on the plan alone, so the rule does not depend on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.isolation.exclusion import family_key, metric_key

__all__ = [
    "LIMIT_POINTS",
    "LOSSY_COLUMNS",
    "LOSSY_SQL",
    "MAX_POINTS",
    "PenaltyRules",
    "RunExclusions",
    "ScoredRow",
    "lossy",
]

#: Points of an item in which a plugin ran into a limit, or its process ended otherwise; and the limit of points.
LIMIT_POINTS = 8
LOSS_POINTS = 1
MAX_POINTS = 64

_LIMITS = ("DeadlineExceededError", "MemoryLimitError", "OutputLimitError", "ProcessLimitError")
#: Types of errors that are losses.
_LOSSES = (*_LIMITS, "AnswerFormatError", "ProcessDiedError")
_EXCLUDED = "ExcludedError"
#: Columns that show a loss, and the condition of Spark on rows that may have one.
LOSSY_COLUMNS = ("item", "assignor", "error_type", "error_message", "metric_errors")
LOSSY_SQL = f"error_type IN ({', '.join(map(repr, (*_LOSSES, _EXCLUDED)))}) OR metric_errors IS NOT NULL"

#: A row of the tables, by the names of its columns.
ScoredRow = Mapping[str, Any]


@attrs.frozen
class PenaltyRules:
    """Plugins that run in their own processes, and the signs of a loss in a row.

    Args:
        assignors: Names of assignors.
        metrics: Columns of metrics.
    """

    assignors: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    families: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.assignors, *map(metric_key, self.metrics), *map(family_key, self.families))

    def weights(self, rows: Iterable[ScoredRow]) -> dict[tuple[int, str], int]:
        """Item and name to penalty points; of several losses in one item only the worst counts."""
        weights: dict[tuple[int, str], int] = {}
        for item, name, error_type in self._found(rows):
            if error_type in _LOSSES:
                weight = LIMIT_POINTS if error_type in _LIMITS else LOSS_POINTS
                weights[item, name] = max(weights.get((item, name), 0), weight)
        return weights

    def spared(self, item: WorkItem, rows: Iterable[ScoredRow]) -> WorkItem:
        """The item for a picture's repetition: without plugins that had a loss in its rows, or were excluded."""
        lost = {name for number, name, _ in self._found(rows) if number == item.number}
        return attrs.evolve(item, excluded=tuple(name for name in self.names if name in lost)) if lost else item

    def _found(self, rows: Iterable[ScoredRow]) -> Iterator[tuple[int, str, str]]:
        names = frozenset(self.names)
        for row in rows:
            for name, error_type in (*self._of_answer(row), *self._of_metrics(row)):
                if name in names:
                    yield row["item"], name, error_type

    def _of_answer(self, row: ScoredRow) -> Iterator[tuple[str, str]]:
        error_type = row.get("error_type")
        if error_type is None or error_type not in (*_LOSSES, _EXCLUDED):
            return
        message = row.get("error_message") or ""
        families = (
            family_key(name) for name, start in self.families.items() if message.startswith((f"{start} ", f"{start}:"))
        )
        yield next(families, row["assignor"]), error_type

    def _of_metrics(self, row: ScoredRow) -> Iterator[tuple[str, str]]:
        for text in row.get("metric_errors") or ():
            for column in self.metrics:
                error_type = text.removeprefix(f"{column}: ").partition(":")[0]
                if text.startswith(f"{column}: ") and error_type in (*_LOSSES, _EXCLUDED):
                    yield metric_key(column), error_type


class RunExclusions:
    """Excluded plugins of a block, or of a run.

    Args:
        points: Name to penalty points so far.
    """

    def __init__(self, rules: PenaltyRules, points: Mapping[str, int] | None = None) -> None:
        self.rules = rules
        self._points = dict(points or {})
        self._excluded = {name for name, points_of in self._points.items() if points_of >= MAX_POINTS}

    @property
    def can_exclude(self) -> bool:
        return bool(self.rules.names)

    @property
    def points(self) -> Mapping[str, int]:
        """Name to penalty points so far."""
        return dict(self._points)

    @property
    def excluded(self) -> tuple[str, ...]:
        if not self._excluded:
            return ()
        return tuple(name for name in self.rules.names if name in self._excluded)

    def marked(self, item: WorkItem) -> WorkItem:
        """The item with the present exclusions."""
        return attrs.evolve(item, excluded=self.excluded) if self._excluded else item

    def see(self, rows: Iterable[ScoredRow]) -> None:
        """Counts the losses in all rows of some items."""
        if not self.can_exclude:
            return
        for (_, name), weight in self.rules.weights(rows).items():
            self._points[name] = self._points.get(name, 0) + weight
            if self._points[name] >= MAX_POINTS:
                self._excluded.add(name)


def lossy(rows: pa.Table) -> list[ScoredRow]:
    """The rows that may have a loss, with the columns that show it."""
    may_be = pc.is_in(rows["error_type"], pa.array((*_LOSSES, _EXCLUDED)))
    may_be = pc.or_(may_be, pc.is_valid(rows["metric_errors"]))
    found: list[ScoredRow] = rows.filter(may_be).select(list(LOSSY_COLUMNS)).to_pylist()
    return found
