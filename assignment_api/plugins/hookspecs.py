"""Hooks of plugins, each called separately. Entry-point group: ``assignment_api``.

Mark implementations with :data:`hookimpl`, and declare their module as an entry point::

    [project.entry-points.assignment_api]
    my_assignor = "my_package.plugin"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assignment_api.connect import ConnectAssignment, Rebalance
    from assignment_api.consumer import ConsumerGroupState, PartitionAssignment, SubscribedGroup
    from assignment_api.group import GroupAssignment, GroupSpec, TopologyDescriber
    from assignment_api.plugins.entries import (
        ConnectAssignorPlugin,
        ConnectorPlugin,
        GroupAssignorPlugin,
        MetricPlugin,
        PartitionAssignorPlugin,
        ScenarioFamily,
        TaskAssignorPlugin,
    )
    from assignment_api.streams.application import ApplicationMetadata
    from assignment_api.streams.assignment import AssignmentError, TaskAssignment

__all__ = [
    "PROJECT_NAME",
    "assignor_lab_assignment_computed",
    "assignor_lab_connect_assignment_computed",
    "assignor_lab_connect_assignors",
    "assignor_lab_connectors",
    "assignor_lab_consumer_assignors",
    "assignor_lab_consumer_group_assignors",
    "assignor_lab_group_assignment_computed",
    "assignor_lab_group_assignors",
    "assignor_lab_metrics",
    "assignor_lab_partition_assignment_computed",
    "assignor_lab_scenario_families",
    "assignor_lab_share_group_assignors",
    "assignor_lab_task_assignors",
    "hookimpl",
]

#: pluggy's project name, and the entry-point group.
PROJECT_NAME = "assignment_api"

#: Decorator of implementations.
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)

_hookspec = pluggy.HookspecMarker(PROJECT_NAME)


@_hookspec
def assignor_lab_task_assignors() -> Sequence[TaskAssignorPlugin]:  # type: ignore[empty-body]
    """Task assignors for Kafka Streams (KIP-924).

    Called once in each discovery; a list or tuple in the order of listings.
    """


@_hookspec
def assignor_lab_connect_assignors() -> Sequence[ConnectAssignorPlugin]:  # type: ignore[empty-body]
    """Assignors for Kafka Connect (KIP-415).

    Called once in each discovery; a list or tuple in order.
    """


@_hookspec
def assignor_lab_connectors() -> Sequence[ConnectorPlugin]:  # type: ignore[empty-body]
    """Connectors for ``assignor connect serve``.

    Called once in each discovery; a list or tuple in order.
    """


@_hookspec
def assignor_lab_group_assignors() -> Sequence[GroupAssignorPlugin]:  # type: ignore[empty-body]
    """Broker-side assignors for Streams groups (KIP-1071).

    Called once in each discovery; a list or tuple in order.
    """


@_hookspec
def assignor_lab_consumer_assignors() -> Sequence[PartitionAssignorPlugin]:  # type: ignore[empty-body]
    """Client-side assignors of consumer groups (KIP-429).

    Called once in each discovery; a list or tuple in order.
    """


@_hookspec
def assignor_lab_consumer_group_assignors() -> Sequence[PartitionAssignorPlugin]:  # type: ignore[empty-body]
    """Broker-side assignors of consumer groups (KIP-848).

    Called once in each discovery; a list or tuple in order.
    """


@_hookspec
def assignor_lab_share_group_assignors() -> Sequence[PartitionAssignorPlugin]:  # type: ignore[empty-body]
    """Broker-side assignors of share groups (KIP-932).

    Called once in each discovery; a list or tuple in order.
    """


@_hookspec
def assignor_lab_metrics() -> Sequence[MetricPlugin]:  # type: ignore[empty-body]
    """Metrics of every answer, in the order of columns.

    Called once in each discovery; a list or tuple in order.
    """


@_hookspec
def assignor_lab_scenario_families() -> Sequence[ScenarioFamily]:  # type: ignore[empty-body]
    """Families of states that are created from a seed.

    Called once in each discovery; a list or tuple in order.
    """


@_hookspec
def assignor_lab_assignment_computed(
    assignor: str,
    application: ApplicationMetadata,
    assignment: TaskAssignment | None,
    error: AssignmentError | None,
    failure: str | None,
) -> None:
    """Observe every answer of any task assignor; take any of the arguments.

    Errors are reported and change nothing; the result is ignored.

    Args:
        assignor: Name of its selection.
        application: The input, with lags not yet computed.
        assignment: ``None`` after a failure.
        error: Of validation; ``None`` without an answer.
        failure: One line with its reason, or ``None``.
    """


@_hookspec
def assignor_lab_connect_assignment_computed(
    assignor: str, rebalance: Rebalance, assignment: ConnectAssignment | None, failure: str | None
) -> None:
    """Observe every answer to a Connect rebalance, in episodes to simulated ones.

    ``rebalance`` is the input; other arguments and effects are those of ``assignor_lab_assignment_computed``.
    """


@_hookspec
def assignor_lab_group_assignment_computed(
    assignor: str,
    group: GroupSpec,
    topology: TopologyDescriber,
    assignment: GroupAssignment | None,
    failure: str | None,
) -> None:
    """Observe every answer of a broker-side assignor.

    ``group`` and ``topology`` are the input; other arguments and effects are those of
    ``assignor_lab_assignment_computed``.
    """


@_hookspec
def assignor_lab_partition_assignment_computed(
    assignor: str,
    group: ConsumerGroupState | SubscribedGroup,
    assignment: PartitionAssignment | None,
    failure: str | None,
) -> None:
    """Observe every answer of an assignor of consumer groups and share groups.

    ``group`` is the input; other arguments and effects are those of ``assignor_lab_assignment_computed``.
    """
