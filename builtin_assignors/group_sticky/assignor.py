"""``group_sticky``: the sticky assignor of Kafka's group coordinator behind the SPI for Streams groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api import group as api
from assignment_api.releases import NEWEST, KafkaRelease, holds, release_in
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._group_sticky_steps import NoProcessError, assigned
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors.group_sticky import kafka_4_3, kafka_4_4

__all__ = ["GroupAssignorError", "GroupStickyTaskAssignor"]


class GroupAssignorError(api.GroupAssignorError):
    """The same error as raised by Kafka 4.3, where its exception is not public."""

    java_type = "org.apache.kafka.coordinator.group.streams.assignor.TaskAssignorException"


class GroupStickyTaskAssignor(api.TaskAssignor):
    """The group coordinator's ``StickyTaskAssignor`` (KIP-1071), with the answers of its release, 4.3.1 or 4.4.0.

    A task stays with its previous member, otherwise it goes to a member that had it as standby. Neither may exceed an
    even share. The rest fills the processes with the fewest tasks per member. Standbys follow the same rules. Known
    faults of a release are part of its answers. Since 4.4 (KIP-1357):

    * A member that reports an offset for a task also counts as its standby, after those that run it, the greatest
      offset first (KAFKA-20719).
    * A usable standby is no longer overlooked (KAFKA-20899).

    Racks, tags, end offsets and warm-ups are ignored. The order of the members is part of the input: hash order decides
    ties.

    Args:
        release: ``None``: as configured by ``kafka.release``, else the newest one.
    """

    def __init__(self, release: KafkaRelease | None = None) -> None:
        self._fixed = release
        self._configure(release)

    def configure(self, configs: Mapping[str, Any]) -> None:
        self._configure(self._fixed or release_in(configs))

    def _configure(self, release: KafkaRelease | None) -> None:
        self._is_newer = holds("group_sticky_4_4", release or NEWEST)

    def assign(self, group: api.GroupSpec, topology: api.TopologyDescriber) -> api.GroupAssignment:
        """Place every task; members come in the order of the input.

        Raises:
            GroupAssignorError: if there are tasks and no members.
            InvalidGroupError: if the number of standbys makes Kafka fail: 2**31 standbys or more in total; up to 4.3
                also a negative number while a member had a standby.
        """
        return self._assigned(group, topology)

    def traced(self, group: api.GroupSpec, topology: api.TopologyDescriber) -> Traced[api.GroupAssignment]:
        found: list[RuleStep] = []
        return Traced(self._assigned(group, topology, found), found, RULE_TEXTS)

    def _assigned(
        self, group: api.GroupSpec, topology: api.TopologyDescriber, found: list[RuleStep] | None = None
    ) -> api.GroupAssignment:
        rules, error = kafka_4_4.RULES, api.GroupAssignorError
        if not self._is_newer:
            rules, error = kafka_4_3.RULES, GroupAssignorError
            standbys = group.configs.num_standby_replicas
            if standbys < 0 and any(member.state.standby_tasks for member in group.members.values()):
                raise api.InvalidGroupError(
                    f"num.standby.replicas: {standbys}: Kafka 4.3 fails where members had standbys; give a number "
                    "from 0"
                )
        try:
            return assigned(rules, group, topology, found)
        except NoProcessError as none:
            raise error(str(none)) from None
