"""``sticky``: Kafka's public ``StickyTaskAssignor`` behind the SPI."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from assignment_api.java import DEFAULT_JDK, JdkGeneration
from assignment_api.releases import NEWEST, KafkaRelease, holds, release_in
from assignment_api.streams import ApplicationMetadata, TaskAssignment, TaskAssignor
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors._steps_taken import SILENT
from builtin_assignors._sticky_steps import PreviousOwners, StickySteps, steps_of, to_assignment, to_problem
from builtin_assignors.sticky import kafka_4_3, kafka_4_4
from builtin_assignors.sticky.algorithm import client_order, place_actives, place_standbys
from builtin_assignors.sticky.racks import move_actives, move_standbys
from builtin_assignors.sticky.share import ShareRule

__all__ = ["StickyTaskAssignor"]


class StickyTaskAssignor(TaskAssignor):
    """Kafka's public ``StickyTaskAssignor`` (KIP-924), with the answers of its release, 4.3.1 or 4.4.0.

    Tasks stay with their clients up to a share, which 4.4 rounds up (KAFKA-20198); lags are never read. The order of
    clients and tasks in the input is the order in which Kafka's leader fills its hash maps. It can matter if hash codes
    collide.

    Args:
        jdk: JDK generation whose hash tables are emulated.
        release: ``None``: as configured by ``kafka.release``, else the newest one.
    """

    def __init__(self, jdk: JdkGeneration = DEFAULT_JDK, release: KafkaRelease | None = None) -> None:
        self._jdk = jdk
        self._fixed = release
        self._configure(release)

    def configure(self, configs: Mapping[str, Any]) -> None:
        self._configure(self._fixed or release_in(configs))

    def _configure(self, release: KafkaRelease | None) -> None:
        self._rule = _rule_of(release or NEWEST)

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Place every task.

        Raises:
            IllegalAssignmentArgumentError: for more tasks than Kafka can pair (46,341).
            NoCapacityError: if the clients have no threads; since 4.4 only if a previous client has to be judged.
        """
        return self._decided(application, None)

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        found: list[RuleStep] = []
        return Traced(self._decided(application, found), found, RULE_TEXTS)

    def _decided(self, application: ApplicationMetadata, found: list[RuleStep] | None) -> TaskAssignment:
        problem, ids = to_problem(application, client_order, self._jdk)
        previous = PreviousOwners(problem)
        steps: StickySteps = SILENT if found is None else steps_of(problem, ids)
        placement = place_actives(problem, previous, self._rule, steps)
        move_actives(application, ids, placement)
        steps.moved_by_racks(placement)
        place_standbys(problem, previous, placement)
        steps.got_standbys(placement)
        move_standbys(application, ids, placement)
        if found is not None:
            steps.standbys_moved_by_racks(placement)
            found += steps.taken.steps
        return to_assignment(application, ids, placement)


@cache  # an assignor is created for each rebalance
def _rule_of(release: KafkaRelease) -> ShareRule:
    return kafka_4_4.RULE if holds("sticky_4_4", release) else kafka_4_3.RULE
