"""The parts of a cluster that all its workers share."""

from __future__ import annotations

import attrs

from assignor_lab.connect.group.live_group import LiveGroup
from assignor_lab.connect.logs.cluster_logs import ClusterLogs
from assignor_lab.connect.plugins.connector_plugins import ConnectorPlugins

__all__ = ["SharedParts"]


@attrs.frozen(eq=False)
class SharedParts:
    """What all workers of a cluster share.

    Args:
        logs: Logs, topics and the clock.
        group: The group.
        plugins: Connectors that can be run.
    """

    logs: ClusterLogs
    group: LiveGroup
    plugins: ConnectorPlugins
