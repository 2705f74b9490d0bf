"""A worker's identity: one life of its process."""

from __future__ import annotations

import attrs

__all__ = ["WorkerIdentity"]


@attrs.frozen
class WorkerIdentity:
    """One life of a worker."""

    process: str
    worker_id: str
    url: str
