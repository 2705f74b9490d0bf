"""One Streams group under the streams protocol (KIP-1071) over several rounds, for one assignor.

A round is an assignment of the coordinator, after a join, a leave, or a change of a topic's metadata. A member's
previous tasks are its previous target. Members report the state on their process's disk, as in Kafka 4.4.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self
from uuid import UUID

import attrs

from assignment_api.group import GroupAssignment, MemberAssignment, Subtopology, TaskId, TasksBySubtopology
from assignor_lab.scenarios.families.events import DrawnStep, Session
from assignor_lab.scenarios.families.shape import GroupShape
from assignor_lab.scenarios.families.state import FamilyState, StoredState
from assignor_lab.scenarios.families.streams_history import in_order

__all__ = ["StreamsGroupHistory", "as_brokers_have_it", "member_id_of"]

_NOTHING = MemberAssignment()
#: Characters of a UUID's text, the last part of a consumer's name.
_UUID_LENGTH = 36


def member_id_of(consumer: str) -> str:
    """The id that the member with this consumer creates: a UUID in Kafka's form, 22 characters."""
    number = UUID(consumer[-_UUID_LENGTH:]).bytes
    return base64.urlsafe_b64encode(number).decode().rstrip("=")


def as_brokers_have_it(group: GroupShape) -> GroupShape:
    """A group with the configuration that reaches a broker's assignor, without a workload."""
    config: dict[str, Any] = {"num.standby.replicas": group.config["num.standby.replicas"]}
    if tags := group.config.get("rack.aware.assignment.tags"):
        config["rack.aware.assignment.tags"] = tags
    return attrs.evolve(group, config=config, workload=None)


