"""Errors of recorded answers of brokers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from assignment_api.errors import AssignorLabError
from assignor_lab.documents.errors import DocumentFormatError, Place

__all__ = ["BrokerAnswerError", "garbled_at"]


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


@contextmanager
def garbled_at(place: Place) -> Iterator[None]:
    """Says of a garbled answer in which line of a recording it stands.

    Raises:
        DocumentFormatError: for a ``BrokerAnswerError``.
    """
    try:
        yield
    except BrokerAnswerError as error:
        reason = f"{error}: record it again, or take the line out"
        raise DocumentFormatError(place.file, place.line, "", reason) from error
