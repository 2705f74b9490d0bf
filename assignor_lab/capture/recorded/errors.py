"""Errors of recorded answers of brokers."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

from assignment_api.errors import AssignorLabError
from assignor_lab.documents.errors import DocumentFormatError, Place

__all__ = ["BrokerAnswerError", "garbled_at", "readable"]

#: What kafka-python raises for bytes that are no message.
_UNREADABLE = (
    AssertionError,
    AttributeError,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    MemoryError,
    struct.error,
)


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
def readable(what: str) -> Iterator[None]:
    """Reads ``what`` with kafka-python.

    Raises:
        BrokerAnswerError: for whatever kafka-python raises where bytes are no such message.
    """
    try:
        yield
    except _UNREADABLE as error:
        raise BrokerAnswerError(what, f"cannot be read ({type(error).__name__}: {error})") from error


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
