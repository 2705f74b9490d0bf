"""The connectors of this project as plugins; each is imported when a worker first makes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assignment_api.plugins.entries import ConnectorPlugin

if TYPE_CHECKING:
    from assignment_api.connectors import Connector

__all__ = ["CONNECTORS"]

#: Kafka's package of the file connectors, which ours answer to, too.
_KAFKA = "org.apache.kafka.connect.file."
#: Configurations that clusters have saved name our connectors by this package, their first home.
_SAVED = "assignor_lab.connect.connectors."


def _connector(name: str) -> type[Connector]:
    from connect_workers import connectors

    found: type[Connector] = getattr(connectors, name)
    return found


CONNECTORS = (
    ConnectorPlugin(
        "file_source",
        lambda: _connector("FileSourceConnector"),
        (_KAFKA + "FileStreamSourceConnector",),
        "A file's lines into a topic.",
    ),
    ConnectorPlugin(
        "file_sink",
        lambda: _connector("FileSinkConnector"),
        (_KAFKA + "FileStreamSinkConnector",),
        "Topics into a file's lines.",
    ),
    ConnectorPlugin(
        "generator_source",
        lambda: _connector("GeneratorSourceConnector"),
        (_SAVED + "GeneratorSourceConnector",),
        "Counts into a topic, one sequence for each task.",
    ),
    ConnectorPlugin(
        "failing_source",
        lambda: _connector("FailingSourceConnector"),
        (_SAVED + "FailingSourceConnector",),
        "A generator that fails on request.",
    ),
)
