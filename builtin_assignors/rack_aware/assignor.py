"""``rack_aware``: Kafka's default assignor with rack-aware optimisation, and the reason if that is impossible."""

from __future__ import annotations

import attrs

from assignment_api import ApplicationMetadata, AssignmentConfigs, TaskAssignment, TaskAssignor
from assignment_api.last_result import keeps_last
from assignment_api.streams.configs import RACK_AWARE_STRATEGY_MIN_TRAFFIC, RACK_AWARE_STRATEGY_NONE
from assignment_api.tracing import Traced
from assignment_api.utils.rack_aware import internal_reason_against
from builtin_assignors.high_availability import HighAvailabilityTaskAssignor

__all__ = ["RackAwareTaskAssignor"]


class RackAwareTaskAssignor(TaskAssignor):
    """``high_availability`` under the same configuration, except that strategy ``none`` means ``min_traffic``.

    Kafka silently disables rack awareness if one client or one replica has no rack. The answer then ignores racks, and
    its remarks name the missing ones (KIP-925; Kafka: ``RackAwareTaskAssignor.canEnableRackAwareAssignor``).
    """

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Place every task as ``high_availability`` does under the effective strategy; raises the same errors."""
        aware = _with_racks(application)
        return _remarked(aware, HighAvailabilityTaskAssignor().assign(aware))

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        aware = _with_racks(application)
        traced = HighAvailabilityTaskAssignor().traced(aware)
        return attrs.evolve(traced, answer=_remarked(aware, traced.answer))


def _remarked(application: ApplicationMetadata, answer: TaskAssignment) -> TaskAssignment:
    reason = internal_reason_against(application)
    if reason is None:
        return answer
    return attrs.evolve(answer, remarks=(f"racks were not used: {reason}",))


def _with_racks(application: ApplicationMetadata) -> ApplicationMetadata:
    configs = application.assignment_configs()
    if configs.rack_aware_assignment_strategy != RACK_AWARE_STRATEGY_NONE:
        return application
    return application.with_configs(_at_min_traffic(configs))


@keeps_last  # states of a group share their configuration
def _at_min_traffic(configs: AssignmentConfigs) -> AssignmentConfigs:
    return attrs.evolve(configs, rack_aware_assignment_strategy=RACK_AWARE_STRATEGY_MIN_TRAFFIC)
