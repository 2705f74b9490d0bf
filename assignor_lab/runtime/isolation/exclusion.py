"""Exclusion from a history: a plugin that hangs at every call must not make a run last for ever.

Whether a plugin is asked must not depend on which executor saw what, or results would depend on how the work was cut.
So this is settled for each work item by itself, and for the run by the numbers of the items
(:mod:`assignor_lab.scoring.exclusion`).
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

#: Calls of one work item that may end with the plugin's process; one that ran into a limit weighs as much as all.
MAX_LOSSES = 3
_LIMITS = (DeadlineExceededError, MemoryLimitError, OutputLimitError, ProcessLimitError)


def metric_key(column: str) -> str:
    """What stands for a metric among those who are excluded; no assignor is called so."""
    return f"metric {column}"


def family_key(name: str) -> str:
    """What stands for a scenario family among those who are excluded."""
    return f"scenario family {name}"


class Exclusions:
    """Who is not asked again in one work item.

    Args:
        excluded: Who is not asked at all.
    """

    __slots__ = ("_excluded", "_losses")

    def __init__(self, excluded: Iterable[str] = ()) -> None:
        self._losses: dict[str, int] = {}
        self._excluded = dict.fromkeys(excluded, "in this run")

    def refusal(self, assignor: str, subject: str | None = None) -> ExcludedError | None:
        """Why ``assignor`` is not asked; ``None``: ask.

        Args:
            assignor: Its name, or what stands for something else that is asked.
            subject: What it is called in the error, if it is no assignor.
        """
        where = self._excluded.get(assignor)
        if where is None:
            return None
        asked = subject or f"assignor {assignor}"
        return ExcludedError(
            f"{asked} was not asked: its process had to be ended too often {where}; the rows before say why"
        )

    def note(self, assignor: str, loss: AssignorLabError | None) -> None:
        """Takes notice of a call, and of why the assignor's process was ended, if it was."""
        if loss is None or assignor in self._excluded:
            return
        weight = MAX_LOSSES if isinstance(loss, _LIMITS) else 1
        self._losses[assignor] = self._losses.get(assignor, 0) + weight
        if self._losses[assignor] >= MAX_LOSSES:
            self._excluded[assignor] = "in this history"
