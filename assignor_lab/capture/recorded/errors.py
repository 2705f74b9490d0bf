"""Errors of recorded responses of brokers."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

from assignment_api.errors import AssignorLabError
from assignor_lab.documents.errors import DocumentFormatError, Place

__all__ = ["BrokerAnswerError", "garbled_at", "readable"]

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
    """Bytes are not the expected response of a broker, or a member's part is garbled."""

    def __init__(self, subject: str, reason: str) -> None:
        self.what = subject
        self.reason = reason
        super().__init__(f"{subject}: {reason}")


@contextmanager
def readable(subject: str) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise BrokerAnswerError(subject, f"cannot be read ({type(error).__name__}: {error})") from error


@contextmanager
def garbled_at(place: Place) -> Iterator[None]:
    try:
        yield
    except BrokerAnswerError as error:
        reason = f"{error}: record it again, or take the line out"
        raise DocumentFormatError(place.file, place.line, "", reason) from error
