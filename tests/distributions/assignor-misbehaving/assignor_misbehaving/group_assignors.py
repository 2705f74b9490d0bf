"""Broker-side assignors that do what no assignor should."""

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
    """Everything on the first member: bad, and allowed."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Everything on the first member."""
        return GroupAssignment({next(iter(group.members)): MemberAssignment(_everything(topology))})


class GoesByTags(TaskAssignor):
    """Everything on the member with the last value of the first tag that the group spreads over; else on the first."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Everything on one member."""
        tags = group.configs.rack_aware_assignment_tags

        def value(member: str) -> str:
            return group.members[member].metadata.client_tags.get(tags[0], "") if tags else ""

        return GroupAssignment({max(group.members, key=value): MemberAssignment(_everything(topology))})


class AssignsNothing(TaskAssignor):
    """Leaves all tasks out, which Kafka does not notice."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Nothing for anybody."""
        return GroupAssignment({})


class AssignsTwice(TaskAssignor):
    """Everything active on every member, which Kafka does not notice either."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Everything on everybody."""
        return GroupAssignment({member: MemberAssignment(_everything(topology)) for member in group.members})


class Raises(TaskAssignor):
    """Raises an error of its own."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Raises."""
        raise RuntimeError("no target today </script>\x1b[2J[bold]")


class Leaves(TaskAssignor):
    """Tries to end the process."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Leaves."""
        sys.exit("gone")


class ReturnsText(TaskAssignor):
    """Returns something else than an answer."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Returns a text."""
        garbage: Any = "garbage"
        return garbage  # type: ignore[no-any-return]


class GarbageAmongMembers(TaskAssignor):
    """Gives garbage as the target of the first member."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Garbage for the first member."""
        garbage: Any = "garbage"
        return GroupAssignment({next(iter(group.members)): garbage})


class GarbageAmongTasks(TaskAssignor):
    """Gives the first member a partition that is no number."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Garbage among the partitions, past the value's own checks."""
        target = MemberAssignment(_everything(topology))
        object.__setattr__(target, "active_tasks", MappingProxyType({topology.subtopologies()[0]: (0, "garbage")}))
        return GroupAssignment({next(iter(group.members)): target})


class UnknownTask(TaskAssignor):
    """Gives out a task that the topology does not have."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """One task too many."""
        first = topology.subtopologies()[0]
        return GroupAssignment({next(iter(group.members)): MemberAssignment({first: [10**6]})})


class UnknownMember(TaskAssignor):
    """Gives tasks to a member that is not there."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Everything on nobody."""
        return GroupAssignment({"\x1b[31mnobody": MemberAssignment(_everything(topology))})


class Mutates(TaskAssignor):
    """Changes its input, then gives an answer that would be right without."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Everything on the first member, which it made believe to have had everything before."""
        first = next(iter(group.members))
        target = MemberAssignment(_everything(topology))
        object.__setattr__(group.members[first].state, "active_tasks", target.active_tasks)
        object.__setattr__(group.configs, "num_standby_replicas", 7)
        return GroupAssignment({first: target})


class Hangs(TaskAssignor):
    """Never answers."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Sleeps."""
        while True:
            time.sleep(3_600)


class Dies(TaskAssignor):
    """Ends its process."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Ends its process without a word."""
        os._exit(7)


class EatsMemory(TaskAssignor):
    """Wants more memory than there is."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Wants all memory, and holds on to it."""
        held = []
        while True:
            held.append(bytearray(1 << 24))


class PrintsForEver(TaskAssignor):
    """Prints without end."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Prints."""
        while True:
            print("again " * 1_000)


def _no_assignor() -> Any:
    return object()


#: One for each way to misbehave, and one that takes the name of a built-in.
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
