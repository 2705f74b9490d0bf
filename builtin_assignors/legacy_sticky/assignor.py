"""``legacy_sticky``: Kafka's internal ``LegacyStickyTaskAssignor`` behind the SPI."""

from __future__ import annotations

from assignment_api.java import DEFAULT_JDK, JdkGeneration
from assignment_api.streams import ApplicationMetadata, TaskAssignment, TaskAssignor
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors._steps_taken import SILENT
from builtin_assignors._sticky_steps import (
    PreviousOwners,
    StickySteps,
    client_map_order,
    steps_of,
    to_assignment,
    to_problem,
)
from builtin_assignors.legacy_sticky.algorithm import place_actives, place_standbys
from builtin_assignors.legacy_sticky.racks import LegacyRackSteps

__all__ = ["LegacyStickyTaskAssignor"]


class LegacyStickyTaskAssignor(TaskAssignor):
    """Kafka's ``LegacyStickyTaskAssignor`` of 4.3.1, with identical answers.

    Tasks stay with their clients while the load stays even. Of equally loaded clients the one with more threads is
    preferred. Lags are never read. The order of clients and tasks in the input is the order in which Kafka's leader
    fills its hash maps. It can matter if hash codes collide.

    Args:
        jdk: JDK generation whose hash tables are emulated.
    """

    def __init__(self, jdk: JdkGeneration = DEFAULT_JDK) -> None:
        self._jdk = jdk

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Place every task.

        Raises:
            IllegalAssignmentArgumentError: for more tasks than Kafka can pair (46,341).
            IllegalAssignmentStateError: if the clients have no threads, or one without threads has to be compared.
        """
        return self._decided(application, None)

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        found: list[RuleStep] = []
        return Traced(self._decided(application, found), found, RULE_TEXTS)

    def _decided(self, application: ApplicationMetadata, found: list[RuleStep] | None) -> TaskAssignment:
        problem, ids = to_problem(application, client_map_order, self._jdk)
        previous = PreviousOwners(problem)
        steps: StickySteps = SILENT if found is None else steps_of(problem, ids)
        placement = place_actives(problem, previous, steps)
        racks = LegacyRackSteps.of(application, problem, ids)
        if racks is not None:
            racks.move_actives(placement)
            steps.moved_by_racks(placement)
        place_standbys(problem, previous, placement)
        steps.got_standbys(placement)
        if racks is not None and problem.num_standbys > 0:
            racks.move_standbys(placement)
        if found is not None:
            steps.standbys_moved_by_racks(placement)
            found += steps.taken.steps
        return to_assignment(application, ids, placement)
