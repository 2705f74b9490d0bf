"""``sticky``: Kafka's public ``StickyTaskAssignor`` behind the SPI."""

from __future__ import annotations

from assignment_api.java import DEFAULT_JDK, JdkGeneration
from assignment_api.streams import ApplicationMetadata, TaskAssignment, TaskAssignor
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors._sticky_steps import PreviousOwners, steps_of, to_assignment, to_problem
from builtin_assignors.sticky.algorithm import client_order, place_actives, place_standbys
from builtin_assignors.sticky.racks import move_actives, move_standbys

__all__ = ["StickyTaskAssignor"]


class StickyTaskAssignor(TaskAssignor):
    """Kafka's public ``StickyTaskAssignor`` of 4.3.1 (KIP-924), with identical answers.

    Tasks stay with their clients while the load stays even; lags are never read. The order of clients and tasks in the
    input is the order in which Kafka's leader fills its hash maps. It can matter if hash codes collide.

    Args:
        jdk: JDK generation whose hash tables are emulated.
    """

    def __init__(self, jdk: JdkGeneration = DEFAULT_JDK) -> None:
        self._jdk = jdk

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Place every task.

        Raises:
            IllegalAssignmentArgumentError: for more tasks than Kafka can pair (46,341).
            NoCapacityError: if the clients have no threads.
        """
        return self._decided(application, None)

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        found: list[RuleStep] = []
        return Traced(self._decided(application, found), found, RULE_TEXTS)

    def _decided(self, application: ApplicationMetadata, found: list[RuleStep] | None) -> TaskAssignment:
        problem, ids = to_problem(application, client_order, self._jdk)
        previous = PreviousOwners(problem)
        steps = None if found is None else steps_of(problem, ids)
        placement = place_actives(problem, previous, steps)
        move_actives(application, ids, placement)
        if steps is not None:
            steps.moved_by_racks(placement)
        place_standbys(problem, previous, placement)
        if steps is not None:
            steps.got_standbys(placement)
        move_standbys(application, ids, placement)
        if steps is not None and found is not None:
            steps.standbys_moved_by_racks(placement)
            found += steps.taken.steps
        return to_assignment(application, ids, placement)
