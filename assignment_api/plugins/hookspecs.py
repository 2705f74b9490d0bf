"""Hooks that a plugin may implement. Project name of pluggy and entry-point group: ``assignment_api``.

Mark an implementation with :data:`hookimpl`, and declare its module as an entry point::

    [project.entry-points.assignment_api]
    my_assignor = "my_package.plugin"

Each plugin's hooks are called separately, so a wrapper sees its own plugin's results only.
"""

from __future__ import annotations

from collections.abc import Sequence

import pluggy

from assignment_api.connect import ConnectAssignment, Rebalance
from assignment_api.group import GroupAssignment, GroupSpec, TopologyDescriber
from assignment_api.plugins.entries import (
    ConnectAssignorPlugin,
    ConnectorPlugin,
    GroupAssignorPlugin,
    MetricPlugin,
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
    "assignor_lab_group_assignment_computed",
    "assignor_lab_group_assignors",
    "assignor_lab_metrics",
    "assignor_lab_scenario_families",
    "assignor_lab_task_assignors",
    "hookimpl",
]

#: pluggy's project name, and the entry-point group of plugins.
PROJECT_NAME = "assignment_api"

#: Decorator for implementations of the hooks below.
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)

_hookspec = pluggy.HookspecMarker(PROJECT_NAME)


@_hookspec
def assignor_lab_task_assignors() -> Sequence[TaskAssignorPlugin]:  # type: ignore[empty-body]
    """Task assignors for Kafka Streams (KIP-924).

    Called once in each discovery. Return a list or tuple in the order of listings.
    """


@_hookspec
def assignor_lab_connect_assignors() -> Sequence[ConnectAssignorPlugin]:  # type: ignore[empty-body]
    """Assignors of connectors and tasks for Kafka Connect (KIP-415).

    Called once in each discovery. Return a list or tuple in the order of listings.
    """


@_hookspec
def assignor_lab_connectors() -> Sequence[ConnectorPlugin]:  # type: ignore[empty-body]
    """Connectors that ``assignor connect serve`` can run.

    Called once in each discovery. Return a list or tuple in the order of listings.
    """


@_hookspec
def assignor_lab_group_assignors() -> Sequence[GroupAssignorPlugin]:  # type: ignore[empty-body]
    """Broker-side assignors for Streams groups (KIP-1071).

    Called once in each discovery. Return a list or tuple in the order of listings.
    """


@_hookspec
def assignor_lab_metrics() -> Sequence[MetricPlugin]:  # type: ignore[empty-body]
    """Metrics that scoring computes for every answer.

    Called once in each discovery. Return a list or tuple in the order of the columns.
    """


@_hookspec
def assignor_lab_scenario_families() -> Sequence[ScenarioFamily]:  # type: ignore[empty-body]
    """Families of states that are created from a seed.

    Called once in each discovery. Return a list or tuple in the order of listings.
    """


@_hookspec
def assignor_lab_assignment_computed(
    assignor: str,
    application: ApplicationMetadata,
    assignment: TaskAssignment | None,
    error: AssignmentError | None,
    failure: str | None,
) -> None:
    """Observes every answer of any assignor; an implementation may take only some of the arguments.

    Its errors are reported and change nothing; its return value is ignored.

    Args:
        assignor: Name under which the assignor was selected.
        application: The assignor's input, with its lags not yet computed.
        assignment: Its answer, or ``None`` after a failure.
        error: Error that validation found in the answer, or ``None`` without an answer.
        failure: One line with the reason of a failure, or ``None``.
    """


@_hookspec
def assignor_lab_connect_assignment_computed(
    assignor: str, rebalance: Rebalance, assignment: ConnectAssignment | None, failure: str | None
) -> None:
    """Observes every answer to a rebalance of a Connect group; an implementation may take only some of the arguments.

    In an episode these are the rebalances of the simulated group. Errors of the observer are reported and change
    nothing; its return value is ignored.

    Args:
        assignor: Name under which the assignor was selected.
        rebalance: The assignor's input.
        assignment: Its answer, or ``None`` after a failure.
        failure: One line with the reason of a failure, or ``None``.
    """


@_hookspec
def assignor_lab_group_assignment_computed(
    assignor: str,
    group: GroupSpec,
    topology: TopologyDescriber,
    assignment: GroupAssignment | None,
    failure: str | None,
) -> None:
    """Observes every answer of a broker-side assignor; an implementation may take only some of the arguments.

    Its errors are reported and change nothing; its return value is ignored.

    Args:
        assignor: Name under which the assignor was selected.
        group: The members of the input.
        topology: The topology of the input.
        assignment: Its answer, or ``None`` after a failure.
        failure: One line with the reason of a failure, or ``None``.
    """
