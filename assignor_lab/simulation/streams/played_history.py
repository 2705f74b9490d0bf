"""The history of a played group, of the type that readers of recordings make."""

from __future__ import annotations

from collections.abc import Sequence

from assignor_lab.model.courses import OwnedTime, TaskCourse, UnownedTime
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.events import DecisionFailed, GroupEvent
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.history import PLAYED, GroupHistory, GroupName
from assignor_lab.model.identity import GroupInstance
from assignor_lab.model.moment import Moment
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["played_history"]


def played_history(
    name: GroupName,
    world: SimulatedWorld,
    generations: Sequence[Generation],
    actions: Sequence[GroupEvent],
    begin_ms: int,
    until_ms: int,
    changes: tuple[int, ...] | None,
    failures: Sequence[tuple[int, str]],
) -> GroupHistory:
    """Decisions, actions and tasks over time; the world has finished."""
    failed = [DecisionFailed(Moment.at(at_ms), Evidence.played(), cause) for at_ms, cause in failures]
    names = tuple(map(str, world.tasks))
    return GroupHistory(
        name,
        PLAYED,
        tuple(_decision(each, world.episode.protocol, names) for each in generations),
        tuple(sorted([*actions, *failed], key=lambda each: each.at.latest_ms)),
        tuple(GroupInstance(each.name, (), each.settings.instance_id) for each in world.instances.values()),
        begin_ms=begin_ms,
        until_ms=until_ms,
        courses={task: _course(world, number, until_ms) for number, task in enumerate(names)},
        shows_downtime=True,
        shows_restoring=True,
        changes_ms=changes,
    )


def _decision(generation: Generation, protocol: str, names: Sequence[str]) -> Decision:
    return Decision(
        Moment.at(generation.assigned_ms),
        Evidence.played(),
        protocol,
        generation.number,
        {
            name: InstanceShare(
                active=tuple(names[task] for task in active), copies=tuple(names[task] for task in standby)
            )
            for name, (active, standby) in sorted(generation.assigned.items())
        },
        tasks=frozenset(names),
        begun_ms=generation.prepared_ms,
        reason=generation.reason,
        followup=generation.followup,
        joined_ms=generation.joined_ms,
        leader=generation.leader,
        member_count=generation.members,
    )


def _course(world: SimulatedWorld, task: int, end_ms: int) -> TaskCourse:
    return TaskCourse(
        tuple(
            OwnedTime(begin, end_ms if end is None else end, instance)
            for begin, end, instance in world.ledger.runs[task]
        ),
        tuple(UnownedTime(*each) for each in world.ledger.intervals[task]),
    )
