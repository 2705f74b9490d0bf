"""``group_sticky_4_4``: the sticky assignor of Kafka 4.4.0's coordinator behind the SPI for Streams groups."""

from __future__ import annotations

from assignment_api.group import GroupAssignment, GroupAssignorError, GroupSpec, TaskAssignor, TopologyDescriber
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._group_sticky_steps import NoProcessError, assigned
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors.group_sticky_4_4.algorithm import RULES

__all__ = ["GroupStickyTaskAssignor"]


class GroupStickyTaskAssignor(TaskAssignor):
    """The group coordinator's ``StickyTaskAssignor`` of Kafka 4.4.0 (KIP-1071, KIP-1357), with identical answers.

    As in 4.3.1, a task stays with its previous member, otherwise it goes to a member that runs it as standby. Neither
    may exceed an even share. The rest fills the processes with the fewest tasks per member. New in 4.4.0:

    * A member that reports an offset for a task also counts as its standby, after those that run it, the greatest
      offset first (KAFKA-20719).
    * A usable standby is no longer overlooked (KAFKA-20899).

    Racks, tags, end offsets and warm-ups are ignored. The order of the members is part of the input: hash order decides
    ties.
    """

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        """Place every task; members come in the order of the input.

        Raises:
            GroupAssignorError: if there are tasks and no members.
            InvalidGroupError: for 2**31 or more standbys, where Kafka fails, too.
        """
        return _assigned(group, topology)

    def traced(self, group: GroupSpec, topology: TopologyDescriber) -> Traced[GroupAssignment]:
        found: list[RuleStep] = []
        return Traced(_assigned(group, topology, found), found, RULE_TEXTS)


def _assigned(group: GroupSpec, topology: TopologyDescriber, found: list[RuleStep] | None = None) -> GroupAssignment:
    try:
        return assigned(RULES, group, topology, found)
    except NoProcessError as none:
        raise GroupAssignorError(str(none)) from None
