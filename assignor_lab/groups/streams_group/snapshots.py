"""The full picture of one state of a Streams group: the previous and the new tasks of each member of each process."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignment_api.group import GroupAssignment, GroupMember, MemberAssignment, TasksBySubtopology
from assignor_lab.groups.kind import ContenderAnswer
from assignor_lab.groups.streams_group.assignor_calls import StreamsGroupState
from assignor_lab.groups.streams_group.placement import state_of
from assignor_lab.model.pictures import (
    AssignorPlacement,
    ClientTasks,
    SnapshotClient,
    SnapshotPlacement,
    SnapshotTask,
)

__all__ = ["GroupAnswer", "group_picture"]

GroupAnswer = ContenderAnswer[StreamsGroupState, GroupAssignment]

_NOTHING = MemberAssignment()


def group_picture(answers: Sequence[GroupAnswer], assignor: str | None = None) -> SnapshotPlacement:
    """Answers to one item and round, at least one: a row for each member.

    In the later rounds of a history each assignor has its own state. The picture then shows that of ``assignor``
    (``None``: the first valid one), with the answers to it.
    """
    made = [answer for answer in answers if answer.state is not None]
    own = [answer for answer in made if answer.assignor == assignor]
    seen = (own or made or list(answers))[0]
    state = seen.state
    picture = SnapshotPlacement(
        scenario="" if seen.scenario is None else seen.scenario.id,
        round=seen.round,
        assumptions=() if seen.scenario is None else tuple(seen.scenario.assumptions),
    )
    if state is None:
        return picture
    return attrs.evolve(
        picture,
        clients=_clients(state),
        tasks=_tasks(state),
        before={member_id: _before(member, state) for member_id, member in state.group.members.items()},
        after=tuple(_after(answer, state) for answer in answers if answer.state is state or answer.state == state),
    )


def _clients(state: StreamsGroupState) -> tuple[SnapshotClient, ...]:
    by_process: dict[str, list[tuple[str, GroupMember]]] = {}
    for member_id, member in state.group.members.items():
        by_process.setdefault(member.metadata.process_id, []).append((member_id, member))
    return tuple(
        SnapshotClient(
            process_id=member_id,
            host=None,
            rack=member.metadata.rack_id,
            tags=dict(member.metadata.client_tags),
            threads=1,
            consumers=(),
            process=process,
            instance_id=member.metadata.instance_id,
        )
        for process, members in by_process.items()
        for member_id, member in members
    )


def _tasks(state: StreamsGroupState) -> tuple[SnapshotTask, ...]:
    topology = state_of(state.group, state.topology).topology
    return tuple(
        SnapshotTask(str(topology.id_of(number)), stateful) for number, stateful in enumerate(topology.stateful)
    )


def _before(member: GroupMember, state: StreamsGroupState) -> ClientTasks:
    held = member.state
    return _roles(state, held.active_tasks, held.standby_tasks, held.warmup_tasks)


def _after(answer: GroupAnswer, state: StreamsGroupState) -> AssignorPlacement:
    assignment = answer.outcome.answer
    return AssignorPlacement(
        assignor=answer.assignor,
        error=answer.problem,
        followup=None if assignment is None else False,
        equals_observed=None,
        assignment=None
        if assignment is None
        else {
            member_id: _target(assignment.members.get(member_id, _NOTHING), state) for member_id in state.group.members
        },
    )


def _target(target: MemberAssignment, state: StreamsGroupState) -> ClientTasks:
    return _roles(state, target.active_tasks, target.standby_tasks, target.warmup_tasks)


def _roles(
    state: StreamsGroupState, active: TasksBySubtopology, standby: TasksBySubtopology, warmup: TasksBySubtopology
) -> ClientTasks:
    topology = state_of(state.group, state.topology).topology

    def texts(tasks: TasksBySubtopology) -> tuple[str, ...]:
        # Tasks that the topology no longer has have no owner.
        return tuple(str(topology.id_of(number)) for number in topology.numbers(tasks))

    return ClientTasks(texts(active), texts(standby), texts(warmup))
