"""Errors of a Streams group and its assignment, each with Kafka's exception for the same fault."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = ["GroupAssignorError", "GroupConfigError", "InvalidGroupError", "UnknownSubtopologyError"]


class GroupAssignorError(AssignorLabError):
    """Raised by an assignor that cannot place the tasks of a group; the group keeps its old target.

    Kafka: ``TaskAssignorException`` of the public interface (KIP-1357, since 4.4); the heartbeat response then has
    ``UNKNOWN_SERVER_ERROR``.
    """

    # The full name: Streams has an exception of nearly the same simple name (TaskAssignmentException).
    java_type = "org.apache.kafka.coordinator.group.api.streams.assignor.TaskAssignorException"


class GroupConfigError(AssignorLabError):
    """A value of the group's assignment configuration is not a number, or a required one is missing.

    Kafka parses the texts of a map: ``NumberFormatException``.
    """

    java_type = "java.lang.NumberFormatException"


class UnknownSubtopologyError(AssignorLabError):
    """The topology has no such sub-topology. Kafka: ``NoSuchElementException`` of ``TopologyMetadata``."""

    java_type = "java.util.NoSuchElementException"


class InvalidGroupError(AssignorLabError):
    """An impossible group or topology: a negative number of tasks, or of standbys where that is a fault."""

    java_type = "java.lang.IllegalArgumentException"
