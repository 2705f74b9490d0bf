"""One answer to the state of a Streams group, with tasks, members and processes as small integers.

Every metric reads this view. Values are computed once for each answer, state or topology. Time and memory are linear in
tasks, members and their reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.group import GroupAssignment, GroupSpec, TaskId, TasksBySubtopology, TopologyDescriber

__all__ = ["StreamsGroupPlacement", "GroupBefore", "StreamsGroupTopology", "placement_of", "state_of"]


@attrs.frozen(eq=False)
class StreamsGroupTopology:
    """The tasks of a group, numbered by sub-topology (in Kafka's order), then partition.

    Args:
        subtopology: For each task, the number of its sub-topology.
    """

    describer: TopologyDescriber
    ids: tuple[str, ...]
    first: dict[str, int]
    sizes: dict[str, int]
    stateful: list[bool]
    subtopology: list[int]
    memory: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def subtopologies(self) -> int:
        return len(self.ids)

    def numbers(self, tasks: TasksBySubtopology) -> list[int]:
        """The numbers of those of ``tasks`` that the topology has."""
        found: list[int] = []
        for subtopology, partitions in tasks.items():
            size = self.sizes.get(subtopology, 0)
            first = self.first.get(subtopology, 0)
            found += [first + partition for partition in partitions if 0 <= partition < size]
        return found

    def number(self, task: TaskId) -> int | None:
        if not 0 <= task.partition < self.sizes.get(task.subtopology_id, 0):
            return None
        return self.first[task.subtopology_id] + task.partition

    def id_of(self, number: int) -> TaskId:
        subtopology = self.ids[self.subtopology[number]]
        return TaskId(subtopology, number - self.first[subtopology])


@attrs.frozen(eq=False)
class GroupBefore:
    """A group before an answer.

    Members are numbered in the order of the input, processes by their first member.

    Args:
        threads: For each process, the number of its members.
        racks: Rack of each process; ``None`` if any is unknown.
        tags: Key of each tag over which replicas should be spread, to its value on each process.
        previous_active: For each task, the processes whose members had it as active.
        previous_standby: For each task, the processes that had a standby or a warm-up of it.
        previous_copies: The same, and the processes of which a member reported offsets of the task, which is state on
            their disk.
        previous_members: For each task, the members that had it as active.
        standbys_wanted: Standbys of a stateful task, by configuration and number of processes.
        offsets: For each task, process to the largest offset that one of its members reported.
        ends: For each task, the largest reported end offset, or ``None``.
    """

    group: GroupSpec
    topology: StreamsGroupTopology
    member_number: dict[str, int]
    process_ids: list[str]
    process_of: list[int]
    threads: list[int]
    racks: list[str] | None
    tags: Mapping[str, list[str | None]]
    previous_active: list[list[int]]
    previous_standby: list[list[int]]
    previous_copies: list[list[int]]
    previous_members: list[list[int]]
    standbys_wanted: int
    offsets: list[dict[int, int]]
    ends: list[int | None]
    memory: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def members(self) -> int:
        return len(self.process_of)

    @property
    def standbys_configured(self) -> int:
        return max(self.group.configs.num_standby_replicas, 0)


@attrs.frozen(eq=False)
class ByMember:
    """Tasks of each member."""

    active: list[int]
    stateful: list[int]
    standby: list[int]


@attrs.frozen(eq=False)
class StreamsGroupPlacement:
    """The holders of tasks.

    Args:
        runners: For each task, the members that run it; one in a good answer.
        copies: For each task, the processes with a standby of it, once for each.
        warmups: For each task, the processes with a warm-up of it, once for each.
        standbys: For each task, the processes with a standby or a warm-up of it that do not run it.
        replicas: For each task, the processes that hold it in any role, its owner first.
    """

    state: GroupBefore
    by_member: ByMember
    runners: list[list[int]]
    copies: list[list[int]]
    warmups: list[list[int]]
    owner: list[int]
    standbys: list[list[int]]
    replicas: list[list[int]]
    active: list[int]
    stateful: list[int]
    standby: list[int]
    memory: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)


_last_topology: StreamsGroupTopology | None = None
_last_state: tuple[TopologyDescriber, GroupBefore] | None = None
_last_placement: tuple[GroupAssignment, StreamsGroupPlacement] | None = None


def state_of(group: GroupSpec, topology: TopologyDescriber) -> GroupBefore:
    """The dense view of a group; the latest one is kept."""
    global _last_state  # noqa: PLW0603 - a memory of one: metrics of the same state follow one another
    known = _last_state
    if known is None or known[0] is not topology or known[1].group is not group:
        known = _last_state = topology, _new_state(group, _topology_of(topology))
    return known[1]


def placement_of(group: GroupSpec, topology: TopologyDescriber, assignment: GroupAssignment) -> StreamsGroupPlacement:
    """The dense view of an answer; the latest one is kept. Members and tasks that the group lacks are left out."""
    global _last_placement  # noqa: PLW0603 - as above
    known = _last_placement
    state = state_of(group, topology)
    if known is None or known[0] is not assignment or known[1].state is not state:
        known = _last_placement = assignment, _new_placement(state, assignment)
    return known[1]


def _topology_of(describer: TopologyDescriber) -> StreamsGroupTopology:
    global _last_topology  # noqa: PLW0603 - as above
    if _last_topology is None or _last_topology.describer != describer:
        _last_topology = _new_topology(describer)
    return _last_topology


def _new_topology(describer: TopologyDescriber) -> StreamsGroupTopology:
    first: dict[str, int] = {}
    sizes: dict[str, int] = {}
    stateful: list[bool] = []
    subtopology: list[int] = []
    for number, key in enumerate(describer.subtopologies()):
        size = describer.max_num_input_partitions(key)
        first[key], sizes[key] = len(stateful), size
        stateful += [describer.is_stateful(key)] * size
        subtopology += [number] * size
    return StreamsGroupTopology(describer, describer.subtopologies(), first, sizes, stateful, subtopology)


def _new_state(group: GroupSpec, topology: StreamsGroupTopology) -> GroupBefore:
    count = len(topology.stateful)
    process_number: dict[str, int] = {}
    members = list(group.members.values())
    process_of = [process_number.setdefault(member.metadata.process_id, len(process_number)) for member in members]
    threads = [0] * len(process_number)
    racks: list[str | None] = [None] * len(process_number)
    previous_active: list[list[int]] = [[] for _ in range(count)]
    previous_standby: list[list[int]] = [[] for _ in range(count)]
    previous_members: list[list[int]] = [[] for _ in range(count)]
    offsets: list[dict[int, int]] = [{} for _ in range(count)]
    ends: list[int | None] = [None] * count
    for number, member in enumerate(members):
        process, held = process_of[number], member.state
        threads[process] += 1
        racks[process] = racks[process] if racks[process] is not None else member.metadata.rack_id
        for task in topology.numbers(held.active_tasks):
            previous_members[task].append(number)
            _add(previous_active[task], process)
        for tasks in (held.standby_tasks, held.warmup_tasks):
            for task in topology.numbers(tasks):
                _add(previous_standby[task], process)
        for task_id, offset in held.task_offsets.items():
            reported = topology.number(task_id)
            if reported is not None:
                offsets[reported][process] = max(offsets[reported].get(process, 0), offset)
        for task_id, end in held.task_end_offsets.items():
            reported = topology.number(task_id)
            if reported is not None:
                ends[reported] = max(ends[reported] or 0, end)
    known_racks = [rack for rack in racks if rack is not None]
    return GroupBefore(
        group=group,
        topology=topology,
        member_number={member: number for number, member in enumerate(group.members)},
        process_ids=list(process_number),
        process_of=process_of,
        threads=threads,
        racks=known_racks if len(known_racks) == len(racks) else None,
        tags=_tags(group, process_of, len(threads)),
        previous_active=previous_active,
        previous_standby=previous_standby,
        previous_copies=[
            list(dict.fromkeys((*standby, *reported)))
            for standby, reported in zip(previous_standby, offsets, strict=True)
        ],
        previous_members=previous_members,
        standbys_wanted=max(min(group.configs.num_standby_replicas, len(threads) - 1), 0),
        offsets=offsets,
        ends=ends,
    )


def _add(processes: list[int], process: int) -> None:
    if process not in processes:
        processes.append(process)


def _tags(group: GroupSpec, process_of: list[int], processes: int) -> dict[str, list[str | None]]:
    """The keys over which the group spreads, or, if it names none, every key that a member has; in order.

    The value of a process is that of the first member that has one.
    """
    values: dict[str, list[str | None]] = {}
    for process, member in zip(process_of, group.members.values(), strict=True):
        for key, value in member.metadata.client_tags.items():
            of_key = values.setdefault(key, [None] * processes)
            if of_key[process] is None:
                of_key[process] = value
    configured = group.configs.rack_aware_assignment_tags
    nowhere: list[str | None] = [None] * processes
    return {key: values.get(key, nowhere) for key in sorted(set(configured) or values)}


def _new_placement(state: GroupBefore, assignment: GroupAssignment) -> StreamsGroupPlacement:
    topology = state.topology
    count, processes = len(topology.stateful), len(state.threads)
    runners: list[list[int]] = [[] for _ in range(count)]
    copies: list[list[int]] = [[] for _ in range(count)]
    warmups: list[list[int]] = [[] for _ in range(count)]
    by_member = ByMember(*([0] * state.members for _ in range(3)))
    active, stateful, standby = ([0] * processes for _ in range(3))
    for member_id, target in assignment.members.items():
        member = state.member_number.get(member_id)
        if member is None:
            continue
        process = state.process_of[member]
        running = topology.numbers(target.active_tasks)
        for task in running:
            runners[task].append(member)
        with_state = sum(topology.stateful[task] for task in running)
        copied = 0
        for tasks, holders in ((target.standby_tasks, copies), (target.warmup_tasks, warmups)):
            for task in topology.numbers(tasks):
                holders[task].append(process)
                copied += 1
        by_member.active[member] += len(running)
        by_member.stateful[member] += with_state
        by_member.standby[member] += copied
        active[process] += len(running)
        stateful[process] += with_state
        standby[process] += copied
    owner = [state.process_of[running[0]] if running else -1 for running in runners]
    standbys = [
        [process for process in dict.fromkeys((*held, *warming)) if process != first]
        for first, held, warming in zip(owner, copies, warmups, strict=True)
    ]
    return StreamsGroupPlacement(
        state=state,
        by_member=by_member,
        runners=runners,
        copies=copies,
        warmups=warmups,
        owner=owner,
        standbys=standbys,
        replicas=[held if first < 0 else [first, *held] for first, held in zip(owner, standbys, strict=True)],
        active=active,
        stateful=stateful,
        standby=standby,
    )
