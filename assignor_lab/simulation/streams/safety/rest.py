"""How long anything can take at most in an episode of a Streams group that is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignor_lab.simulation.streams.timings import Timings

__all__ = ["LAST_CHANGES", "rest_ms"]

#: How often metadata change in the end of a random episode.
LAST_CHANGES = 5

#: Restarts, sessions and join phases, one after the other.
_ROUNDS_MS = 15 * 60_000
#: For how long changelogs grow meanwhile.
_GROWTH_S = 6 * 3_600


def rest_ms(document: Mapping[str, Any]) -> int:
    """Milliseconds after the last event by which the group of an episode has to be at rest.

    All state is loaded by one thread after the other, as often as there may be copies of it, with a probing rebalance
    for each copy.
    """
    timings = Timings.from_mapping(document.get("timings", {}))
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
