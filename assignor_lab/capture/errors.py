"""Errors of logs, each with its place and what to do."""

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
    """A log cannot be imported.

    Args:
        file: The file's name as it was given.
        line: Line number from 1, or ``None`` where the fault has none.
        reason: What is wrong.
        remedy: What the user can do.
    """

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
    """A file is missing, is no file, or its gzip data are damaged or cut off."""


class LogLineTooLongError(LogImportError):
    """A line is longer than the reader takes into memory."""


class NoDecisionError(LogImportError):
    """Nothing in the given logs is an assignment decision."""


class NothingTimedError(LogImportError):
    """Nothing in the given logs tells how long anything took."""


class HistoryError(AssignorLabError):
    """Recorded decisions do not make up a history, or one that lacks what is asked for; it says what would have it."""


class OneDecisionError(HistoryError):
    """A group has one recorded decision alone: it is a state and no history."""


class StateUnknownError(AssignorLabError):
    """Neither members nor topics of a group show which of its tasks have state."""


class ClientStateTextError(AssignorLabError):
    """A text is not what Kafka prints for client states, or only a part of it.

    Args:
        position: Index of the first character that does not fit, from 0.
        reason: What was expected there.
    """

    def __init__(self, position: int, reason: str) -> None:
        self.position = position
        self.reason = reason
        super().__init__(f"character {position + 1}: {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.position, self.reason))


class TopologyTextError(AssignorLabError):
    """A text is not a description that Java's ``Topology#describe`` prints, or does not fit the log.

    Args:
        file: The file's name as it was given.
        line: Line number from 1, or ``None`` where the whole file is meant.
        reason: What is wrong and what to do.
    """

    def __init__(self, file: str, line: int | None, reason: str) -> None:
        self.file = file
        self.line = line
        self.reason = reason
        super().__init__(f"{file if line is None else f'{file}:{line}'}: {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.file, self.line, self.reason))
