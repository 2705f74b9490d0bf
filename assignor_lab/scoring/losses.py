"""Losses of an item: which plugins ran into a limit in it, or lost their process, and what that counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from assignor_lab.runtime.isolation.exclusion import family_key, metric_key

__all__ = ["LIMIT_POINTS", "LOSSES", "MAX_POINTS", "Losses"]

#: What an item counts in which a plugin ran into a limit, or its process ended otherwise; and what is too much.
LIMIT_POINTS = 8
LOSS_POINTS = 1
MAX_POINTS = 64

_LIMITS = ("DeadlineExceededError", "MemoryLimitError", "OutputLimitError", "ProcessLimitError")
#: Types of errors that are losses.
LOSSES = (*_LIMITS, "AnswerFormatError", "ProcessDiedError")


@attrs.frozen
class Losses:
    """Who runs in a process of its own, and how a loss of it shows in a row.

    Args:
        assignors: Names of assignors.
        metrics: Columns of metrics.
        families: Families: name to what an error of the family begins with.
    """

    assignors: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    families: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """What stands for each of them among those who are excluded."""
        return (*self.assignors, *map(metric_key, self.metrics), *map(family_key, self.families))

    def weights(self, rows: Iterable[Mapping[str, Any]]) -> dict[tuple[int, str], int]:
        """Item and name to what that counts; of several losses in one item the worst counts, once.

        Args:
            rows: Rows of answers, with the columns that tell of errors.
        """
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
        """Who lost its process, and how: the assignor, or the family that made no state for it."""
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
