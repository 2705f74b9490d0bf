"""What can be wrong with recorded answers of brokers."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = ["BrokerAnswerError", "RecordingError"]


class BrokerAnswerError(AssignorLabError):
    """Bytes are not the answer of a broker that they are taken for, or a member's part of it is garbled.

    Args:
        what: Which answer, or which part of it.
        reason: What is wrong.
    """

    def __init__(self, what: str, reason: str) -> None:
        self.what = what
        self.reason = reason
        super().__init__(f"{what}: {reason}")


class RecordingError(AssignorLabError):
    """A file of recorded exchanges cannot be used.

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
