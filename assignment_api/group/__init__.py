"""The SPI of broker-side assignors for Streams groups: KIP-1071, in the public shape of KIP-1357.

Import the module: names such as ``TaskId`` differ from those of ``assignment_api``.
"""

from typing import TYPE_CHECKING

from assignment_api.exports import exported

if TYPE_CHECKING:
    from assignment_api.group.assignment import GroupAssignment, MemberAssignment
    from assignment_api.group.assignor import TaskAssignor
    from assignment_api.group.errors import (
        GroupAssignorError,
        GroupConfigError,
        InvalidGroupError,
        UnknownSubtopologyError,
    )
    from assignment_api.group.members import GroupMember, MemberAssignmentState, MemberMetadata
    from assignment_api.group.spec import AssignmentConfigs, GroupSpec
    from assignment_api.group.tasks import NO_TASKS, TaskId, TasksBySubtopology, tasks_by_subtopology
    from assignment_api.group.topology import Subtopology, TopologyDescriber

__all__ = [
    "NO_TASKS",
    "AssignmentConfigs",
    "GroupAssignment",
    "GroupAssignorError",
    "GroupConfigError",
    "GroupMember",
    "GroupSpec",
    "InvalidGroupError",
    "MemberAssignment",
    "MemberAssignmentState",
    "MemberMetadata",
    "Subtopology",
    "TaskAssignor",
    "TaskId",
    "TasksBySubtopology",
    "TopologyDescriber",
    "UnknownSubtopologyError",
    "tasks_by_subtopology",
]

if not TYPE_CHECKING:
    __getattr__ = exported(__name__, __all__, "errors assignor tasks assignment members spec topology")
