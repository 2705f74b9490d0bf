"""Upper bound of the time in which a Streams group without events settles."""

from __future__ import annotations

from assignment_api.streams.configs import NUM_STANDBY_REPLICAS, PROBING_REBALANCE_INTERVAL_MS
from assignor_lab.model.streams_episodes import StreamsEpisodeOutline
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["LAST_CHANGES", "rest_ms"]

#: Number of changes of metadata at the end of a random episode.
LAST_CHANGES = 5

#: Consecutive restarts, sessions and join phases.
_ROUNDS_MS = 15 * 60_000
#: Growth of the changelogs in that time.
_GROWTH_S = 6 * 3_600


def rest_ms(episode: StreamsEpisodeOutline) -> int:
    """Milliseconds after the last event by which the group must have settled.

    Assumes that threads restore all state consecutively, once for each copy, with a probing rebalance for each.
    """
    timings = StreamsTimings.from_mapping(episode.timings or {})
    config = episode.initial.config
    copies = 2 + _number(config.get(NUM_STANDBY_REPLICAS), 0)
    load_ms, tasks = 0.0, 0
    for changelog in (episode.changelogs or {}).values():
        records = changelog.records + (changelog.backlog_records or 0) + (changelog.records_per_s or 0) * _GROWTH_S
        size = records * changelog.bytes_per_record
        load_ms += 1000 * max(size / timings.restore_bytes_per_s, records / timings.restore_records_per_s)
        tasks += 1
    probing_ms = _number(config.get(PROBING_REBALANCE_INTERVAL_MS), 600_000)
    probes = tasks * copies + 4 if episode.protocol == "classic" else 0
    rolls = [event.details for event in episode.events if event.type == "rolling_restart"]
    roll_ms = sum(5 * each.every_ms + each.down_ms for each in rolls)
    return int(2 * copies * load_ms + probes * probing_ms + roll_ms) + _ROUNDS_MS + 2 * timings.max_poll_interval_ms


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) else default
