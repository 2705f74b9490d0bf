"""The full picture of one state of a Streams group: the previous and the new tasks of each member of each process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignment_api.group import GroupAssignment, GroupMember, MemberAssignment, TasksBySubtopology
from assignor_lab.groups.kind import ContenderAnswer
from assignor_lab.groups.streams_group.assignor_calls import StreamsGroupState
from assignor_lab.groups.streams_group.placement import state_of

__all__ = ["GroupAnswer", "group_picture"]

GroupAnswer = ContenderAnswer[StreamsGroupState, GroupAssignment]

_NOTHING = MemberAssignment()


def group_picture(answers: Sequence[GroupAnswer], assignor: str | None = None) -> dict[str, Any]:
    """Answers to one item and round, at least one, as an entry of the summary's ``placements``: a row for each member.

    In the later rounds of a history each assignor has its own state. The picture then shows that of ``assignor``
    (``None``: the first valid one), with the answers to it.
    """
    made = [answer for answer in answers if answer.state is not None]
    own = [answer for answer in made if answer.assignor == assignor]
    seen = (own or made or list(answers))[0]
    state = seen.state
    picture: dict[str, Any] = {
        "scenario": None if seen.scenario is None else seen.scenario.id,
        "round": seen.round,
        "chosen": None,
        "source": None,
        "assumptions": [] if seen.scenario is None else list(seen.scenario.assumptions),
        "clients": [],
        "tasks": [],
        "before": {},
        "after": [],
    }
    if state is None:
        return picture
    return picture | {
        "clients": _clients(state),
        "tasks": _tasks(state),
        "before": {member_id: _before(member, state) for member_id, member in state.group.members.items()},
        "after": [_after(answer, state) for answer in answers if answer.state is state or answer.state == state],
    }


def _clients(state: StreamsGroupState) -> list[dict[str, Any]]:
    by_process: dict[str, list[tuple[str, GroupMember]]] = {}
    for member_id, member in state.group.members.items():
        by_process.setdefault(member.metadata.process_id, []).append((member_id, member))
    return [
        {
            "process_id": member_id,
            "host": None,
            "rack": member.metadata.rack_id,
            "tags": dict(member.metadata.client_tags),
            "threads": 1,
            "consumers": [],
            "process": process,
            "instance_id": member.metadata.instance_id,
        }
        for process, members in by_process.items()
        for member_id, member in members
    ]


def _tasks(state: StreamsGroupState) -> list[dict[str, Any]]:
    topology = state_of(state.group, state.topology).topology
    return [
        {"id": str(topology.id_of(number)), "stateful": stateful} for number, stateful in enumerate(topology.stateful)
    ]


def _before(member: GroupMember, state: StreamsGroupState) -> dict[str, list[str]]:
    held = member.state
    return _roles(state, held.active_tasks, held.standby_tasks, held.warmup_tasks)


def _after(answer: GroupAnswer, state: StreamsGroupState) -> dict[str, Any]:
    failure, assignment = answer.outcome.failure, answer.outcome.answer
    return {
        "assignor": answer.assignor,
        "error": None
        if failure is None
        else {"type": failure.type, "java_type": failure.java_type, "message": failure.message},
        "followup": None if assignment is None else False,
        "equals_observed": None,
        "assignment": None
        if assignment is None
        else {
            member_id: _target(assignment.members.get(member_id, _NOTHING), state) for member_id in state.group.members
        },
    }


def _target(target: MemberAssignment, state: StreamsGroupState) -> dict[str, list[str]]:
    return _roles(state, target.active_tasks, target.standby_tasks, target.warmup_tasks)


def _roles(
    state: StreamsGroupState, active: TasksBySubtopology, standby: TasksBySubtopology, warmup: TasksBySubtopology
) -> dict[str, list[str]]:
    topology = state_of(state.group, state.topology).topology

    def texts(tasks: TasksBySubtopology) -> list[str]:
        # Tasks that the topology no longer has have no owner.
        return [str(topology.id_of(number)) for number in topology.numbers(tasks)]

    return {"active": texts(active), "standby": texts(standby), "warmup": texts(warmup)}
