"""Typed errors of the SPI, each with Kafka's exception for the same fault."""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AssignorLabError",
    "ConfigError",
    "IllegalAssignmentArgumentError",
    "IllegalAssignmentStateError",
    "LagsNotComputedError",
    "NoCapacityError",
    "ProcessIdFormatError",
    "TaskAssignmentError",
    "TaskIdFormatError",
    "UnknownTaskError",
]


class AssignorLabError(Exception):
    """Base of this project's errors; the message has fault, place and remedy."""

    #: Simple name of Kafka's exception, or ``None``.
    java_type: ClassVar[str | None] = None


class TaskIdFormatError(AssignorLabError):
    """A text is not a task id. Kafka: ``TaskIdFormatException``."""

    java_type = "TaskIdFormatException"


class ProcessIdFormatError(AssignorLabError):
    """A text is no UUID in canonical form."""

    java_type = "IllegalArgumentException"


class ConfigError(AssignorLabError):
    """A configuration value is out of its range or of the wrong type. Kafka: ``ConfigException``."""

    java_type = "ConfigException"


class TaskAssignmentError(AssignorLabError):
    """Raised by an assignor to keep the old assignment and rebalance again.

    KIP-924's ``TaskAssignmentException``. An :class:`~assignment_api.streams.AssignmentError` instead fails the
    rebalance.
    """

    java_type = "TaskAssignmentException"


class LagsNotComputedError(AssignorLabError):
    """A lag was read before ``compute_task_lags()`` returned true.

    Kafka: ``UnsupportedOperationException`` of ``KafkaStreamsState``.
    """

    java_type = "UnsupportedOperationException"


class IllegalAssignmentStateError(AssignorLabError):
    """The state does not allow the step. Kafka: ``IllegalStateException``."""

    java_type = "IllegalStateException"


class UnknownTaskError(IllegalAssignmentStateError):
    """The task has no lag entry at this client. Kafka: ``IllegalStateException``."""


class IllegalAssignmentArgumentError(AssignorLabError):
    """An argument contradicts the assignment. Kafka: ``IllegalArgumentException``."""

    java_type = "IllegalArgumentException"


class NoCapacityError(AssignorLabError):
    """No client has a thread. Kafka's public sticky assignor: ``ArithmeticException``."""

    java_type = "ArithmeticException"
