"""The typed errors of the SPI. Each names Kafka's exception for the same fault, so that answers can be compared."""

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
    """Base of every error that this project raises on purpose.

    The message says what was wrong, where (file, line, key, plugin or task) and, where the user can do
    something about it, what.
    """

    #: Simple name of the exception that Kafka raises for the same fault; ``None`` where Kafka has none.
    java_type: ClassVar[str | None] = None


class TaskIdFormatError(AssignorLabError):
    """A text is not a task id. Kafka: ``TaskIdFormatException``."""

    java_type = "TaskIdFormatException"


class ProcessIdFormatError(AssignorLabError):
    """A text is not a process id, which is a UUID in its canonical form."""

    java_type = "IllegalArgumentException"


class ConfigError(AssignorLabError):
    """A configuration value is out of its range or of the wrong type. Kafka: ``ConfigException``."""

    java_type = "ConfigException"


class TaskAssignmentError(AssignorLabError):
    """What an assignor raises to say: keep the old assignment and rebalance again.

    First of the two failure promises of KIP-924 (``TaskAssignmentException``); the other is an
    :class:`~assignment_api.streams.AssignmentError` that is not ``NONE``, which fails the rebalance.
    """

    java_type = "TaskAssignmentException"


class LagsNotComputedError(AssignorLabError):
    """A lag was asked for before ``compute_task_lags()`` had answered true.

    Kafka: ``UnsupportedOperationException`` of ``KafkaStreamsState``.
    """

    java_type = "UnsupportedOperationException"


class IllegalAssignmentStateError(AssignorLabError):
    """The state does not allow the step. Kafka: ``IllegalStateException``."""

    java_type = "IllegalStateException"


class UnknownTaskError(IllegalAssignmentStateError):
    """A lag was looked up for a task that has no lag entry at this client. Kafka: ``IllegalStateException``."""


class IllegalAssignmentArgumentError(AssignorLabError):
    """An argument contradicts the assignment. Kafka: ``IllegalArgumentException``."""

    java_type = "IllegalArgumentException"


class NoCapacityError(AssignorLabError):
    """The clients have no processing thread at all. Kafka's public sticky assignor: ``ArithmeticException``."""

    java_type = "ArithmeticException"
