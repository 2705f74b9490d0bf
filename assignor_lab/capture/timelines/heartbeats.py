"""Heartbeat interval of the members of a streams group (KIP-1071)."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from assignor_lab.capture.timelines.timeline import MemberChange, RecordedTimeline
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["heartbeat_interval_ms"]

#: Brokers' intervals are multiples of this.
_STEP_MS = 1_000


def heartbeat_interval_ms(timeline: RecordedTimeline) -> int:
    """As configured, or as members' waits show it."""
    configured = timeline.group_config.get("streams.heartbeat.interval.ms", "")
    return (
        int(configured)
        if configured.isdecimal()
        else _heartbeat_interval(timeline, StreamsTimings().streams_heartbeat_interval_ms)
    )


def _heartbeat_interval(timeline: RecordedTimeline, default_ms: int) -> int:
    """Members whose tasks are not released yet mostly send the next heartbeat after one interval."""
    waits = sorted(
        later.time_ms - before.time_ms
        for before, later in _consecutive(timeline)
        if before.state == "UNRELEASED_TASKS" and not later.event
    )
    if not waits or waits[-1] < _STEP_MS:
        return default_ms  # no member waited for a heartbeat
    usual = int(median(each for each in waits if each >= waits[-1] * 0.7))
    return max(_STEP_MS, round(usual / _STEP_MS) * _STEP_MS)


def _consecutive(timeline: RecordedTimeline) -> Iterator[tuple[MemberChange, MemberChange]]:
    before: dict[str, MemberChange] = {}
    for each in timeline.members:
        if each.member in before:
            yield before[each.member], each
        before[each.member] = each
