"""Conditions under which Kafka's optimiser disables itself; Kafka only logs them.

Kafka: ``RackAwareTaskAssignor.canEnableRackAwareAssignor`` and ``TaskAssignmentUtils``, which differ.
"""

from __future__ import annotations

from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.configs import RACK_AWARE_STRATEGY_NONE
from assignment_api.streams.tasks import TaskInfo
from assignment_api.utils.rack_aware.task_racks import Partitions, task_racks

__all__ = ["internal_reason_against", "public_reason_against"]


def internal_reason_against(application: ApplicationMetadata) -> str | None:
    """Reason why Kafka's internal assignors ignore racks, or ``None``.

    One client or replica without a rack is enough. Changelogs count only with standbys configured, but then for active
    tasks, too.
    """
    if application.assignment_configs().rack_aware_assignment_strategy == RACK_AWARE_STRATEGY_NONE:
        return "the strategy is none"
    racks = task_racks(application.task_infos())
    reason = _client_without_rack(application) or racks.missing(TaskInfo.source_partitions)
    if reason is None and application.assignment_configs().num_standby_replicas != 0:
        reason = racks.missing(TaskInfo.changelog_partitions)
    return reason


def public_reason_against(application: ApplicationMetadata, partitions: Partitions) -> str | None:
    """Reason why the public utilities do nothing, or ``None``.

    Both costs must be configured; an override does not replace that.

    Args:
        partitions: Selects a task's partitions that need racks.
    """
    configs = application.assignment_configs()
    if configs.rack_aware_assignment_strategy == RACK_AWARE_STRATEGY_NONE:
        return "the strategy is none"
    if configs.rack_aware_traffic_cost is None:
        return "rack.aware.assignment.traffic_cost is not configured"
    if configs.rack_aware_non_overlap_cost is None:
        return "rack.aware.assignment.non_overlap_cost is not configured"
    return _client_without_rack(application) or task_racks(application.task_infos()).missing(partitions)


def _client_without_rack(application: ApplicationMetadata) -> str | None:
    for process, client in application.streams_client_states().items():
        if client.rack_id is None:
            return f"client {process} has no rack"
    return None
