"""Typed errors of the SPI. Each names Kafka's exception for the same fault, so that answers can be compared."""

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

    The message names the fault, its place (file, line, key, plugin or task) and, if there is one, the remedy.
    """

    #: Simple name of Kafka's exception for the same fault; ``None`` if Kafka has none.
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
    """Raised by an assignor to keep the old assignment and rebalance again.

    First of the two failure promises of KIP-924 (``TaskAssignmentException``). The other one is an
    :class:`~assignment_api.streams.AssignmentError` other than ``NONE``, which fails the rebalance.
    """

    java_type = "TaskAssignmentException"


class LagsNotComputedError(AssignorLabError):
    """A lag was read before ``compute_task_lags()`` had returned true.

    Kafka: ``UnsupportedOperationException`` of ``KafkaStreamsState``.
    """

    java_type = "UnsupportedOperationException"


class IllegalAssignmentStateError(AssignorLabError):
    """The state does not allow the step. Kafka: ``IllegalStateException``."""

    java_type = "IllegalStateException"


class UnknownTaskError(IllegalAssignmentStateError):
    """A lag was read for a task without a lag entry at this client. Kafka: ``IllegalStateException``."""


class IllegalAssignmentArgumentError(AssignorLabError):
    """An argument contradicts the assignment. Kafka: ``IllegalArgumentException``."""

    java_type = "IllegalArgumentException"


class NoCapacityError(AssignorLabError):
    """The clients have no processing thread. Kafka's public sticky assignor: ``ArithmeticException``."""

    java_type = "ArithmeticException"
