"""The contract between task assignors and their callers: re-exports the Streams SPI of KIP-924."""

from typing import TYPE_CHECKING

from assignment_api.exports import exported

if TYPE_CHECKING:
    from assignment_api.errors import (
        AssignorLabError,
        ConfigError,
        IllegalAssignmentArgumentError,
        IllegalAssignmentStateError,
        LagsNotComputedError,
        NoCapacityError,
        ProcessIdFormatError,
        TaskAssignmentError,
        TaskIdFormatError,
        UnknownTaskError,
    )
    from assignment_api.streams import (
        LATEST_OFFSET,
        UNKNOWN_OFFSET_SUM,
        ApplicationMetadata,
        ApplicationState,
        AssignedTask,
        AssignedTaskType,
        AssignmentConfigs,
        AssignmentError,
        ConsumerAssignment,
        ConsumerAssignments,
        GroupSubscription,
        HostInfo,
        KafkaStreamsAssignment,
        KafkaStreamsState,
        MemberSubscription,
        ProcessID,
        StreamsClientAssignment,
        StreamsClientState,
        TaskAssignment,
        TaskAssignor,
        TaskId,
        TaskInfo,
        TaskTopicPartition,
        TaskWorkload,
        TopicPartition,
        Workload,
    )
    from assignment_api.tracing import RuleStep, Traced
    from assignment_api.utils import TaskAssignmentUtils
    from assignment_api.version import SPI_VERSION

    # Deprecated names of 1.0.
    GroupAssignment = ConsumerAssignments
    MemberAssignment = ConsumerAssignment

__all__ = [
    "LATEST_OFFSET",
    "SPI_VERSION",
    "UNKNOWN_OFFSET_SUM",
    "ApplicationMetadata",
    "ApplicationState",
    "AssignedTask",
    "AssignedTaskType",
    "AssignmentConfigs",
    "AssignmentError",
    "AssignorLabError",
    "ConfigError",
    "ConsumerAssignments",
    "GroupSubscription",
    "HostInfo",
    "IllegalAssignmentArgumentError",
    "IllegalAssignmentStateError",
    "KafkaStreamsAssignment",
    "KafkaStreamsState",
    "LagsNotComputedError",
    "ConsumerAssignment",
    "MemberSubscription",
    "NoCapacityError",
    "ProcessID",
    "ProcessIdFormatError",
    "RuleStep",
    "StreamsClientAssignment",
    "StreamsClientState",
    "TaskAssignment",
    "TaskAssignmentError",
    "TaskAssignmentUtils",
    "TaskAssignor",
    "TaskId",
    "TaskIdFormatError",
    "TaskInfo",
    "TaskTopicPartition",
    "TaskWorkload",
    "TopicPartition",
    "Traced",
    "UnknownTaskError",
    "Workload",
]

if not TYPE_CHECKING:
    __getattr__ = exported(__name__, __all__, "errors version tracing streams utils", has_old_names=True)
