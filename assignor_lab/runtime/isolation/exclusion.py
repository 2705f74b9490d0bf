"""Exclusion of plugins from a history, so that a plugin that hangs at every call cannot block a run.

Exclusion must not depend on the distribution of work over executors, or results would depend on it. So each work item
decides for itself, and the run decides by the numbers of the items (:mod:`assignor_lab.scoring.engine.exclusion`).
"""

from __future__ import annotations

from collections.abc import Iterable

from assignment_api import AssignorLabError
from assignor_lab.runtime.isolation.errors import (
    DeadlineExceededError,
    ExcludedError,
    MemoryLimitError,
    OutputLimitError,
    ProcessLimitError,
)

__all__ = ["Exclusions", "family_key", "metric_key"]

#: Calls of one work item that may end with the plugin's process; an exceeded limit counts as all of them.
MAX_LOSSES = 3
_LIMITS = (DeadlineExceededError, MemoryLimitError, OutputLimitError, ProcessLimitError)


def metric_key(column: str) -> str:
    """The key of a metric among the excluded; no assignor has such a name."""
    return f"metric {column}"


def family_key(name: str) -> str:
    return f"scenario family {name}"


class Exclusions:
    """Excluded plugins of one work item."""

    __slots__ = ("_excluded", "_losses")

    def __init__(self, excluded: Iterable[str] = ()) -> None:
        self._losses: dict[str, int] = {}
        self._excluded = dict.fromkeys(excluded, "in this run")

    def refusal(self, assignor: str, subject: str | None = None) -> ExcludedError | None:
        """The reason why ``assignor`` is excluded; ``None`` if it is not."""
        where = self._excluded.get(assignor)
        if where is None:
            return None
        named = subject or f"assignor {assignor}"
        return ExcludedError(
            f"{named} was not called: its process had to be ended too often {where}; the rows before have the reasons"
        )

    def note(self, assignor: str, loss: AssignorLabError | None) -> None:
        """Counts a call, with the reason if the process was ended."""
        if loss is None or assignor in self._excluded:
            return
        weight = MAX_LOSSES if isinstance(loss, _LIMITS) else 1
        self._losses[assignor] = self._losses.get(assignor, 0) + weight
        if self._losses[assignor] >= MAX_LOSSES:
            self._excluded[assignor] = "in this history"
