"""``sticky``: Kafka's public ``StickyTaskAssignor`` behind the SPI."""

from __future__ import annotations

from assignment_api.java import DEFAULT_JDK, JdkGeneration
from assignment_api.streams import ApplicationMetadata, TaskAssignment, TaskAssignor
from builtin_assignors._sticky_steps import PreviousOwners, to_assignment, to_problem
from builtin_assignors.sticky.algorithm import client_order, place_actives, place_standbys
from builtin_assignors.sticky.racks import move_actives, move_standbys

__all__ = ["StickyTaskAssignor"]


class StickyTaskAssignor(TaskAssignor):
    """Kafka's public ``StickyTaskAssignor`` of 4.3.1 (KIP-924), answer by answer.

    Tasks stay where they were as long as the load stays even; lags are never read. The order of clients and tasks in
    the input is the order in which Kafka's leader fills its hash maps, and can matter where hash codes collide.

    Args:
        jdk: JDK generation whose hash tables are emulated.
    """

    def __init__(self, jdk: JdkGeneration = DEFAULT_JDK) -> None:
        self._jdk = jdk

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Places every task.

        Raises:
            IllegalAssignmentArgumentError: for more tasks than Kafka can pair (46,341).
            NoCapacityError: if the clients have no threads.
        """
        problem, ids = to_problem(application, client_order, self._jdk)
        previous = PreviousOwners(problem)
        placement = place_actives(problem, previous)
        move_actives(application, ids, placement)
        place_standbys(problem, previous, placement)
        move_standbys(application, ids, placement)
        return to_assignment(application, ids, placement)
