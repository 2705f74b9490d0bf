"""The contract between task assignors and their callers: re-exports the Streams SPI of KIP-924."""

from typing import TYPE_CHECKING

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
from assignment_api.renamed import renamed
from assignment_api.streams import (
    LATEST_OFFSET,
    UNKNOWN_OFFSET_SUM,
    ApplicationMetadata,
    AssignedTask,
    AssignedTaskType,
    AssignmentConfigs,
    AssignmentError,
    ConsumerAssignment,
    ConsumerAssignments,
    GroupSubscription,
    HostInfo,
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

__all__ = [
    "LATEST_OFFSET",
    "SPI_VERSION",
    "UNKNOWN_OFFSET_SUM",
    "ApplicationMetadata",
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

if TYPE_CHECKING:
    # Deprecated names of 1.0.
    GroupAssignment = ConsumerAssignments
    MemberAssignment = ConsumerAssignment
else:
    __getattr__ = renamed(__name__, globals())
