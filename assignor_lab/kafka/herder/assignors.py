"""The assignors that workers lead with: one for each protocol (Kafka: ``IncrementalCooperativeAssignor``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.connect import MAX_DELAY_KEY, ConnectProtocol
from assignor_lab.kafka.herder.assignment import DowngradeRule

__all__ = ["BUILTIN_ASSIGNORS", "assignor_configs", "assignor_names"]

#: What leads a group of each protocol, if nothing else is chosen. ``compatible`` and ``sessioned`` are one assignor in
#: Kafka: what it remembers survives the change between them.
BUILTIN_ASSIGNORS: Mapping[ConnectProtocol, str] = {
    ConnectProtocol.EAGER: "connect_eager",
    ConnectProtocol.COMPATIBLE: "connect_incremental",
    ConnectProtocol.SESSIONED: "connect_incremental",
    ConnectProtocol.STATIC: "connect_static",
}


def assignor_names(selector: str | None = None) -> dict[ConnectProtocol, str]:
    """What leads a group of each protocol.

    Args:
        selector: An assignor for every protocol but ``eager``, whose members report nothing; Kafka's own if not given.
    """
    names = dict(BUILTIN_ASSIGNORS)
    if selector is not None:
        names.update({protocol: selector for protocol in ConnectProtocol if protocol.is_incremental})
    return names


def assignor_configs(max_delay_ms: int, downgrade: DowngradeRule, configs: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a worker as its assignors get it; ``configs``: further keys."""
    return {MAX_DELAY_KEY: max_delay_ms, "assignor.connect_eager.downgrade": downgrade, **configs}
