"""The constants of the simulation, derived from recordings.

Each constant is a median over all measurements in all recordings; none is fitted to one recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median, quantiles

import attrs

from assignor_lab.capture.timelines.heartbeats import heartbeat_interval_ms
from assignor_lab.capture.timelines.instances import first_after, instance_of
from assignor_lab.capture.timelines.timeline import MemberChange, RecordedTimeline, TimelineGeneration, Transfer
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["MANY_RECORDS", "Derived", "derive_constants"]

#: Kafka's default, and the interval of all recordings.
_HEARTBEAT_MS = 3_000
#: Smaller loads take as long as one record; larger ones show the rate.
_FEW, MANY_RECORDS = 3_000, 100_000
#: Limit for a backlog that shows a rate.
_WORKING_OFF_MS = 40_000
_PROBING_MS = 10_000
#: Later events have another cause than the assignment.
_SOON_MS = 2_000
#: A faster restore was a hand-over within the instance.
_RECYCLED_MS = 50


@attrs.frozen
class Derived:
    """A constant; no quartiles for fewer than two measurements."""

    name: str
    value: int
    count: int
    quartiles: tuple[float, float] | None


_Measure = Callable[[RecordedTimeline], Iterable[float]]


def derive_constants(timelines: Sequence[RecordedTimeline]) -> list[Derived]:
    """Leaves out constants that recordings do not show."""
    found = []
    for name, measure in _MEASURES.items():
        values = sorted(value for timeline in timelines for value in measure(timeline))
        if values:
            found.append(_derived(name, values))
    answered = sorted(value for timeline in timelines for value in _acknowledgements(timeline, "UNREVOKED_TASKS"))
    if len(answered) > 1:
        low, _, high = quantiles(answered, n=4)
        found.append(Derived("acknowledge_spread_ms", round(high - low), len(answered), None))
    created = [value for timeline in timelines for value in _topics_seen(timeline)]
    if created:
        found.append(Derived("broker_topics_ms", min(created), len(created), None))
    alone = sorted(value for timeline in timelines for value in _alone(timeline))
    together = sorted(value for timeline in timelines for value in _together(timeline))
    found += _rates(alone, together, timelines)
    order = [field.name for field in attrs.fields(StreamsTimings)]
    return sorted(found, key=lambda each: order.index(each.name))


def _derived(name: str, values: Sequence[float]) -> Derived:
    quartiles = quantiles(values, n=4) if len(values) > 1 else None
    between = None if quartiles is None else (round(quartiles[0], 1), round(quartiles[2], 1))
    return Derived(name, round(median(values)), len(values), between)


def _starts(timeline: RecordedTimeline) -> Iterator[float]:
    """Until it logs the start of its threads."""
    for done in timeline.done:
        begun = first_after(timeline.begun, timeline, done) if done.type == "start" else None
        if begun is not None:
            yield begun - done.time_ms


def _joins(timeline: RecordedTimeline) -> Iterator[float]:
    """From there until its first join request that started a rebalance."""
    clients = {each.instance: each.instance for each in timeline.done}
    requests = [
        (generation.prepared_ms, instance_of(joiner.partition(" ")[0], clients))
        for generation in _generations(timeline)
        if (joiner := generation.reason.partition("Adding new member ")[2])
    ]
    requests += [
        (each.time_ms, instance_of(timeline.clients.get(each.member, ""), clients))
        for each in timeline.members
        if each.event == "joins"
    ]
    moments = sorted((time, instance) for time, instance in requests if instance is not None)
    for done in timeline.done:
        begun = first_after(timeline.begun, timeline, done) if done.type == "start" else None
        joined = first_after(moments, timeline, done)
        if begun is not None and joined is not None:
            yield joined - begun


def _closes(timeline: RecordedTimeline) -> Iterator[float]:
    for done in timeline.done:
        ends = [time for time, instance in timeline.ended if instance == done.instance and time >= done.time_ms]
        if done.type == "stop" and ends:
            yield ends[0] - done.time_ms


def _leaves(timeline: RecordedTimeline) -> Iterator[float]:
    """From SIGTERM until members of a streams group have left, unless the next start did not wait for it."""
    names = {each.instance: each.instance for each in timeline.done}
    for each in timeline.members:
        if each.event == "left":
            instance = instance_of(timeline.clients.get(each.member, ""), names)
            requests = [
                done.time_ms
                for done in timeline.done
                if done.type == "stop" and done.instance == instance and done.time_ms <= each.time_ms
            ]
            yield from (each.time_ms - time for time in requests[-1:])


def _acknowledgements(timeline: RecordedTimeline, state: str) -> Iterator[float]:
    """From a response that changes a member's tasks to the heartbeat that confirms the change.

    ``UNREVOKED_TASKS``: it revokes tasks. ``UNRELEASED_TASKS``: it only receives tasks, and is written again when it
    acknowledges them, as it waits for others.
    """
    before: dict[str, MemberChange] = {}
    for each in timeline.members:
        last = before.get(each.member)
        waited = 0 if last is None else each.time_ms - last.time_ms
        if last is not None and last.state == state and each.state and waited < _SOON_MS:
            yield waited
        before[each.member] = each


def _acknowledgement_loops(timeline: RecordedTimeline) -> Iterator[float]:
    """Delay of the heartbeat after an acknowledgement, beyond one interval.

    Measured for members that received tasks, had none to revoke, and sent a heartbeat one interval later.
    """
    interval = heartbeat_interval_ms(timeline) + StreamsTimings().heartbeat_late_us / 1000
    before: dict[str, MemberChange] = {}
    gained: set[str] = set()
    for each in timeline.members:
        if not each.state:
            continue
        last = before.get(each.member)
        late = -1 if last is None else each.time_ms - last.time_ms - interval
        if last is not None and last.state == "STABLE" and each.member in gained and 0 <= late < interval / 2:
            yield late
        has_changed = last is None or (last.active, last.standby) != (each.active, each.standby)
        (gained.add if has_changed else gained.discard)(each.member)
        before[each.member] = each


def _generations(timeline: RecordedTimeline) -> Sequence[TimelineGeneration]:
    return timeline.generations if timeline.kind == "streams-classic" else ()


def _pairs(timeline: RecordedTimeline) -> Iterator[tuple[TimelineGeneration, TimelineGeneration]]:
    return zip(_generations(timeline), _generations(timeline)[1:], strict=False)


def _heartbeats_late(timeline: RecordedTimeline) -> Iterator[float]:
    """Join phases that ended with a common heartbeat, at least a minute after the previous one without activity."""
    for before, after in _pairs(timeline):
        beats = round((after.joined_ms - before.joined_ms) / _HEARTBEAT_MS)
        late = after.joined_ms - before.joined_ms - beats * _HEARTBEAT_MS
        if 20 <= beats <= 40 and 0 <= late < _HEARTBEAT_MS / 10:
            # The last one reaches the thread, its request the broker.
            yield max(0.0, late - StreamsTimings().poll_ms - StreamsTimings().request_ms) * 1000 / beats


def _assigns(timeline: RecordedTimeline) -> Iterator[float]:
    for generation in _generations(timeline)[2:]:
        yield generation.assigned_ms - generation.joined_ms


def _topic_creations(timeline: RecordedTimeline) -> Iterator[float]:
    if len(_generations(timeline)) > 1 and _topics_changed(_generations(timeline)[1]):
        first = _generations(timeline)[0]
        yield first.assigned_ms - first.joined_ms


def _topics_seen(timeline: RecordedTimeline) -> Iterator[int]:
    """Upper bound of the time that a broker took to create the topics for its first target.

    The last member to join saw them when it acknowledged its empty assignment, if not before.
    """
    first = timeline.targets[0].time_ms if timeline.targets else 0
    written = {each.member: each.time_ms for each in reversed(timeline.members) if each.state}
    joined = sorted(time for time in written.values() if time < first)
    if len(joined) > 1 and any(not each.end_offset and each.from_ms - first < _SOON_MS for each in timeline.transfers):
        yield joined[-1] + StreamsTimings().acknowledge_new_ms - joined[0]


def _metadata(timeline: RecordedTimeline) -> Iterator[float]:
    for before, after in _pairs(timeline):
        if _topics_changed(after):
            yield after.prepared_ms - before.assigned_ms


def _topics_changed(generation: TimelineGeneration) -> bool:
    return "cached metadata has changed" in generation.reason


def _rejoins(timeline: RecordedTimeline) -> Iterator[float]:
    for before, after in _pairs(timeline):
        if before.followup == "immediate" and 0 <= after.prepared_ms - before.assigned_ms < _SOON_MS:
            yield after.prepared_ms - before.assigned_ms


def _probes(timeline: RecordedTimeline) -> Iterator[float]:
    """Remainder over whole tens of seconds: the delay of the thread."""
    for before, after in _pairs(timeline):
        waited = after.prepared_ms - before.assigned_ms
        late = waited - round(waited / _PROBING_MS) * _PROBING_MS
        if before.followup == "probing" and "followup" in after.reason and waited > _SOON_MS and 0 <= late < _SOON_MS:
            yield late


def _loads(timeline: RecordedTimeline, *, standby: bool) -> Iterator[tuple[Transfer, int, int]]:
    for each in timeline.transfers:
        if each.is_standby == standby and each.done_ms is not None and each.records is not None:
            yield each, each.done_ms - each.from_ms, each.records


def _openings(timeline: RecordedTimeline, *, first: bool) -> Iterator[float]:
    """From an assignment to the restore that it caused."""
    begun = {(each.instance, each.time_ms) for each in timeline.done if each.type == "start"}
    for each in timeline.transfers:
        assigned = [
            generation.assigned_ms for generation in _generations(timeline) if generation.assigned_ms <= each.from_ms
        ]
        started = [time for instance, time in begun if instance == each.instance and time <= each.from_ms]
        if each.is_standby or not assigned or not started or each.from_ms - assigned[-1] >= _SOON_MS:
            continue
        is_first = sum(max(started) <= time for time in assigned) == 1
        if is_first == first:
            yield each.from_ms - assigned[-1]


def _recycled(timeline: RecordedTimeline) -> Iterator[float]:
    return (took for _, took, records in _loads(timeline, standby=False) if took < _RECYCLED_MS and records < _FEW)


def _polls(timeline: RecordedTimeline) -> Iterator[float]:
    return (took for _, took, records in _loads(timeline, standby=False) if took >= _RECYCLED_MS and records < _FEW)


def _standbys(timeline: RecordedTimeline) -> Iterator[float]:
    return (took for _, took, records in _loads(timeline, standby=True) if records < _FEW)


def _outputs(timeline: RecordedTimeline) -> Iterator[float]:
    """To the first output of a moved stateless task, minus its opening."""
    stateful = {each.partition for each in timeline.transfers}
    opening = median(list(_openings(timeline, first=False)) or [0.0])
    for window in timeline.probe or ():
        for task, interruptions in window.interruptions.items():
            if task.startswith("0_") and int(task[2:]) in stateful:
                continue
            for at, length in interruptions:
                end = window.begin_ms + at + length
                assigned = [each.assigned_ms for each in _generations(timeline) if each.assigned_ms <= end]
                if length >= 1_000 and assigned and end - assigned[-1] < _SOON_MS:
                    yield max(0.0, end - assigned[-1] - opening)


def _worked_off(timeline: RecordedTimeline) -> Iterator[float]:
    """Records per second in a task's changelogs while it processed a backlog.

    Measured if a copy began to load soon after the first assignment into empty changelogs.
    """
    if not _generations(timeline):
        return
    begun = _generations(timeline)[0].assigned_ms
    empty = {(each.topic, each.partition) for each in timeline.transfers if not each.end_offset}
    seen: dict[tuple[int, int], dict[str, int]] = {}
    for each in timeline.transfers:
        since = each.from_ms - begun
        if each.start_offset and (each.topic, each.partition) in empty and _SOON_MS < since < _WORKING_OFF_MS:
            seen.setdefault((each.partition, since // 1_000), {})[each.topic] = each.start_offset
    for (_, since_s), ends in seen.items():
        yield sum(ends.values()) / since_s


def _alone(timeline: RecordedTimeline) -> Iterator[float]:
    """Records per second of restores alone on the machine."""
    yield from (rate for threads, rate in _stretches(timeline) if threads == 1)
    for load, took, records in (*_loads(timeline, standby=False), *_loads(timeline, standby=True)):
        if records >= MANY_RECORDS and not load.thread and not _others(timeline, load):
            yield records * 1000 / took


def _others(timeline: RecordedTimeline, load: Transfer) -> bool:
    end = load.done_ms or load.from_ms
    return any(
        each is not load and (each.records or 0) >= _FEW and each.from_ms < end and (each.done_ms or end) > load.from_ms
        for each in timeline.transfers
    )


def _stretches(timeline: RecordedTimeline) -> Iterator[tuple[int, float]]:
    """Number of restoring threads on a machine, and records per second.

    With the thread of each load known, parallel stores do not distort the rate.
    """
    machines: dict[str, list[Transfer]] = {}
    for load, _, records in _loads(timeline, standby=False):
        if load.thread and records >= _FEW:
            machines.setdefault(load.machine, []).append(load)
    for loads in machines.values():
        together: list[Transfer] = []
        in_order: list[Transfer | None] = [*sorted(loads, key=lambda each: each.from_ms), None]
        for following in in_order:
            end = max((each.done_ms or 0 for each in together), default=0)
            if together and (following is None or following.from_ms >= end):
                records, took = sum(each.records or 0 for each in together), end - together[0].from_ms
                if records >= MANY_RECORDS and took:
                    yield len({each.thread for each in together}), records * 1000 / took
                together = []
            if following is not None:
                together.append(following)


def _rates(alone: Sequence[float], together: Sequence[float], timelines: Sequence[RecordedTimeline]) -> list[Derived]:
    has_percent = bool(alone and together)
    if not alone:
        # One alone counts with its default share.
        alone = [100 * value / StreamsTimings().machine_restore_percent for value in together]
    if not alone:
        return []
    sizes = [each.record_bytes for each in timelines if each.record_bytes is not None]
    found = [_derived("restore_records_per_s", alone)]
    if sizes:
        found.append(_derived("restore_bytes_per_s", [rate * median(sizes) for rate in alone]))
    if has_percent:
        found.append(_derived("machine_restore_percent", [100 * value / median(alone) for value in together]))
    return found


def _together(timeline: RecordedTimeline) -> Iterator[float]:
    """Records per second of all active restores that overlap one of them."""
    yield from (rate for threads, rate in _stretches(timeline) if threads > 1)
    loads = [
        (load, took, records)
        for load, took, records in _loads(timeline, standby=False)
        if records >= MANY_RECORDS and took and not load.thread
    ]
    for load, took, records in loads:
        beside = [each for each, _, _ in loads if _overlap(load, each) > took / 2]
        if len(beside) > 1:
            yield records * 1000 / took * len(beside)


def _overlap(one: Transfer, other: Transfer) -> int:
    return min(one.done_ms or 0, other.done_ms or 0) - max(one.from_ms, other.from_ms)


_MEASURES: Mapping[str, _Measure] = {
    "startup_ms": _starts,
    "join_ms": _joins,
    "close_ms": _closes,
    "heartbeat_late_us": _heartbeats_late,
    "probe_ms": _probes,
    "assign_ms": _assigns,
    "create_topics_ms": _topic_creations,
    "metadata_ms": _metadata,
    "rejoin_ms": _rejoins,
    "acknowledge_ms": lambda timeline: _acknowledgements(timeline, "UNREVOKED_TASKS"),
    "acknowledge_new_ms": lambda timeline: _acknowledgements(timeline, "UNRELEASED_TASKS"),
    "acknowledge_loop_ms": _acknowledgement_loops,
    "leave_ms": _leaves,
    "open_store_ms": lambda timeline: _openings(timeline, first=False),
    "first_open_store_ms": lambda timeline: _openings(timeline, first=True),
    "recycle_ms": _recycled,
    "restore_poll_ms": _polls,
    "standby_ms": _standbys,
    "work_off_records_per_s": _worked_off,
    "output_ms": _outputs,
}
