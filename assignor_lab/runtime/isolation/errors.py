"""Errors of a plugin's own process. Every message names the plugin, the limit and what to do."""

from __future__ import annotations

from assignment_api import AssignorLabError

__all__ = [
    "AnswerFormatError",
    "ExcludedError",
    "DeadlineExceededError",
    "IsolationError",
    "MemoryLimitError",
    "OutputLimitError",
    "ProcessDiedError",
    "ProcessLimitError",
    "ProcessStartError",
]


class IsolationError(AssignorLabError):
    """A plugin gave no answer from its own process."""


class DeadlineExceededError(IsolationError):
    """A plugin did not answer in time; its process was ended.

    Where it was is no part of the message: equal faults give equal rows.

    Args:
        message: What it did not do.
        stopped_at: Where its code was then, a line for each frame from its first one on; empty where that is not known.
    """

    def __init__(self, message: str, stopped_at: str = "") -> None:
        super().__init__(message)
        self.stopped_at = stopped_at


class MemoryLimitError(IsolationError):
    """A plugin needed more memory than it may have; its process was ended."""


class OutputLimitError(IsolationError):
    """A plugin printed more than it may in one call; its process was ended."""


class ProcessLimitError(IsolationError):
    """A plugin started more processes than it may; they were ended."""


class ProcessDiedError(IsolationError):
    """A plugin's process ended, or closed its connection, before it had answered."""


class AnswerFormatError(IsolationError):
    """What came from a plugin's process is no answer; the process was ended."""


class ProcessStartError(IsolationError):
    """No process could be started for a plugin."""


class ExcludedError(IsolationError):
    """A plugin was not asked, because it had failed in the same way too often before."""
