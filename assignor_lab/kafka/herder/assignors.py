"""Assignors of leading workers: one for each protocol (Kafka: ``IncrementalCooperativeAssignor``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.connect import MAX_DELAY_KEY, ConnectProtocol
from assignor_lab.kafka.herder.assignment import DowngradeRule

__all__ = ["BUILTIN_ASSIGNORS", "assignor_configs", "assignor_names"]

#: Default assignor of each protocol. ``compatible`` and ``sessioned`` share one assignor in Kafka: its state survives a
#: change between them.
BUILTIN_ASSIGNORS: Mapping[ConnectProtocol, str] = {
    ConnectProtocol.EAGER: "connect_eager",
    ConnectProtocol.COMPATIBLE: "connect_incremental",
    ConnectProtocol.SESSIONED: "connect_incremental",
    ConnectProtocol.STATIC: "connect_static",
}


def assignor_names(selector: str | None = None) -> dict[ConnectProtocol, str]:
    """Name of the assignor for each protocol.

    Args:
        selector: An assignor for every protocol except ``eager``, under which members report no jobs; Kafka's own if
            not given.
    """
    names = dict(BUILTIN_ASSIGNORS)
    if selector is not None:
        names.update({protocol: selector for protocol in ConnectProtocol if protocol.is_incremental})
    return names


def assignor_configs(max_delay_ms: int, downgrade: DowngradeRule, configs: Mapping[str, object]) -> dict[str, Any]:
    """Configuration of a worker for its assignors; ``configs``: further keys."""
    return {MAX_DELAY_KEY: max_delay_ms, "assignor.connect_eager.downgrade": downgrade, **configs}
