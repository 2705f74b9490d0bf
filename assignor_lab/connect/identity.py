"""A worker's identity: one life of its process."""

from __future__ import annotations

import attrs

__all__ = ["WorkerIdentity"]


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
