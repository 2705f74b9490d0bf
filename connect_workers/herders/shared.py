"""The parts of a cluster that all its workers share."""

from __future__ import annotations

import attrs

from connect_workers.group.live_group import LiveGroup
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.plugins.connector_plugins import ConnectorPlugins

__all__ = ["SharedParts"]


@attrs.frozen(eq=False)
class SharedParts:
    """Logs, group and plugins of a cluster."""

    logs: ClusterLogs
    group: LiveGroup
    plugins: ConnectorPlugins
