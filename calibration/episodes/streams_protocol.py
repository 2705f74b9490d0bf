"""Further facts of a streams group's recording (KIP-1071): ids of its members, and its broker's settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assignor_lab.capture.timelines.heartbeats import heartbeat_interval_ms
from assignor_lab.capture.timelines.instances import instance_of
from assignor_lab.capture.timelines.timeline import RecordedTimeline
from assignor_lab.simulation.streams.timings import GROUP_SETTINGS, StreamsTimings

__all__ = ["broker_timings", "group_assignment_config", "member_ids"]

#: Longest delay of a heartbeat beyond its interval.
_LATE_MS = 300


def member_ids(timeline: RecordedTimeline, instance: str, from_ms: int, names: Mapping[str, str]) -> list[str]:
    """Members of an instance that was started at ``from_ms``, in the order of their joins."""
    later = [each.time_ms for each in timeline.done if each.type == "start" and each.instance == instance]
    until = min((time for time in later if time > from_ms), default=None)
    return [
        each.member
        for each in timeline.members
        if each.event == "joins"
        and from_ms <= each.time_ms
        and (until is None or each.time_ms < until)
        and instance_of(timeline.clients.get(each.member, ""), names) == instance
    ]


def group_assignment_config(timeline: RecordedTimeline) -> dict[str, Any]:
    standbys = timeline.group_config.get("streams.num.standby.replicas")
    run = timeline.document.get("run")
    if standbys is None and isinstance(run, Mapping):
        standbys = run.get("standbys")
    try:
        return {} if standbys is None else {"num.standby.replicas": int(standbys)}
    except (TypeError, ValueError):
        return {}


def broker_timings(timeline: RecordedTimeline, names: Mapping[str, str]) -> tuple[dict[str, int], list[str]]:
    """The broker's timings, and sentences about computed ones.

    The recording lacks the broker's settings. Each kill bounds the session timeout: a member is fenced one timeout
    after its last heartbeat, at most an interval before the kill.
    """
    found = {
        name: int(timeline.group_config[key])
        for key, name in GROUP_SETTINGS.items()
        if timeline.group_config.get(key, "").isdecimal()
    }
    defaults, notes = StreamsTimings(), []
    interval = heartbeat_interval_ms(timeline)
    if "streams_heartbeat_interval_ms" not in found and interval != defaults.streams_heartbeat_interval_ms:
        found["streams_heartbeat_interval_ms"] = interval
        notes.append(f"the heartbeat interval is not recorded: {interval} ms, as members wait for one another")
    if "streams_session_timeout_ms" not in found:
        session = _session_timeout(_fenced_after(timeline, names), interval, defaults.streams_session_timeout_ms)
        if session != defaults.streams_session_timeout_ms:
            found["streams_session_timeout_ms"] = session
            notes.append(f"the session timeout is not recorded: {session} ms, between the values that kills allow")
    return found, notes


def _fenced_after(timeline: RecordedTimeline, names: Mapping[str, str]) -> Iterator[int]:
    for each in timeline.members:
        if not each.event.startswith("fenced"):
            continue
        instance = instance_of(timeline.clients.get(each.member, ""), names)
        kills = [
            done.time_ms
            for done in timeline.done
            if done.type == "crash" and done.instance == instance and done.time_ms <= each.time_ms
        ]
        if kills:
            yield each.time_ms - kills[-1]


def _session_timeout(fenced_after: Iterable[int], interval_ms: int, default_ms: int) -> int:
    """The roundest value that all kills allow; preferably the default."""
    waits = list(fenced_after)
    if not waits:
        return default_ms
    least, most = max(waits) - _LATE_MS, min(waits) + interval_ms + _LATE_MS
    if least <= default_ms <= most:
        return default_ms
    for step in (10_000, 5_000, 1_000, 500, 100):
        value = math.ceil(least / step) * step
        if value <= most:
            return value
    return max(waits)
