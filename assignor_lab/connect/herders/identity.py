"""A worker's identity, and the parts of a cluster that all its workers share."""

from __future__ import annotations

import attrs

from assignor_lab.connect.group.live_group import LiveGroup
from assignor_lab.connect.logs.cluster_logs import ClusterLogs
from assignor_lab.connect.plugins.connector_plugins import ConnectorPlugins

__all__ = ["SharedParts", "WorkerIdentity"]


@attrs.frozen
class WorkerIdentity:
    """One life of a worker.

    Args:
        process: Name of its process, once in the cluster's life.
        worker_id: ``host:port`` of the worker.
        url: Its REST URL.
    """

    process: str
    worker_id: str
    url: str


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
