"""Descriptions of a connector and of the worker in Connect's REST responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from assignment_api.connect import ConnectorTaskId

__all__ = ["ConnectorInfo", "ServerInfo"]


@attrs.frozen
class ServerInfo:
    """Response to ``GET /``."""

    version: str
    commit: str
    kafka_cluster_id: str


@attrs.frozen
class ConnectorInfo:
    """A connector as configured; ``tasks`` by number. Connect keeps null values."""

    name: str
    config: Mapping[str, str | None]
    tasks: Sequence[ConnectorTaskId]
    type: str
