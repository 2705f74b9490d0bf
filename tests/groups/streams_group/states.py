"""Small groups and answers, written down as text: ``"0_0 0_1 | 1_0 ~ 2_0"`` is actives, standbys and warm-ups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    TopologyDescriber,
)
from assignor_lab.groups.streams_group.metrics import GROUP_METRICS

METRICS = {metric.name: metric for metric in GROUP_METRICS}


@attrs.frozen
class Member:
    """A member's tasks before and after."""

    process: str
    before: str = ""
    after: str = ""
    tags: Mapping[str, str] = attrs.field(factory=dict)
    rack: str | None = None
    offsets: Mapping[str, int] = attrs.field(factory=dict)
    ends: Mapping[str, int] = attrs.field(factory=dict)


def _roles(text: str) -> list[dict[str, list[int]]]:
    rest, _, warmup = text.partition("~")
    active, _, standby = rest.partition("|")
    roles = []
    for tasks in (active, standby, warmup):
        by_subtopology: dict[str, list[int]] = {}
        for task in map(TaskId.parse, tasks.split()):
            by_subtopology.setdefault(task.subtopology_id, []).append(task.partition)
        roles.append(by_subtopology)
    return roles


def _before(member: Member) -> MemberAssignmentState:
    active, standby, warmup = _roles(member.before)
    return MemberAssignmentState(active, standby, warmup, _offsets(member.offsets), _offsets(member.ends))


def _offsets(offsets: Mapping[str, int]) -> dict[TaskId, int]:
    return {TaskId.parse(task): offset for task, offset in offsets.items()}


def topology(sizes: Mapping[str, int], stateless: str = "") -> TopologyDescriber:
    return TopologyDescriber([Subtopology(key, size, key not in stateless.split()) for key, size in sizes.items()])


def group(members: Sequence[Member], standbys: int = 0, **configs: Any) -> GroupSpec:
    return GroupSpec(
        {
            f"m{number}": GroupMember(
                MemberMetadata(member.process, None, member.rack, member.tags),
                _before(member),
            )
            for number, member in enumerate(members, start=1)
        },
        AssignmentConfigs(standbys, **configs),
    )


def answer(members: Sequence[Member]) -> GroupAssignment:
    return GroupAssignment(
        {f"m{number}": MemberAssignment(*_roles(member.after)) for number, member in enumerate(members, start=1)}
    )


def figure(
    metric: str,
    members: Sequence[Member],
    *,
    tasks: Mapping[str, int],
    stateless: str = "",
    standbys: int = 0,
    **configs: Any,
) -> float | None:
    """The figure of a metric for the group and the answer of ``members``."""
    return METRICS[metric].compute(group(members, standbys, **configs), topology(tasks, stateless), answer(members))
