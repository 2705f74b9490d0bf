"""Errors of a message on the wire, each with the faulty byte and Kafka's exception for it."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = [
    "CorruptMessageError",
    "DuplicateTagError",
    "InvalidFieldError",
    "InvalidVersionError",
    "MessageTooShortError",
    "RefusedAssignmentError",
    "UnencodableVersionError",
    "WireError",
]


class WireError(AssignorLabError):
    """Bytes are not the expected message, or a value has no bytes."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        self.reason = reason
        self.position = position
        super().__init__(reason if position is None else f"byte {position}: {reason}")


class MessageTooShortError(WireError):
    """A number is beyond the end of a subscription. Kafka: ``BufferUnderflowException``."""

    java_type = "BufferUnderflowException"


class InvalidFieldError(WireError):
    """A field's length contradicts the message. Kafka's generated readers: a plain ``RuntimeException``."""

    java_type = "RuntimeException"


class InvalidVersionError(WireError):
    """The version numbers of a message contradict each other. Kafka: ``IllegalArgumentException``."""

    java_type = "IllegalArgumentException"


class UnencodableVersionError(WireError):
    """A version newer than the newest one of Kafka 4.3.1. Kafka: ``IllegalStateException``."""

    java_type = "IllegalStateException"


class DuplicateTagError(WireError):
    """A subscription names a client tag twice. Kafka: ``IllegalStateException`` when it reads the tags."""

    java_type = "IllegalStateException"


class RefusedAssignmentError(WireError):
    """An assignment cannot be decoded or encoded, or names a topology too early. Kafka: ``TaskAssignmentException``."""

    java_type = "TaskAssignmentException"


class CorruptMessageError(RefusedAssignmentError):
    """A count is negative, or larger than the message could hold. Kafka: ``TaskAssignmentException``."""
