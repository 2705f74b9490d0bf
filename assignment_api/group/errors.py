"""Errors of a Streams group and its assignment."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = ["GroupAssignorError", "GroupConfigError", "InvalidGroupError", "UnknownSubtopologyError"]


class GroupAssignorError(AssignorLabError):
    """An assignor cannot place the tasks; the group keeps its old target.

    Kafka: ``TaskAssignorException`` (KIP-1357, since 4.4); the heartbeat response has ``UNKNOWN_SERVER_ERROR``.
    """

    # Full: Streams has a TaskAssignmentException.
    java_type = "org.apache.kafka.coordinator.group.api.streams.assignor.TaskAssignorException"


class GroupConfigError(AssignorLabError):
    """A number of the group's configuration is missing or invalid. Kafka: ``NumberFormatException``."""

    java_type = "java.lang.NumberFormatException"


class UnknownSubtopologyError(AssignorLabError):
    """The topology has no such sub-topology. Kafka: ``NoSuchElementException`` of ``TopologyMetadata``."""

    java_type = "java.util.NoSuchElementException"


class InvalidGroupError(AssignorLabError):
    """An impossible group or topology: a negative number of tasks, or of standbys where that is a fault."""

    java_type = "java.lang.IllegalArgumentException"
