"""``group_sticky``: the sticky assignor of Kafka 4.3.1's coordinator behind the SPI for Streams groups."""

from __future__ import annotations

from assignment_api import group as api
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._group_sticky_steps import NoProcessError, assigned
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors.group_sticky.algorithm import RULES

__all__ = ["GroupAssignorError", "GroupStickyTaskAssignor"]


class GroupAssignorError(api.GroupAssignorError):
    """The same error as Kafka 4.3 raises it: its exception is not public yet."""

    java_type = "org.apache.kafka.coordinator.group.streams.assignor.TaskAssignorException"


class GroupStickyTaskAssignor(api.TaskAssignor):
    """The group coordinator's ``StickyTaskAssignor`` of Kafka 4.3.1 (KIP-1071), answer by answer.

    Tasks stay with the member that had them, else go to one that had them as standby, as long as nobody gets more than
    an even share; the rest fills the processes with the fewest tasks per member. Standbys likewise. Racks, tags,
    offsets and warm-ups are not looked at. Known faults of that release are part of its answers.

    The order of the members is part of the input: ties are decided by hash order.
    """

    def assign(self, group: api.GroupSpec, topology: api.TopologyDescriber) -> api.GroupAssignment:
        """Places every task; members come in the order of the input.

        Raises:
            GroupAssignorError: if there are tasks and no members.
            InvalidGroupError: where Kafka fails on the number of standbys: it is negative and a member had one, or it
                makes 2**31 standbys or more.
        """
        return _assigned(group, topology)

    def traced(self, group: api.GroupSpec, topology: api.TopologyDescriber) -> Traced[api.GroupAssignment]:
        """The answer of :meth:`assign` and the steps to it; raises as that."""
        found: list[RuleStep] = []
        return Traced(_assigned(group, topology, found), found, RULE_TEXTS)


def _assigned(
    group: api.GroupSpec, topology: api.TopologyDescriber, found: list[RuleStep] | None = None
) -> api.GroupAssignment:
    standbys = group.configs.num_standby_replicas
    if standbys < 0 and any(member.state.standby_tasks for member in group.members.values()):
        raise api.InvalidGroupError(
            f"num.standby.replicas: {standbys}: Kafka 4.3 fails where members had standbys; give a number from 0"
        )
    try:
        return assigned(RULES, group, topology, found)
    except NoProcessError as none:
        raise GroupAssignorError(str(none)) from None
