"""Speculation on exclusion: guesses of the plugins to leave out of an item, before the run's exclusions are known.

The scorer of a heap knows the losses in items that the driver has seen, and in its own. If those do not decide about an
item, it guesses, and marks the item's rows. The driver accepts those rows only if the guess was right
(:mod:`assignor_lab.scoring.engine.reconciliation`). So a wrong guess costs time, and affects no result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.isolation.exclusion import family_key, metric_key

__all__ = ["LIMIT_POINTS", "LOSSES", "MARK", "MAX_POINTS", "PenaltyRules", "Speculation", "Speculator"]

#: Points of an item in which a plugin ran into a limit, or its process ended otherwise; and the limit of points.
LIMIT_POINTS = 8
LOSS_POINTS = 1
MAX_POINTS = 64

_LIMITS = ("DeadlineExceededError", "MemoryLimitError", "OutputLimitError", "ProcessLimitError")
#: Types of errors that are losses.
LOSSES = (*_LIMITS, "AnswerFormatError", "ProcessDiedError")


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

    def weights(self, rows: Iterable[Mapping[str, Any]]) -> dict[tuple[int, str], int]:
        """Item and name to penalty points; of several losses in one item only the worst counts."""
        names = frozenset(self.names)
        weights: dict[tuple[int, str], int] = {}
        for row in rows:
            for name, error_type in (*self._of_answer(row), *self._of_metrics(row)):
                if name in names:
                    weight = LIMIT_POINTS if error_type in _LIMITS else LOSS_POINTS
                    key = (row["item"], name)
                    weights[key] = max(weights.get(key, 0), weight)
        return weights

    def _of_answer(self, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        if row.get("error_type") not in LOSSES:
            return
        message = row.get("error_message") or ""
        families = (
            family_key(name) for name, start in self.families.items() if message.startswith((f"{start} ", f"{start}:"))
        )
        yield next(families, row["assignor"]), row["error_type"]

    def _of_metrics(self, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for text in row.get("metric_errors") or ():
            for column in self.metrics:
                error_type = text.removeprefix(f"{column}: ").partition(":")[0]
                if text.startswith(f"{column}: ") and error_type in LOSSES:
                    yield metric_key(column), error_type


#: Column beside the rows: plugins left out of the item, if they differ from the sent ones.
MARK = "left_out"
#: Extra weight of a heap's own losses over its share of all: a hanging plugin costs a deadline, repeating an
#: item costs milliseconds.
_CAUTION = 2


@attrs.frozen
class Speculation:
    """Basis of guesses for the scorer of a heap; serializable."""

    losses: PenaltyRules
    seen: int
    points: Mapping[str, int]
    heaps: int


class Speculator:
    """Guesses for the items of one heap, in ascending order of their numbers."""

    def __init__(self, speculation: Speculation) -> None:
        self._known = speculation
        self._own: dict[str, int] = {}

    def marked(self, item: WorkItem) -> WorkItem:
        """The item with its exclusions: as sent, if the driver knew enough; else a guess."""
        if item.settled_before <= self._known.seen:
            return item
        guessed = tuple(name for name in self._own if name not in item.excluded and self._is_likely_lost(name))
        if not guessed:
            return item
        names = {*item.excluded, *guessed}
        return attrs.evolve(item, excluded=tuple(name for name in self._known.losses.names if name in names))

    def note(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for (_, name), weight in self._known.losses.weights(rows).items():
            self._own[name] = self._own.get(name, 0) + weight

    def _is_likely_lost(self, name: str) -> bool:
        expected = self._known.points.get(name, 0) + self._own[name] * self._known.heaps * _CAUTION
        return expected >= MAX_POINTS
