from __future__ import annotations

import os
import sys
import time
from types import MappingProxyType
from typing import Any

from assignment_api.group import (
    GroupAssignment,
    GroupSpec,
    MemberAssignment,
    TaskAssignor,
    TopologyDescriber,
)
from assignment_api.plugins import GroupAssignorPlugin

__all__ = ["GROUP_ASSIGNORS"]


def _everything(topology: TopologyDescriber) -> dict[str, list[int]]:
    return {key: list(range(topology.max_num_input_partitions(key))) for key in topology.subtopologies()}


class AllOnFirst(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        return GroupAssignment({next(iter(group.members)): MemberAssignment(_everything(topology))})


class GoesByTags(TaskAssignor):
    """Everything on the member with the last value of the group's first tag to spread over, or else on the first."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        tags = group.configs.rack_aware_assignment_tags

        def value(member: str) -> str:
            return group.members[member].metadata.client_tags.get(tags[0], "") if tags else ""

        return GroupAssignment({max(group.members, key=value): MemberAssignment(_everything(topology))})


class AssignsNothing(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        return GroupAssignment({})


class AssignsTwice(TaskAssignor):
    """Everything active on every member, which Kafka does not notice either."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        return GroupAssignment({member: MemberAssignment(_everything(topology)) for member in group.members})


class Raises(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        raise RuntimeError("no target today </script>\x1b[2J[bold]")


class Leaves(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        sys.exit("gone")


class ReturnsText(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        garbage: Any = "garbage"
        return garbage  # type: ignore[no-any-return]


class GarbageAmongMembers(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        garbage: Any = "garbage"
        return GroupAssignment({next(iter(group.members)): garbage})


class GarbageAmongTasks(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        target = MemberAssignment(_everything(topology))
        object.__setattr__(target, "active_tasks", MappingProxyType({topology.subtopologies()[0]: (0, "garbage")}))
        return GroupAssignment({next(iter(group.members)): target})


class UnknownTask(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        first = topology.subtopologies()[0]
        return GroupAssignment({next(iter(group.members)): MemberAssignment({first: [10**6]})})


class UnknownMember(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        return GroupAssignment({"\x1b[31mnobody": MemberAssignment(_everything(topology))})


class Mutates(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        first = next(iter(group.members))
        target = MemberAssignment(_everything(topology))
        object.__setattr__(group.members[first].state, "active_tasks", target.active_tasks)
        object.__setattr__(group.configs, "num_standby_replicas", 7)
        return GroupAssignment({first: target})


class Hangs(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        while True:
            time.sleep(3_600)


class Dies(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        os._exit(7)


class EatsMemory(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        held = []
        while True:
            held.append(bytearray(1 << 24))


class PrintsForEver(TaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        while True:
            print("again " * 1_000)


def _no_assignor() -> Any:
    return object()


#: One for each kind of misbehaviour, and one with the name of a built-in.
GROUP_ASSIGNORS = [
    GroupAssignorPlugin("group_all_on_first", AllOnFirst),
    GroupAssignorPlugin("group_assigns_nothing", AssignsNothing),
    GroupAssignorPlugin("group_assigns_twice", AssignsTwice),
    GroupAssignorPlugin("group_raises", Raises),
    GroupAssignorPlugin("group_leaves", Leaves),
    GroupAssignorPlugin("group_returns_text", ReturnsText),
    GroupAssignorPlugin("group_garbage_among_members", GarbageAmongMembers),
    GroupAssignorPlugin("group_garbage_among_tasks", GarbageAmongTasks),
    GroupAssignorPlugin("group_unknown_task", UnknownTask),
    GroupAssignorPlugin("group_unknown_member", UnknownMember),
    GroupAssignorPlugin("group_mutates", Mutates),
    GroupAssignorPlugin("group_hangs", Hangs),
    GroupAssignorPlugin("group_dies", Dies),
    GroupAssignorPlugin("group_eats_memory", EatsMemory),
    GroupAssignorPlugin("group_prints_for_ever", PrintsForEver),
    GroupAssignorPlugin("group_makes_no_assignor", _no_assignor),
    GroupAssignorPlugin("Group-Sticky", AllOnFirst),
]
