"""The lab's own plugin: metrics, families and connectors, through the hooks that everybody uses."""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.connectors import Connector
from assignment_api.plugins.entries import ConnectorPlugin, MetricPlugin, ScenarioFamily
from assignment_api.plugins.hookspecs import hookimpl
from assignor_lab.groups.streams.metrics import LAB_METRICS
from assignor_lab.scenarios.families import (
    CONNECT_FAMILIES,
    EPISODE_FAMILIES,
    EVENT_FAMILIES,
    STREAMS_GROUP_FAMILIES,
    streams_4x40,
    streams_histories,
)

__all__ = ["assignor_lab_connectors", "assignor_lab_metrics", "assignor_lab_scenario_families"]


@hookimpl
def assignor_lab_metrics() -> Sequence[MetricPlugin]:
    """The metrics of this project."""
    return LAB_METRICS


@hookimpl
def assignor_lab_scenario_families() -> Sequence[ScenarioFamily]:
    """The families of this project."""
    return (
        streams_histories(), streams_4x40(), *EVENT_FAMILIES, *EPISODE_FAMILIES, *STREAMS_GROUP_FAMILIES,
        *CONNECT_FAMILIES,
    )  # fmt: skip


@hookimpl
def assignor_lab_connectors() -> Sequence[ConnectorPlugin]:
    """The connectors of this project; the file connectors answer to Kafka's class names, too."""
    file, own = "org.apache.kafka.connect.file.", "assignor_lab.connect.connectors."
    return (
        ConnectorPlugin(
            "file_source",
            lambda: _connector("FileSourceConnector"),
            (file + "FileStreamSourceConnector",),
            "A file's lines into a topic.",
        ),
        ConnectorPlugin(
            "file_sink",
            lambda: _connector("FileSinkConnector"),
            (file + "FileStreamSinkConnector",),
            "Topics into a file's lines.",
        ),
        ConnectorPlugin(
            "generator_source",
            lambda: _connector("GeneratorSourceConnector"),
            (own + "GeneratorSourceConnector",),
            "Counts into a topic, one sequence for each task.",
        ),
        ConnectorPlugin(
            "failing_source",
            lambda: _connector("FailingSourceConnector"),
            (own + "FailingSourceConnector",),
            "A generator that fails when it is told to.",
        ),
    )


def _connector(name: str) -> type[Connector]:
    from assignor_lab.connect import connectors

    found: type[Connector] = getattr(connectors, name)
    return found
