"""Errors of isolated plugins. Every message names the plugin, the limit and a remedy."""

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

    The message does not contain the position of its code, so that equal faults give equal rows.

    Args:
        stopped_at: Position of its code, a line for each frame from its first one on; empty if unknown.
    """

    def __init__(self, message: str, stopped_at: str = "") -> None:
        super().__init__(message)
        self.stopped_at = stopped_at


class MemoryLimitError(IsolationError):
    """A plugin exceeded its memory limit; its process was ended."""


class OutputLimitError(IsolationError):
    """A plugin exceeded the output limit of a call; its process was ended."""


class ProcessLimitError(IsolationError):
    """A plugin exceeded its number of processes; they were ended."""


class ProcessDiedError(IsolationError):
    """A plugin's process ended, or closed its connection, before its answer."""


class AnswerFormatError(IsolationError):
    """The answer of a plugin's process is malformed; the process was ended."""


class ProcessStartError(IsolationError):
    """No process could be started for a plugin."""


class ExcludedError(IsolationError):
    """A plugin was not called, because it had failed too often in the same way."""
