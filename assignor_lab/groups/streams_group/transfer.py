"""A Streams group as bytes for a plugin's process, and the returned answer.

The group is pickled plain data, apart from its topology, which seldom changes between the rounds of a history.
An answer is JSON, in which members and tasks are numbers; every one of them is checked.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.group import (
    AssignmentConfigs,
    GroupAssignment,
    GroupMember,
    GroupSpec,
    MemberAssignment,
    MemberAssignmentState,
    MemberMetadata,
    Subtopology,
    TaskId,
    TasksBySubtopology,
    TopologyDescriber,
)
from assignor_lab.runtime.isolation.errors import AnswerFormatError

__all__ = ["GroupReceiver", "group_answer_document", "group_answer_of", "packed_group"]


def packed_group(group: GroupSpec, topology: TopologyDescriber) -> tuple[bytes, bytes]:
    """The group and its topology, each as bytes, for :class:`GroupReceiver`."""
    members = [_member(member_id, member) for member_id, member in group.members.items()]
    subtopologies = [
        (key, topology.max_num_input_partitions(key), topology.is_stateful(key)) for key in topology.subtopologies()
    ]
    return (
        pickle.dumps((members, attrs.astuple(group.configs)), protocol=5),
        pickle.dumps(subtopologies, protocol=5),
    )


def _member(member_id: str, member: GroupMember) -> tuple[Any, ...]:
    metadata, state = member.metadata, member.state
    return (
        member_id,
        (metadata.process_id, metadata.instance_id, metadata.rack_id, dict(metadata.client_tags)),
        [dict(tasks) for tasks in (state.active_tasks, state.standby_tasks, state.warmup_tasks)],
        [
            [(task.subtopology_id, task.partition, offset) for task, offset in offsets.items()]
            for offsets in (state.task_offsets, state.task_end_offsets)
        ],
    )


class GroupReceiver:
    """Unpacks groups; the topology is kept from call to call."""

    def __init__(self) -> None:
        self._topology: tuple[bytes, TopologyDescriber] = (b"", TopologyDescriber(()))

    def __call__(self, group: bytes, topology: bytes) -> tuple[GroupSpec, TopologyDescriber]:
        members, configs = pickle.loads(group)  # noqa: S301 - made by the lab
        if self._topology[0] != topology:
            subtopologies = pickle.loads(topology)  # noqa: S301 - made by the lab
            self._topology = (topology, TopologyDescriber([Subtopology(*each) for each in subtopologies]))
        spec = GroupSpec(
            {
                member_id: GroupMember(
                    MemberMetadata(*metadata), MemberAssignmentState(*tasks, *map(_offsets, reports))
                )
                for member_id, metadata, tasks, reports in members
            },
            AssignmentConfigs(*configs),
        )
        return spec, self._topology[1]


def _offsets(entries: Iterable[tuple[str, int, int]]) -> dict[TaskId, int]:
    return {TaskId(subtopology, partition): offset for subtopology, partition, offset in entries}


# --- answers --------------------------------------------------------------------------------------


def group_answer_document(group: GroupSpec, topology: TopologyDescriber, assignment: GroupAssignment) -> dict[str, Any]:
    """A checked answer as JSON: for each member its position in the group, and its tasks of each role as numbers.

    Tasks are numbered by sub-topology in the topology's order, then partition.
    """
    positions = {member_id: number for number, member_id in enumerate(group.members)}
    first, number = {}, 0
    for key in topology.subtopologies():
        first[key] = number
        number += topology.max_num_input_partitions(key)

    def numbers(tasks: TasksBySubtopology) -> list[int]:
        return [first[key] + partition for key, partitions in tasks.items() for partition in partitions]

    return {
        "members": [
            [
                positions[member_id],
                numbers(target.active_tasks),
                numbers(target.standby_tasks),
                numbers(target.warmup_tasks),
            ]
            for member_id, target in assignment.members.items()
        ]
    }


def group_answer_of(group: GroupSpec, topology: TopologyDescriber, document: object) -> GroupAssignment:
    """The answer in ``document``, which a plugin may have forged, so everything in it is checked.

    Raises:
        AnswerFormatError: if it is none.
    """
    if not isinstance(document, dict):
        raise _no_answer("no JSON object")
    ids = list(group.members)
    tasks = [
        (key, partition)
        for key in topology.subtopologies()
        for partition in range(topology.max_num_input_partitions(key))
    ]
    members: dict[str, MemberAssignment] = {}
    for entry in _listed(document.get("members")):
        position, *roles = _listed(entry) or [None]
        if type(position) is not int or not 0 <= position < len(ids) or len(roles) != 3:
            raise _no_answer("a member that is none")
        if ids[position] in members:
            raise _no_answer("a member twice")
        members[ids[position]] = MemberAssignment(*(_tasks(role, tasks) for role in roles))
    return GroupAssignment(members)


def _tasks(numbers: object, tasks: Sequence[tuple[str, int]]) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number in _listed(numbers):
        if type(number) is not int or not 0 <= number < len(tasks):
            raise _no_answer("a task that is none")
        key, partition = tasks[number]
        found.setdefault(key, []).append(partition)
    return found


def _listed(value: object) -> list[Any]:
    if type(value) is not list:
        raise _no_answer("something else than a list")
    return value


def _no_answer(fault: str) -> AnswerFormatError:
    return AnswerFormatError(f"its answer holds {fault}")
