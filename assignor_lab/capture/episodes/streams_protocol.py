"""What a recording of a streams group (KIP-1071) tells besides: ids of its members, and its broker's settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any

from assignor_lab.capture.episodes.instances import instance_of
from assignor_lab.capture.episodes.timeline import MemberChange, Timeline
from assignor_lab.simulation.streams.timings import GROUP_SETTINGS, Timings

__all__ = ["broker_timings", "group_assignment_config", "heartbeat_interval_ms", "member_ids"]

#: A heartbeat comes at most so much later than its interval says.
_LATE_MS = 300
#: Brokers are configured in whole numbers of this.
_STEP_MS = 1_000


def member_ids(timeline: Timeline, instance: str, from_ms: int, names: Mapping[str, str]) -> list[str]:
    """Members of an instance that was started at ``from_ms``, in the order in which they joined.

    Args:
        timeline: The recording.
        instance: The instance.
        from_ms: When it was started.
        names: What client ids begin with, to the instance.
    """
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


def group_assignment_config(timeline: Timeline) -> dict[str, Any]:
    """Configuration of the assignment, which the broker has and not the members."""
    standbys = timeline.group_config.get("streams.num.standby.replicas")
    run = timeline.document.get("run")
    if standbys is None and isinstance(run, Mapping):
        standbys = run.get("standbys")
    try:
        return {} if standbys is None else {"num.standby.replicas": int(standbys)}
    except (TypeError, ValueError):
        return {}


def heartbeat_interval_ms(timeline: Timeline) -> int:
    """The members' heartbeat interval: as configured for the group, or as members wait for one another."""
    told = timeline.group_config.get("streams.heartbeat.interval.ms", "")
    return int(told) if told.isdecimal() else _heartbeat_interval(timeline, Timings().streams_heartbeat_interval_ms)


def broker_timings(timeline: Timeline, names: Mapping[str, str]) -> tuple[dict[str, int], list[str]]:
    """The broker's timings, and sentences about those that were worked out.

    Settings of the group are told; those of the broker are not. Each kill shows between which two values the session
    timeout lies: a member is fenced that long after its last heartbeat, which was at most an interval before the kill.
    """
    found = {
        name: int(timeline.group_config[key])
        for key, name in GROUP_SETTINGS.items()
        if timeline.group_config.get(key, "").isdecimal()
    }
    defaults, told = Timings(), []
    interval = heartbeat_interval_ms(timeline)
    if "streams_heartbeat_interval_ms" not in found and interval != defaults.streams_heartbeat_interval_ms:
        found["streams_heartbeat_interval_ms"] = interval
        told.append(f"the heartbeat interval is not recorded: {interval} ms, as members wait for one another")
    if "streams_session_timeout_ms" not in found:
        session = _session_timeout(_fenced_after(timeline, names), interval, defaults.streams_session_timeout_ms)
        if session != defaults.streams_session_timeout_ms:
            found["streams_session_timeout_ms"] = session
            told.append(f"the session timeout is not recorded: {session} ms, between the values that kills allow")
    return found, told


def _fenced_after(timeline: Timeline, names: Mapping[str, str]) -> Iterator[int]:
    """How long after a kill members of the killed instance were fenced."""
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
    """The roundest value that all kills allow; the default where it is one of them, or where there are none."""
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


def _heartbeat_interval(timeline: Timeline, default_ms: int) -> int:
    """What members wait for that cannot have their tasks yet: most of them ask again after one interval."""
    waits = sorted(
        later.time_ms - before.time_ms
        for before, later in _consecutive(timeline)
        if before.state == "UNRELEASED_TASKS" and not later.event
    )
    if not waits or waits[-1] < _STEP_MS:
        return default_ms  # nobody had to wait for a heartbeat
    usual = int(median(each for each in waits if each >= waits[-1] * 0.7))
    return max(_STEP_MS, round(usual / _STEP_MS) * _STEP_MS)


def _consecutive(timeline: Timeline) -> Iterator[tuple[MemberChange, MemberChange]]:
    """Each change of a member with the next one of the same."""
    before: dict[str, MemberChange] = {}
    for each in timeline.members:
        if each.member in before:
            yield before[each.member], each
        before[each.member] = each
