"""The full picture of one state of a consumer group or share group: former and new partitions of each member."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignor_lab.groups.consumer.placement import placement_of, state_of
from assignor_lab.groups.consumer.rounds import AppliedAssignment, PartitionState
from assignor_lab.groups.kind import ContenderAnswer
from assignor_lab.model.pictures import (
    AssignorPlacement,
    ClientTasks,
    SnapshotClient,
    SnapshotPlacement,
    SnapshotTask,
)

__all__ = ["partition_picture"]

Answer = ContenderAnswer[PartitionState, AppliedAssignment]


def partition_picture(answers: Sequence[Answer], assignor: str | None = None) -> SnapshotPlacement:
    """Answers to one item and round, at least one: a row for each member.

    In the later rounds of a history each assignor has its own state. The picture then shows that of ``assignor``
    (``None``: the first valid one), with the answers to it.
    """
    made = [answer for answer in answers if answer.state is not None]
    own = [answer for answer in made if answer.assignor == assignor]
    seen = (own or made or list(answers))[0]
    picture = SnapshotPlacement(
        scenario="" if seen.scenario is None else seen.scenario.id,
        round=seen.round,
        assumptions=() if seen.scenario is None else tuple(seen.scenario.assumptions),
    )
    if seen.state is None:
        return picture
    state = state_of(seen.state)
    names = state.every_name()
    return attrs.evolve(
        picture,
        clients=tuple(
            SnapshotClient(member, held.instance_id, held.rack_id, {}, 1, (), instance_id=held.instance_id)
            for member, held in seen.state.group.members.items()
        ),
        tasks=tuple(SnapshotTask(name, stateful=False) for name in names),
        before=_roles(state.members, names, state.before),
        after=tuple(_after(answer, names) for answer in made if answer.state.group == seen.state.group),  # type: ignore[union-attr]
    )


def _after(answer: Answer, names: Sequence[str]) -> AssignorPlacement:
    found = answer.outcome.answer
    placement = None if found is None or answer.state is None else placement_of(answer.state, found)
    return AssignorPlacement(
        assignor=answer.assignor,
        error=answer.problem,
        followup=None if placement is None else placement.any_waits,
        equals_observed=None,
        assignment=None if placement is None else _roles(placement.state.members, names, placement.owners),
    )


def _roles(members: Sequence[str], names: Sequence[str], owners: Sequence[Sequence[int]]) -> dict[str, ClientTasks]:
    held: list[list[str]] = [[] for _ in members]
    for name, of_partition in zip(names, owners, strict=True):
        for member in of_partition:
            held[member].append(name)
    return {member: ClientTasks(tuple(own), (), ()) for member, own in zip(members, held, strict=True)}
