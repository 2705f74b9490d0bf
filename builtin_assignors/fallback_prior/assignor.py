"""``fallback_prior``: Kafka's internal ``FallbackPriorTaskAssignor`` behind the SPI."""

from __future__ import annotations

from assignment_api.java import DEFAULT_JDK, JdkGeneration
from assignment_api.streams import ApplicationMetadata, TaskAssignment, TaskAssignor
from assignment_api.tracing import Traced
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors._sticky_steps import client_map_order, steps_of, to_assignment, to_problem
from builtin_assignors.fallback_prior.algorithm import place_all
from builtin_assignors.probing_rebalance import probing_deadline_ms

__all__ = ["FallbackPriorTaskAssignor"]


class FallbackPriorTaskAssignor(TaskAssignor):
    """Kafka's ``FallbackPriorTaskAssignor`` of 4.3.1, with identical answers.

    Kafka uses it if it could not fetch the end offsets of the changelogs. Every task stays with its previous owner,
    however uneven that is. Racks are ignored. The leader's own client must rebalance again after
    ``probing.rebalance.interval.ms``.

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
        problem, ids = to_problem(application, client_map_order, self._jdk)
        return to_assignment(application, ids, place_all(problem), probing_deadline_ms(application))

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        problem, ids = to_problem(application, client_map_order, self._jdk)
        steps = steps_of(problem, ids)
        placement = place_all(problem, steps)
        answer = to_assignment(application, ids, placement, probing_deadline_ms(application))
        return Traced(answer, steps.taken.steps, RULE_TEXTS)
