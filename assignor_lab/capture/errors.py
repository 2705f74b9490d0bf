"""Errors of logs, with place and remedy."""

from __future__ import annotations

from typing import Any

from assignment_api.errors import AssignorLabError

__all__ = [
    "ClientStateTextError",
    "HistoryError",
    "LogImportError",
    "LogLineTooLongError",
    "NoDecisionError",
    "NothingTimedError",
    "OneDecisionError",
    "StateUnknownError",
    "TopologyTextError",
    "UnreadableLogError",
]


class LogImportError(AssignorLabError):
    """A log cannot be imported."""

    def __init__(self, file: str, line: int | None, reason: str, remedy: str) -> None:
        self.file = file
        self.line = line
        self.reason = reason
        self.remedy = remedy
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {reason}: {remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.file, self.line, self.reason, self.remedy))


class UnreadableLogError(LogImportError):
    """A file is missing, is no file, or has damaged or incomplete gzip data."""


class LogLineTooLongError(LogImportError):
    """A line is longer than the reader's limit."""


class NoDecisionError(LogImportError):
    """The given logs have no assignment decision."""


class NothingTimedError(LogImportError):
    """The given logs have no durations."""


class HistoryError(AssignorLabError):
    """Recorded decisions form no usable history, or lack a fact that the caller needs.

    The message names a source with it.
    """

    @classmethod
    def of_no_decision(cls, source: str) -> HistoryError:
        """A source without a recorded decision."""
        return cls(
            f"{source}: holds no recorded decision; use a file of assignor import or a folder of assignor record"
        )


class OneDecisionError(HistoryError):
    """A group has only one recorded decision: a state and no history."""


class StateUnknownError(AssignorLabError):
    """Neither members nor topics of a group show which of its tasks have state."""


class ClientStateTextError(AssignorLabError):
    """A text is not Kafka's form of client states, or only a part of it.

    Args:
        position: Index of the first wrong character, from 0.
    """

    def __init__(self, position: int, reason: str) -> None:
        self.position = position
        self.reason = reason
        super().__init__(f"character {position + 1}: {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.position, self.reason))


class TopologyTextError(AssignorLabError):
    """A text is no description from Java's ``Topology#describe``, or contradicts the log."""

    def __init__(self, file: str, line: int | None, reason: str) -> None:
        self.file = file
        self.line = line
        self.reason = reason
        super().__init__(f"{file if line is None else f'{file}:{line}'}: {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.file, self.line, self.reason))
