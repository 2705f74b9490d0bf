"""Errors of a Connect worker's log."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = ["GarbledMessageError", "MergedWorkersError", "NoRoundError"]


class GarbledMessageError(AssignorLabError):
    """A line starts as a message of Kafka's, but continues otherwise."""


class NoRoundError(AssignorLabError):
    """No log holds a rebalance that its worker led, with the bytes received and sent."""


class MergedWorkersError(AssignorLabError):
    """Lines of several workers are merged, and nothing in them separates the workers."""

    def __init__(self, file: str, worker: str) -> None:
        super().__init__(
            f"{file}: the lines of several workers with client.id {worker} are merged, and they cannot be told apart: "
            "give one log for each worker, or a merged log with prefixes (kubectl logs --prefix), or with DEBUG for "
            "org.apache.kafka.connect.runtime.distributed"
        )