class StreamsGroupHistory:
    """A group and its events; owners follow from the answers.

    Args:
        name: Family and seed, the beginning of the ids.
        is_static: Members have a ``group.instance.id``: a quick restart finds its target again.
    """

    def __init__(
        self,
        name: str,
        group: GroupShape,
        steps: Sequence[DrawnStep],
        *,
        is_static: bool = False,
        member_id: Callable[[str], str] = member_id_of,
    ) -> None:
        self._name = name
        self._group = group
        self._steps = steps
        self._is_static = is_static
        self._member_id = member_id
        self._state = FamilyState(group)
        self._number = {task.id: index for index, task in enumerate(group.tasks)}
        self._next = 0
        #: Member id to its target.
        self._targets: dict[str, MemberAssignment] = {}

    def from_start(self) -> Self:
        """The same history before its first round."""
        return type(self)(self._name, self._group, self._steps, is_static=self._is_static, member_id=self._member_id)

    def round(self, number: int, previous: GroupAssignment | None) -> Mapping[str, Any]:
        """The document of a round; see :class:`assignment_api.plugins.entries.History`.

        If ``previous`` is ``None`` after the first round, every member keeps its target, as after a failure of the
        assignor.

        Raises:
            HistoryOrderError: if ``number`` is not the round after the last one.
        """
        in_order(self._name, number, self._next, len(self._steps))
        self._next += 1
        step = self._steps[number]
        before = self._steps[number - 1].members if number else ()
        if number and previous is not None:
            self._give(before, previous)
        self._state.advance(step)
        self._follow(before, step.members)
        return {
            "format": 1,
            "kind": "streams-group",
            "id": f"{self._name}-round-{number}",
            "config": dict(self._group.config),
            "subtopologies": self._subtopologies(step.hidden),
            "members": [member for session in step.members for member in self._members(session)],
        }

    def _give(self, sessions: Sequence[Session], answer: GroupAssignment) -> None:
        ids = {self._member_id(consumer) for session in sessions for consumer in session.consumers}
        self._targets = {member: target for member, target in answer.members.items() if member in ids}
        for session in sessions:
            targets = [self._target(consumer) for consumer in session.consumers]
            active = [task for target in targets for task in self._numbers(target.active_tasks)]
            standby = [task for target in targets for task in self._numbers(target.standby_tasks)]
            warmup = [task for target in targets for task in self._numbers(target.warmup_tasks)]
            self._state.own(session, active, [*standby, *warmup])

    def _numbers(self, tasks: TasksBySubtopology) -> list[int]:
        return [self._number[task] for task in _tasks(tasks) if task in self._number]

    def _follow(self, before: Sequence[Session], members: Sequence[Session]) -> None:
        """Removes targets of absent members; a returned static member already has its own again."""
        there = set(members)
        gone = {session.machine.number: session for session in before if session not in there}
        known = set(before)
        targets: dict[str, MemberAssignment] = {}
        for session in members:
            predecessor = gone.get(session.machine.number) if self._is_static and session not in known else None
            consumers = session.consumers if predecessor is None else predecessor.consumers
            for consumer, its_own in zip(consumers, session.consumers, strict=True):
                targets[self._member_id(its_own)] = self._target(consumer)
        self._targets = targets

    def _target(self, consumer: str) -> MemberAssignment:
        return self._targets.get(self._member_id(consumer), _NOTHING)

    # --- documents --------------------------------------------------------------------------------

    def _subtopologies(self, hidden: frozenset[int]) -> list[dict[str, Any]]:
        found: dict[str, Subtopology] = {}
        for task, subtopology in zip(self._group.tasks, self._group.subtopology_of, strict=True):
            if subtopology.number not in hidden:
                parsed = TaskId.parse(task.id)
                key = parsed.subtopology_id
                known = found.get(key, Subtopology(key, 0, is_stateful=False))
                size = max(known.num_tasks, parsed.partition + 1)
                found[key] = Subtopology(key, size, known.is_stateful or task.logged)
        return [{"id": each.id, "tasks": each.num_tasks, "stateful": each.is_stateful} for each in found.values()]

    def _members(self, session: Session) -> list[dict[str, Any]]:
        stored = self._state.stored(session)
        targets = [self._target(consumer) for consumer in session.consumers]
        reporters = _reporters(targets, stored)
        members = []
        for index, (consumer, target) in enumerate(zip(session.consumers, targets, strict=True)):
            reported = {task: stored[task] for task in stored if reporters[task] == index}
            instance = f"{self._group.name}-{session.machine.number}-{index + 1}"
            members.append(
                {
                    "id": self._member_id(consumer),
                    "instance_id": instance if self._is_static else None,
                    "rack": session.machine.rack,
                    "process_id": session.process_id,
                    "tags": dict(session.machine.tags),
                    "active": _document(target.active_tasks),
                    "standby": _document(target.standby_tasks),
                    "warmup": _document(target.warmup_tasks),
                    "task_offsets": _offsets({task: state.offset for task, state in reported.items()}),
                    "task_end_offsets": _offsets({task: state.end for task, state in reported.items()}),
                }
            )
        return members


def _reporters(targets: Sequence[MemberAssignment], stored: Mapping[str, StoredState]) -> dict[str, int]:
    """The reporting member of each task on the disk: its owner; without one, the member that found it."""
    reporters = {task: state.reporter for task, state in stored.items()}
    for index, target in enumerate(targets):
        for tasks in (target.active_tasks, target.standby_tasks, target.warmup_tasks):
            reporters.update((task, index) for task in _tasks(tasks) if task in stored)
    return reporters


def _tasks(tasks: TasksBySubtopology) -> list[str]:
    return [f"{subtopology}_{partition}" for subtopology, partitions in tasks.items() for partition in partitions]


def _document(tasks: TasksBySubtopology) -> dict[str, list[int]]:
    return {subtopology: list(partitions) for subtopology, partitions in tasks.items()}


def _offsets(offsets: Mapping[str, int]) -> dict[str, dict[str, int]]:
    by_subtopology: dict[str, dict[str, int]] = {}
    for task, offset in offsets.items():
        subtopology, _, partition = task.rpartition("_")
        by_subtopology.setdefault(subtopology, {})[partition] = offset
    return by_subtopology
