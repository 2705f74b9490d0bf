"""Upper bound of the time in which a Streams group without events settles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["LAST_CHANGES", "rest_ms"]

#: Number of changes of metadata at the end of a random episode.
LAST_CHANGES = 5

#: Consecutive restarts, sessions and join phases.
_ROUNDS_MS = 15 * 60_000
#: Growth of the changelogs in that time.
_GROWTH_S = 6 * 3_600


def rest_ms(document: Mapping[str, Any]) -> int:
    """Milliseconds after the last event by which the group must have settled.

    Assumes that threads restore all state consecutively, once for each copy, with a probing rebalance for each.
    """
    timings = StreamsTimings.from_mapping(document.get("timings", {}))
    config = document["initial"]["config"]
    copies = 2 + int(config.get("num.standby.replicas", 0))
    load_ms, tasks = 0.0, 0
    for changelog in document["changelogs"].values():
        records = changelog["records"] + changelog.get("backlog_records", 0)
        records += changelog.get("records_per_s", 0) * _GROWTH_S
        size = records * changelog["bytes_per_record"]
        load_ms += 1000 * max(size / timings.restore_bytes_per_s, records / timings.restore_records_per_s)
        tasks += 1
    probing_ms = int(config.get("probing.rebalance.interval.ms", 600_000))
    probes = tasks * copies + 4 if document["protocol"] == "classic" else 0
    roll_ms = sum(
        5 * event["every_ms"] + event["down_ms"] for event in document["events"] if event["type"] == "rolling_restart"
    )
    return int(2 * copies * load_ms + probes * probing_ms + roll_ms) + _ROUNDS_MS + 2 * timings.max_poll_interval_ms
