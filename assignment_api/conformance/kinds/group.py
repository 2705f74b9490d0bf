"""Streams groups of KIP-1071."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from assignment_api.conformance.history import Capabilities, Event, History
from assignment_api.conformance.kinds.kind import Kind, Trouble, World
from assignment_api.conformance.subject import Answering
from assignment_api.group.assignment import GroupAssignment, MemberAssignment
from assignment_api.group.errors import GroupAssignorError
from assignment_api.group.members import GroupMember, MemberAssignmentState, MemberMetadata
from assignment_api.group.spec import NUM_STANDBY_REPLICAS, RACK_AWARE_ASSIGNMENT_TAGS, AssignmentConfigs, GroupSpec
from assignment_api.group.tasks import TaskId
from assignment_api.group.topology import Subtopology, TopologyDescriber

__all__ = ["STREAMS_GROUP", "GroupState"]

_ROLES = ("active_tasks", "standby_tasks", "warmup_tasks")
_RECORDS = 50_000
_MOST_MEMBERS, _MOST_TASKS = 10, 14
#: In another order than their numbers.
_NAMES = ("orders", "joins", "counts")
_TAGS = {"zone": 2, "cluster": 3}


@attrs.frozen
class GroupState:
    """Input of a broker-side assignor."""

    group: GroupSpec
    topology: TopologyDescriber


@attrs.define(eq=False)
class _Member:
    number: int
    process: int
    target: MemberAssignment = attrs.field(factory=MemberAssignment)

    @property
    def id(self) -> str:
        return f"m{self.number}"


class _GroupWorld(World[GroupState]):
    """Every member reaches its target at once; Kafka 4.3 passes it as the present tasks."""

    def __init__(self, history: History, capabilities: Capabilities) -> None:
        self._history, self._racks = history, history.racks if capabilities.racks else 0
        self._may_be_empty = capabilities.empty
        self._counts = [count for count, _ in history.tasks]
        self._standbys = history.standbys if capabilities.standbys else 0
        self._keys = [
            f"{_NAMES[number]}-{number}" if history.named else f"{number}" for number in range(len(self._counts))
        ]
        self._tags = tuple(_TAGS)[: history.tags]
        self._claims: dict[str, TaskId] = {}
        self._unknown: set[str] = set()
        self._number = 0
        self._members: list[_Member] = []
        self._away: list[_Member] = []
        for process in history.members:
            self._add(process)

    @property
    def bound(self) -> int:  # type: ignore[override]
        """As for applications: 2 x (stateful tasks + standbys), at least one."""
        stateful = sum(count for count, (_, sort) in zip(self._counts, self._history.tasks, strict=True) if sort)
        return max(2 * stateful * (1 + self._standbys), 1)

    def configs(self) -> Mapping[str, Any]:
        if self._history.texts:
            return {NUM_STANDBY_REPLICAS: str(self._standbys), RACK_AWARE_ASSIGNMENT_TAGS: ",".join(self._tags)}
        return {NUM_STANDBY_REPLICAS: self._standbys, RACK_AWARE_ASSIGNMENT_TAGS: list(self._tags)}

    def state(self) -> GroupState:
        topology = TopologyDescriber(
            [
                Subtopology(self._keys[number], self._counts[number], sort > 0)
                for number, (_, sort) in enumerate(self._history.tasks)
            ]
        )
        members = {member.id: self._member(member) for member in self._members}
        return GroupState(GroupSpec(members, AssignmentConfigs(self._standbys, self._tags)), topology)

    def happens(self, event: Event) -> None:
        happening = getattr(self, f"_{event.type}")
        happening(event)

    def carry_out(self, state: GroupState, answer: GroupAssignment) -> None:
        self._claims, self._unknown = {}, set()
        for member in self._members:
            member.target = answer.members.get(member.id, MemberAssignment())

    def rest(self) -> None:
        """Nothing to do: members have their targets."""

    def _nothing(self, event: Event) -> None: ...

    def _join(self, event: Event) -> None:
        processes = sorted({member.process for member in self._members})
        new = max([*processes, *(member.process for member in self._away)], default=0) + 1
        self._add([new, *processes][event.which % (len(processes) + 1)])

    def _leave(self, event: Event) -> None:
        """A thread ends."""
        if len(self._members) > (not self._may_be_empty):
            gone = self._members.pop(event.which % len(self._members))
            gone.target = MemberAssignment()
            self._away.append(gone)

    def _lose(self, event: Event) -> None:
        processes = sorted({member.process for member in self._members})
        if len(processes) > 1:
            gone = processes[event.which % len(processes)]
            self._members = [member for member in self._members if member.process != gone]

    def _return(self, event: Event) -> None:
        if self._away:
            self._add(self._away.pop(event.which % len(self._away)).process)

    def _more(self, event: Event) -> None:
        if self._counts:
            which = event.which % len(self._counts)
            self._counts[which] = min(self._counts[which] + 1, _MOST_TASKS)

    def _fewer(self, event: Event) -> None:
        """Members still report the lost task."""
        if self._counts:
            which = event.which % len(self._counts)
            self._counts[which] = max(self._counts[which] - 1, 0 if self._may_be_empty else 1)

    def _both(self, event: Event) -> None:
        if len(self._members) > 1:
            member = self._members[event.which % len(self._members)]
            others = [task for each in self._members if each is not member for task in _active(each.target)]
            if others:
                self._claims[member.id] = others[event.size % len(others)]

    def _forget(self, event: Event) -> None:
        if self._members:
            self._unknown.add(self._members[event.which % len(self._members)].id)

    def _add(self, process: int) -> None:
        if len(self._members) < _MOST_MEMBERS:
            self._members.append(_Member(self._number, process))
            self._number += 1

    def _member(self, member: _Member) -> GroupMember:
        rack = f"rack-{member.process % self._racks}" if self._racks else None
        target = member.target
        held = _active(target)
        active = dict(target.active_tasks)
        if member.id in self._claims:
            claimed = self._claims[member.id]
            own = active.get(claimed.subtopology_id, ())
            active[claimed.subtopology_id] = tuple(sorted({*own, claimed.partition}))
        stateful = {key for key, (_, sort) in zip(self._keys, self._history.tasks, strict=True) if sort}
        is_known = member.id not in self._unknown
        offsets = {task: _RECORDS for task in held if task.subtopology_id in stateful and is_known}
        tags = {key: f"{key}-{member.process % values}" for key, values in _TAGS.items()} if self._tags else {}
        return GroupMember(
            MemberMetadata(f"p{member.process}", rack_id=rack, client_tags=tags),
            MemberAssignmentState(active, target.standby_tasks, target.warmup_tasks, offsets, offsets),
        )


def _active(target: MemberAssignment) -> list[TaskId]:
    return [TaskId(key, partition) for key, partitions in target.active_tasks.items() for partition in partitions]


def _fingerprint(state: GroupState) -> Mapping[str, object]:
    topology = state.topology
    return {
        "the members": tuple(state.group.members),
        "the configuration": repr(state.group.configs),
        "the topology": repr(topology),
        **{f"member {name}": repr(member) for name, member in state.group.members.items()},
    }


def _badly_typed(answer: object) -> str | None:
    if not isinstance(answer, GroupAssignment):
        return f"the answer is {type(answer).__name__}, expected GroupAssignment"
    # An author's answer may contain anything.
    members: dict[Any, Any] = dict(answer.members)
    for member, target in members.items():
        if not isinstance(member, str) or not isinstance(target, MemberAssignment):
            return f"the target of {member!r:.80} is {type(target).__name__}, expected MemberAssignment"
        for role in _ROLES:
            for subtopology, partitions in getattr(target, role).items():
                if not isinstance(subtopology, str) or not all(type(each) is int for each in partitions):
                    return f"{role} of {member} holds {subtopology!r:.40}: {partitions!r:.80}, expected whole numbers"
    return None


class _GroupKind(Kind[GroupState]):
    name = "streams-group"
    events = ("nothing", "join", "leave", "lose", "return", "more", "fewer", "both", "forget")
    settings = MappingProxyType({"named": 1, "tags": 2, "texts": 1})
    sorts = 1
    answering = Answering(
        call=lambda assignor, state: assignor.assign(state.group, state.topology),
        fingerprint=_fingerprint,
        shown=lambda state: state,
        badly_typed=_badly_typed,
        has_members=lambda state: bool(state.group.members),
        refusals=(GroupAssignorError,),
    )

    def world(self, history: History, capabilities: Capabilities) -> World[GroupState]:
        return _GroupWorld(history, capabilities)

    def troubles(self, state: GroupState, answer: GroupAssignment) -> Iterator[Trouble]:
        strange = next((member for member in answer.members if member not in state.group.members), None)
        if strange is not None:
            yield "accepted", f"the group has no member {strange!r:.80}"
            return
        sizes = {key: state.topology.max_num_input_partitions(key) for key in state.topology.subtopologies()}
        for member, target in answer.members.items():
            for task, _ in _held(target):
                if not 0 <= task.partition < sizes.get(task.subtopology_id, 0):
                    yield "accepted", f"the topology has no task {task}, which {member} was given"
                    return
        if state.group.members:
            yield from _incomplete(state, answer)

    def placement(self, state: GroupState, answer: GroupAssignment) -> Any:
        return {
            member: [sorted(str(task) for task, held in _held(target) if held == role) for role in _ROLES]
            for member, target in sorted(answer.members.items())
            if target != MemberAssignment()
        }

    def asks_again(self, state: GroupState, answer: GroupAssignment) -> bool:
        return False

    def threads(self, state: GroupState) -> Mapping[str, int]:
        return dict.fromkeys(state.group.members, 1)

    def turned(self, state: GroupState) -> GroupState:
        members = dict(reversed([*state.group.members.items()]))
        return GroupState(GroupSpec(members, state.group.configs), state.topology)

    def documents(self, states: Sequence[GroupState], name: str) -> list[dict[str, Any]]:
        return [_document(state, f"{name}-{number}") for number, state in enumerate(states)]

    def sized(self, number: int, capabilities: Capabilities) -> GroupState:
        members = max(number // 8, 2)
        topology = TopologyDescriber([Subtopology("0", number, True)])
        held: list[list[int]] = [[] for _ in range(members)]
        for partition in range(number):
            held[partition % (members - 1)].append(partition)
        spec = {
            f"m{place}": GroupMember(MemberMetadata(f"p{place}"), MemberAssignmentState({"0": tasks}))
            for place, tasks in enumerate(held)
        }
        return GroupState(GroupSpec(spec, AssignmentConfigs(1 if capabilities.standbys else 0)), topology)


def _held(target: MemberAssignment) -> Iterator[tuple[TaskId, str]]:
    for role in _ROLES:
        for subtopology, partitions in getattr(target, role).items():
            for partition in partitions:
                yield TaskId(subtopology, partition), role


def _incomplete(state: GroupState, answer: GroupAssignment) -> Iterator[Trouble]:
    topology, standbys = state.topology, max(state.group.configs.num_standby_replicas, 0)
    holders: dict[TaskId, list[tuple[str, str]]] = {
        TaskId(key, partition): []
        for key in topology.subtopologies()
        for partition in range(topology.max_num_input_partitions(key))
    }
    for member, target in answer.members.items():
        for task, role in _held(target):
            holders[task].append((member, role))
    for task, held in holders.items():
        runners = [member for member, role in held if role == "active_tasks"]
        copies = [member for member, role in held if role == "standby_tasks"]
        if len(runners) != 1:
            yield "nothing lost", f"task {task} is active on {' and '.join(runners) or 'no member'}"
        processes = [state.group.members[member].metadata.process_id for member, _ in held]
        twice = next((each for each in processes if processes.count(each) > 1), None)
        if twice is not None:
            yield "copies elsewhere", f"process {twice} holds task {task} {processes.count(twice)} times"
        possible = min(standbys, len({member.metadata.process_id for member in state.group.members.values()}) - 1)
        if topology.is_stateful(task.subtopology_id) and len(copies) < possible:
            yield (
                "copies made",
                f"task {task} has {len(copies)} standbys; {standbys} are configured, {possible} possible",
            )
        if len(copies) > standbys:
            yield "copies asked for", f"task {task} has {len(copies)} standbys, but {standbys} are configured"
        if len(held) > len(runners) and not topology.is_stateful(task.subtopology_id):
            yield "copies asked for", f"task {task} has a copy, and no state to copy"


def _document(state: GroupState, name: str) -> dict[str, Any]:
    topology = state.topology
    return {
        "format": 1,
        "kind": "streams-group",
        "id": name,
        "config": _config(state.group.configs),
        "subtopologies": [
            {"id": key, "tasks": topology.max_num_input_partitions(key), "stateful": topology.is_stateful(key)}
            for key in topology.subtopologies()
        ],
        "members": [
            {
                "id": member_id,
                "instance_id": None,
                "rack": member.metadata.rack_id,
                "process_id": member.metadata.process_id,
                "tags": dict(member.metadata.client_tags),
                "active": _tasks(member.state.active_tasks),
                "standby": _tasks(member.state.standby_tasks),
                "warmup": _tasks(member.state.warmup_tasks),
                "task_offsets": _offsets(member.state.task_offsets),
                "task_end_offsets": _offsets(member.state.task_end_offsets),
            }
            for member_id, member in state.group.members.items()
        ],
    }


def _config(configs: AssignmentConfigs) -> dict[str, Any]:
    found: dict[str, Any] = {NUM_STANDBY_REPLICAS: configs.num_standby_replicas}
    if configs.rack_aware_assignment_tags:
        found[RACK_AWARE_ASSIGNMENT_TAGS] = list(configs.rack_aware_assignment_tags)
    return found if any(found.values()) else {}


def _tasks(tasks: Mapping[str, tuple[int, ...]]) -> dict[str, list[int]]:
    return {key: list(partitions) for key, partitions in tasks.items()}


def _offsets(offsets: Mapping[TaskId, int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for task, offset in offsets.items():
        found.setdefault(task.subtopology_id, {})[str(task.partition)] = offset
    return found


STREAMS_GROUP = _GroupKind()
