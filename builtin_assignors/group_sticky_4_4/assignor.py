"""``group_sticky_4_4``: the sticky assignor of Kafka 4.4.0's coordinator behind the SPI for Streams groups."""

from __future__ import annotations

from assignment_api.group import GroupAssignment, GroupAssignorError, GroupSpec, TaskAssignor, TopologyDescriber
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._group_sticky_steps import NoProcessError, assigned
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors.group_sticky_4_4.algorithm import RULES

__all__ = ["GroupStickyTaskAssignor"]


class GroupStickyTaskAssignor(TaskAssignor):
    """The group coordinator's ``StickyTaskAssignor`` of Kafka 4.4.0 (KIP-1071, KIP-1357), answer by answer.

    As in 4.3.1, tasks stay with the member that has them, else go to one that runs them as standby, as long as nobody
    gets more than an even share; the rest fills the processes with the fewest tasks per member. New is that a member
    which reports an offset for a task counts as its standby, too, after those that run it and the greatest offset
    first (KAFKA-20719); and that a usable standby is not overlooked any more (KAFKA-20899). Racks, tags, end offsets
    and warm-ups are not looked at.

    The order of the members is part of the input: ties are decided by hash order.
    """

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Places every task; members come in the order of the input.

        Raises:
            GroupAssignorError: if there are tasks and no members.
            InvalidGroupError: if there would be 2**31 standbys or more, where Kafka fails, too.
        """
        return _assigned(group, topology)

    def traced(self, group: GroupSpec, topology: TopologyDescriber) -> Traced[GroupAssignment]:
        """The answer of :meth:`assign` and the steps to it; raises as that."""
        found: list[RuleStep] = []
        return Traced(_assigned(group, topology, found), found, RULE_TEXTS)


def _assigned(group: GroupSpec, topology: TopologyDescriber, found: list[RuleStep] | None = None) -> GroupAssignment:
    try:
        return assigned(RULES, group, topology, found)
    except NoProcessError as none:
        raise GroupAssignorError(str(none)) from None
