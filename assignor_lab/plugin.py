"""The lab's own plugin: metrics, families and connectors, through the public hooks."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from assignment_api.plugins.entries import ConnectorPlugin, MetricPlugin, PartitionAssignorPlugin, ScenarioFamily
from assignment_api.plugins.hookspecs import hookimpl
from assignor_lab.clients.plugins import CLIENT_ASSIGNORS
from assignor_lab.groups.streams.metrics import LAB_METRICS
from assignor_lab.scenarios.families import (
    CONNECT_FAMILIES,
    CONSUMER_FAMILIES,
    EPISODE_FAMILIES,
    EVENT_FAMILIES,
    STREAMS_GROUP_FAMILIES,
    streams_4x40,
    streams_histories,
)

__all__ = [
    "assignor_lab_connectors",
    "assignor_lab_consumer_assignors",
    "assignor_lab_metrics",
    "assignor_lab_scenario_families",
]


@hookimpl
def assignor_lab_metrics() -> Sequence[MetricPlugin]:
    """The metrics of this project."""
    return LAB_METRICS


@hookimpl
def assignor_lab_scenario_families() -> Sequence[ScenarioFamily]:
    """The families of this project."""
    return (
        streams_histories(), streams_4x40(), *EVENT_FAMILIES, *EPISODE_FAMILIES, *STREAMS_GROUP_FAMILIES,
        *CONNECT_FAMILIES, *CONSUMER_FAMILIES,
    )  # fmt: skip


@hookimpl
def assignor_lab_connectors() -> Sequence[ConnectorPlugin]:
    """The connectors of this project's live workers; the lab refers to that package only by name."""
    found: Sequence[ConnectorPlugin] = import_module("connect_workers.plugin").CONNECTORS
    return found


@hookimpl
def assignor_lab_consumer_assignors() -> Sequence[PartitionAssignorPlugin]:
    """The strategies of client libraries for Python."""
    return CLIENT_ASSIGNORS
