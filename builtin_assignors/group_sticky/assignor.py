"""``group_sticky``: the sticky assignor of Kafka 4.3.1's coordinator behind the SPI for Streams groups."""

from __future__ import annotations

from assignment_api import group as api
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._group_sticky_steps import NoProcessError, assigned
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors.group_sticky.algorithm import RULES

__all__ = ["GroupAssignorError", "GroupStickyTaskAssignor"]


class GroupAssignorError(api.GroupAssignorError):
    """The same error as raised by Kafka 4.3, where its exception is not public."""

    java_type = "org.apache.kafka.coordinator.group.streams.assignor.TaskAssignorException"


class GroupStickyTaskAssignor(api.TaskAssignor):
    """The group coordinator's ``StickyTaskAssignor`` of Kafka 4.3.1 (KIP-1071), with identical answers.

    A task stays with its previous member, otherwise it goes to a member that had it as standby. Neither may exceed an
    even share. The rest fills the processes with the fewest tasks per member. Standbys follow the same rules. Racks,
    tags, offsets and warm-ups are ignored. Known faults of that release are part of its answers.

    The order of the members is part of the input: hash order decides ties.
    """

    def assign(self, group: api.GroupSpec, topology: api.TopologyDescriber) -> api.GroupAssignment:
        """Place every task; members come in the order of the input.

        Raises:
            GroupAssignorError: if there are tasks and no members.
            InvalidGroupError: if the number of standbys makes Kafka fail: negative while a member had a standby, or
                2**31 standbys or more in total.
        """
        return _assigned(group, topology)

    def traced(self, group: api.GroupSpec, topology: api.TopologyDescriber) -> Traced[api.GroupAssignment]:
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
