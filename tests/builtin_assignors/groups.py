"""Random Streams groups for property tests, and conditions for every answer to one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from random import Random

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
#: Names in one slot of a hash map, and numbered ones.
_CROWD = [f"{a}{b}{c}{d}" for a in ("Aa", "BB") for b in ("Aa", "BB") for c in ("Aa", "BB") for d in ("Aa", "BB")]
_MANY_NAMES = [*_CROWD, *(f"member{number}" for number in range(40))]
#: Few values, so that many are equal; some are negative or extreme.
_OFFSETS = st.sampled_from([0, 1, 5, 5, 100, -1, 2**63 - 1, -(2**63)])


@st.composite
def groups(draw: st.DrawFn, min_members: int = 1) -> Group:
    """Groups with any previous tasks and offsets: claimed twice, missing in the topology, in several roles."""
    sizes = draw(st.dictionaries(st.sampled_from(["0", "1", "2", "10", "a"]), st.integers(1, 7), max_size=4))
    topology = TopologyDescriber([Subtopology(key, size, draw(st.booleans())) for key, size in sizes.items()])
    processes = draw(st.lists(_NAMES, min_size=1, max_size=5, unique=True))
    names = draw(st.lists(_NAMES, min_size=min_members, max_size=9, unique=True))
    state, process = _state((*sizes, "gone")), st.sampled_from(processes)
    members = {name: GroupMember(MemberMetadata(draw(process)), draw(state)) for name in names}
    return GroupSpec(members, AssignmentConfigs(draw(st.integers(0, 3)))), topology


def larger_group(chance: Random) -> Group:
    """Up to 56 members in up to 30 processes, so that queues and maps grow; one group in three has no past."""
    sizes = {key: chance.randint(1, 40) for key in ("0", "1", "2")[: chance.randint(1, 3)]}
    topology = TopologyDescriber([Subtopology(key, size, chance.random() < 0.7) for key, size in sizes.items()])
    processes = chance.sample(_MANY_NAMES, chance.randint(1, 30))
    names = chance.sample(_MANY_NAMES, chance.randint(1, len(_MANY_NAMES)))
    is_cold = chance.random() < 0.33
    # Equal ones without a past: then processes take turns.
    size = chance.randint(1, 3)
    members = {
        name: GroupMember(MemberMetadata(processes[place // size % len(processes)]))
        if is_cold
        else _random_member(chance, chance.choice(processes), sizes)
        for place, name in enumerate(names)
    }
    return GroupSpec(members, AssignmentConfigs(chance.randint(0, 3))), topology


def _random_member(chance: Random, process: str, sizes: dict[str, int]) -> GroupMember:
    tasks = [TaskId(key, number) for key, size in sizes.items() for number in range(size + 1)]

    def some() -> dict[str, list[int]]:
        held: dict[str, list[int]] = {}
        for task in chance.sample(tasks, min(len(tasks), chance.choice((0, 1, 2, 5)))):
            held.setdefault(task.subtopology_id, []).append(task.partition)
        return held

    reported = chance.sample(tasks, min(len(tasks), chance.choice((0, 0, 2, 9))))
    offsets = {task: chance.choice((0, 1, 5, 5, 100, -1)) for task in reported}
    return GroupMember(MemberMetadata(process), MemberAssignmentState(some(), some(), task_offsets=offsets))


#: Partitions of a sub-topology, and those of one that is too small for them.
_PARTITIONS = st.integers(0, 8)
_HELD = st.sets(_PARTITIONS, max_size=4).map(sorted)


# To create a strategy costs more than to draw from it.
@cache
def _state(subtopologies: tuple[str, ...]) -> st.SearchStrategy[MemberAssignmentState]:
    keys = st.sampled_from(subtopologies)
    held = st.dictionaries(keys, _HELD, max_size=3)
    offsets = st.dictionaries(st.builds(TaskId, keys, _PARTITIONS), _OFFSETS, max_size=6)
    return st.builds(MemberAssignmentState, held, held, task_offsets=offsets)


def all_tasks(topology: TopologyDescriber) -> list[TaskId]:
    return [
        TaskId(key, partition)
        for key in topology.subtopologies()
        for partition in range(topology.max_num_input_partitions(key))
    ]


def flat(tasks: TasksBySubtopology) -> list[TaskId]:
    return [TaskId(key, partition) for key, partitions in tasks.items() for partition in partitions]


def after(group: GroupSpec, assignment: GroupAssignment, standbys: int | None = None) -> GroupSpec:
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
    active = Counter(task for target in assignment.members.values() for task in flat(target.active_tasks))
    standby = Counter(task for target in assignment.members.values() for task in flat(target.standby_tasks))
    return active, standby


def held_by_process(group: GroupSpec, assignment: GroupAssignment) -> Mapping[str, Counter[TaskId]]:
    held: dict[str, Counter[TaskId]] = {}
    for name, target in assignment.members.items():
        process = group.members[name].metadata.process_id
        held.setdefault(process, Counter()).update(flat(target.active_tasks) + flat(target.standby_tasks))
    return held
