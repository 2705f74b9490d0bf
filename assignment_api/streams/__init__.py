"""The Streams SPI of KIP-924."""

from typing import TYPE_CHECKING

from assignment_api.exports import exported

if TYPE_CHECKING:
    from assignment_api.streams.application import ApplicationMetadata, ApplicationState
    from assignment_api.streams.assignment import (
        AssignedTask,
        AssignedTaskType,
        AssignmentError,
        KafkaStreamsAssignment,
        StreamsClientAssignment,
        TaskAssignment,
    )
    from assignment_api.streams.assignor import (
        ConsumerAssignment,
        ConsumerAssignments,
        GroupSubscription,
        MemberSubscription,
        TaskAssignor,
        TopicPartition,
    )
    from assignment_api.streams.client_state import (
        LATEST_OFFSET,
        UNKNOWN_OFFSET_SUM,
        KafkaStreamsState,
        StreamsClientState,
    )
    from assignment_api.streams.configs import AssignmentConfigs
    from assignment_api.streams.ids import HostInfo, ProcessID, TaskId
    from assignment_api.streams.tasks import TaskInfo, TaskTopicPartition
    from assignment_api.streams.workload import TaskWorkload, Workload

    # Deprecated names of 1.0.
    GroupAssignment = ConsumerAssignments
    MemberAssignment = ConsumerAssignment

__all__ = [
    "LATEST_OFFSET",
    "UNKNOWN_OFFSET_SUM",
    "ApplicationMetadata",
    "ApplicationState",
    "AssignedTask",
    "AssignedTaskType",
    "AssignmentConfigs",
    "AssignmentError",
    "ConsumerAssignments",
    "GroupSubscription",
    "HostInfo",
    "KafkaStreamsAssignment",
    "KafkaStreamsState",
    "ConsumerAssignment",
    "MemberSubscription",
    "ProcessID",
    "StreamsClientAssignment",
    "StreamsClientState",
    "TaskAssignment",
    "TaskAssignor",
    "TaskId",
    "TaskInfo",
    "TaskTopicPartition",
    "TaskWorkload",
    "TopicPartition",
    "Workload",
]

if not TYPE_CHECKING:
    __getattr__ = exported(
        __name__,
        __all__,
        "ids configs workload tasks assignor application assignment client_state",
        has_old_names=True,
    )
