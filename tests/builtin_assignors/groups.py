"""Random Streams groups for property tests, and what every answer to one has to keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import strategies as st

from assignment_api.group import (
    AssignmentConfigs,
    GroupAssignment,
    GroupMember,
    GroupSpec,
    MemberAssignmentState,
    MemberMetadata,
    Subtopology,
    TaskId,
    TasksBySubtopology,
    TopologyDescriber,
)

Group = tuple[GroupSpec, TopologyDescriber]

_NAMES = st.sampled_from(["m1", "m2", "Aa", "BB", "m-10", "m-9", "élan", "\uff5e", "\U0001f600", "AaAa", "BBBB", "x"])


@st.composite
def groups(draw: st.DrawFn, min_members: int = 1) -> Group:
    """Groups with previous tasks of any kind: claimed twice, gone from the topology, in several roles."""
    sizes = draw(st.dictionaries(st.sampled_from(["0", "1", "2", "10", "a"]), st.integers(1, 7), max_size=4))
    topology = TopologyDescriber([Subtopology(key, size, draw(st.booleans())) for key, size in sizes.items()])
    processes = draw(st.lists(_NAMES, min_size=1, max_size=5, unique=True))
    tasks = st.dictionaries(
        st.sampled_from([*sizes, "gone"]), st.sets(st.integers(0, 8), max_size=4).map(sorted), max_size=3
    )
    members = {
        name: GroupMember(
            MemberMetadata(draw(st.sampled_from(processes))), MemberAssignmentState(draw(tasks), draw(tasks))
        )
        for name in draw(st.lists(_NAMES, min_size=min_members, max_size=9, unique=True))
    }
    return GroupSpec(members, AssignmentConfigs(draw(st.integers(0, 3)))), topology


def all_tasks(topology: TopologyDescriber) -> list[TaskId]:
    return [
        TaskId(key, partition)
        for key in topology.subtopologies()
        for partition in range(topology.max_num_input_partitions(key))
    ]


def flat(tasks: TasksBySubtopology) -> list[TaskId]:
    return [TaskId(key, partition) for key, partitions in tasks.items() for partition in partitions]


def after(group: GroupSpec, assignment: GroupAssignment, standbys: int | None = None) -> GroupSpec:
    """The same group once everybody runs what ``assignment`` says."""
    configs = group.configs if standbys is None else AssignmentConfigs(standbys)
    return GroupSpec(
        {
            name: GroupMember(
                member.metadata,
                MemberAssignmentState(assignment.members[name].active_tasks, assignment.members[name].standby_tasks),
            )
            for name, member in group.members.items()
        },
        configs,
    )


def holders(group: GroupSpec, assignment: GroupAssignment) -> tuple[Counter[TaskId], Counter[TaskId]]:
    """How often each task is active, and how often standby."""
    active = Counter(task for target in assignment.members.values() for task in flat(target.active_tasks))
    standby = Counter(task for target in assignment.members.values() for task in flat(target.standby_tasks))
    return active, standby


def held_by_process(group: GroupSpec, assignment: GroupAssignment) -> Mapping[str, Counter[TaskId]]:
    """How often each process holds each task, in whatever role."""
    held: dict[str, Counter[TaskId]] = {}
    for name, target in assignment.members.items():
        process = group.members[name].metadata.process_id
        held.setdefault(process, Counter()).update(flat(target.active_tasks) + flat(target.standby_tasks))
    return held
