"""The families of episodes of Streams groups, by event (docs, "Generated episodes").

Each history is one document of kind ``streams-episode``: a calm group with one kind of event. Groups have two to thirty
instances in three racks, and ten megabytes to a terabyte of state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs

from assignment_api.streams import ProcessID, TaskId, TaskInfo, TaskTopicPartition, TaskWorkload
from assignment_api.streams.configs import NUM_STANDBY_REPLICAS
from assignor_lab.model.streams_episodes import (
    ChangelogOutline,
    EventDetails,
    OpeningInstance,
    StreamsEpisodeOutline,
    StreamsEvent,
    StreamsOpening,
)
from assignor_lab.scenarios.families.draws import DrawnFamily, Draws
from assignor_lab.scenarios.families.events import START_MS
from assignor_lab.scenarios.formats.streams_episodes import episode_document

__all__ = ["drawn"]

_INSTANCES = ((35, (2, 3)), (40, (4, 6)), (20, (7, 12)), (5, (13, 30)))
_THREADS = ((50, 1), (35, 2), (15, 4))
_STANDBYS = ((55, 0), (40, 1), (5, 2))
_SESSIONS_MS = ((70, 45_000), (30, 10_000))
_RACKS = ("r1", "r2", "r3")
_REPLICAS = ((15, 1), (35, 2), (50, 3))
#: Bytes of the whole application's state.
_LEAST_STATE, _MOST_STATE = 10_000_000, 1_000_000_000_000
#: Time of the event, and length of an episode.
_EVENT_MS, _HOUR_MS = 60_000, 3_600_000


@attrs.frozen(eq=False)
class _Group:
    """A drawn calm group."""

    draws: Draws
    names: Sequence[str]
    threads: int
    episode: StreamsEpisodeOutline

    def some(self, most: int) -> list[str]:
        names = list(self.names)
        count = self.draws.between(1, max(1, min(most, len(names) - 1)))
        return [names.pop(self.draws.below(len(names))) for _ in range(count)]

    def new(self, number: int, at_ms: int) -> StreamsEvent:
        rack = _RACKS[(len(self.names) + number) % len(_RACKS)]
        return StreamsEvent(at_ms, "start", f"new-{number}", EventDetails(threads=self.threads, rack=rack))


_Happens = Callable[[_Group], list[StreamsEvent]]


def _rolling_restart(group: _Group) -> list[StreamsEvent]:
    down_ms = 1_000 * group.draws.spread(2, 64)
    every_ms = down_ms + 1_000 * group.draws.between(30, 120)
    roll = EventDetails(clients=group.names, down_ms=down_ms, every_ms=every_ms)
    return [StreamsEvent(_EVENT_MS, "rolling_restart", details=roll)]


def _crash(group: _Group) -> list[StreamsEvent]:
    events = []
    for name in group.some(1):
        events.append(StreamsEvent(_EVENT_MS, "crash", name))
        if group.draws.percent(70):
            events.append(StreamsEvent(_EVENT_MS + 1_000 * group.draws.between(5, 600), "start", name))
    return events


def _scale_out(group: _Group) -> list[StreamsEvent]:
    count = group.draws.between(1, max(1, len(group.names) // 2))
    return [group.new(number, _EVENT_MS) for number in range(count)]


def _scale_in(group: _Group) -> list[StreamsEvent]:
    details = EventDetails(leave=group.draws.percent(50))
    return [StreamsEvent(_EVENT_MS, "stop", name, details) for name in group.some(max(1, len(group.names) // 2))]


def _lost_zone(group: _Group) -> list[StreamsEvent]:
    lost = _RACKS[group.draws.below(min(len(_RACKS), len(group.names)))]
    names = [name for place, name in enumerate(group.names) if _RACKS[place % len(_RACKS)] == lost]
    events = [StreamsEvent(_EVENT_MS, "crash", name) for name in names]
    if group.draws.percent(60):
        back = _EVENT_MS + 60_000 * group.draws.between(5, 30)
        events += [StreamsEvent(back, "start", name) for name in names]
    return events


def _lost_disks(group: _Group) -> list[StreamsEvent]:
    back = _EVENT_MS + 1_000 * group.draws.between(30, 300)
    names = group.some(2)
    moments = (("crash", _EVENT_MS), ("lose_disk", back), ("start", back))
    return [StreamsEvent(at_ms, kind, name) for kind, at_ms in moments for name in names]


def _slow_joiners(group: _Group) -> list[StreamsEvent]:
    every_ms = 1_000 * group.draws.between(20, 90)
    return [group.new(number, _EVENT_MS + number * every_ms) for number in range(group.draws.between(2, 4))]


def _steady(group: _Group) -> list[StreamsEvent]:
    # An instance has just joined, and the group probes until its state is in place.
    return [group.new(0, 1_000)]


def _drawn(name: str, seed: int, *, is_static: bool) -> _Group:
    draws = Draws(name, seed, "group")
    count = draws.between(*draws.weighted(_INSTANCES))
    threads = draws.weighted(_THREADS)
    processes = sorted((ProcessID(UUID(draws.uuid())) for _ in range(count)), key=ProcessID.sort_key)
    names = [str(process) for process in processes]
    tasks, weights = _tasks(draws)
    stateful = [str(task.id) for task in tasks if task.is_logged]
    most = _LEAST_STATE * 100 if is_static else _MOST_STATE
    total = draws.spread(_LEAST_STATE, most)
    record_bytes = draws.spread(100, 2_000)
    state = {task: total * weights[task] // max(1, sum(weights[each] for each in stateful)) for task in stateful}
    inputs = {str(task.id): draws.spread(1_000, 1_000_000) for task in tasks}
    standbys = draws.weighted(_STANDBYS)
    opening = StreamsOpening(
        f"{name}-{seed}",
        {NUM_STANDBY_REPLICAS: standbys},
        tasks,
        () if is_static else _instances(names, threads, tasks, standbys),
        START_MS,
        {task: TaskWorkload(state.get(task), bytes_per_s) for task, bytes_per_s in inputs.items()},
    )
    episode = StreamsEpisodeOutline(
        f"{name}-{seed}",
        opening,
        (),
        _HOUR_MS,
        changelogs={
            task: ChangelogOutline(size // record_bytes, record_bytes, inputs[task] // (5 * record_bytes))
            for task, size in state.items()
        },
        timings={"session_timeout_ms": draws.weighted(_SESSIONS_MS)},
    )
    return _Group(Draws(name, seed, "events"), names, threads, episode)


def _tasks(draws: Draws) -> tuple[list[TaskInfo], dict[str, int]]:
    """The tasks, and the relative size of each one's state."""
    tasks: list[TaskInfo] = []
    weights: dict[str, int] = {}
    for subtopology in range(draws.between(1, 4)):
        logged = subtopology == 0 or draws.percent(60)
        for partition in range(draws.spread(4, 32)):
            topics = [(f"in-{subtopology}", False)] + ([(f"log-{subtopology}", True)] if logged else [])
            partitions = [
                TaskTopicPartition(topic, partition, not is_log, is_log, _replicas(draws)) for topic, is_log in topics
            ]
            stores = ("store",) if logged else ()
            tasks.append(TaskInfo(TaskId(subtopology, partition), logged, logged, stores, tuple(partitions)))
            weights[str(tasks[-1].id)] = draws.between(50, 200)
    return tasks, weights


def _replicas(draws: Draws) -> tuple[str, ...]:
    first = draws.below(len(_RACKS))
    return tuple(_RACKS[(first + number) % len(_RACKS)] for number in range(draws.weighted(_REPLICAS)))


def _instances(names: Sequence[str], threads: int, tasks: Sequence[TaskInfo], standbys: int) -> list[OpeningInstance]:
    """High availability's placement in a calm group: tasks with state in turn, then the others."""
    active: dict[str, list[str]] = {name: [] for name in names}
    standby: dict[str, list[str]] = {name: [] for name in names}
    for place, task in enumerate(sorted(tasks, key=lambda each: not each.is_logged)):
        active[names[place % len(names)]].append(str(task.id))
        for copy in range(1, min(standbys + 1, len(names)) if task.is_logged else 1):
            standby[names[(place + copy) % len(names)]].append(str(task.id))
    logged = {str(task.id) for task in tasks if task.is_logged}
    instances = []
    for place, name in enumerate(names):
        consumers = [f"{name}-StreamThread-{number}-consumer" for number in range(1, threads + 1)]
        held = [task for task in (*active[name], *standby[name]) if task in logged]
        lags = {task: -2 if task in active[name] else 0 for task in held}
        reported = {consumer: held[number::threads] for number, consumer in enumerate(consumers)}
        rack = _RACKS[place % len(_RACKS)]
        instances.append(OpeningInstance(name, threads, consumers, active[name], standby[name], lags, rack, reported))
    return instances


def _starts(group: _Group) -> list[StreamsEvent]:
    return [
        StreamsEvent(
            0,
            "start",
            name,
            EventDetails(
                process_id=ProcessID.parse(name),
                threads=group.threads,
                rack=_RACKS[place % len(_RACKS)],
                instance_id=f"static-{place}",
                added=("instance_id",),
            ),
        )
        for place, name in enumerate(group.names)
    ]


@attrs.frozen
class _History:
    document: Mapping[str, Any]

    def round(self, number: int, previous: Any) -> Mapping[str, Any]:  # noqa: ARG002 - there is one round
        return self.document


#: Order of the keys in documents of these families.
_LAST = (
    "state_bytes", "tags", "host", "previous_active", "previous_standby", "lags", "previous_by_consumer", "events",
)  # fmt: skip
#: Time for static members to restore their state before the event.
_FORMING_MS = 1_800_000


_FAMILIES: Mapping[str, _Happens] = {
    "episode_rolling_restart": _rolling_restart,
    "episode_static_rolling_restart": _rolling_restart,
    "episode_crash": _crash,
    "episode_scale_out": _scale_out,
    "episode_scale_in": _scale_in,
    "episode_lost_zone": _lost_zone,
    "episode_lost_disks": _lost_disks,
    "episode_slow_joiners": _slow_joiners,
    "episode_steady": _steady,
}


def drawn(name: str, _kind: str, _rounds: int) -> DrawnFamily:
    """The family of that name."""
    happens, is_static = _FAMILIES[name], name == "episode_static_rolling_restart"

    def history(seed: int) -> _History:
        group = _drawn(name, seed, is_static=is_static)
        events = happens(group)
        if is_static:
            events = [*_starts(group), *(attrs.evolve(each, at_ms=each.at_ms + _FORMING_MS) for each in events)]
        until_ms = group.episode.until_ms + (_FORMING_MS if is_static else 0)
        return _History(episode_document(attrs.evolve(group.episode, events=events, until_ms=until_ms), _LAST))

    return DrawnFamily(history, lambda seed: Draws(name, seed, "group").weighted(_INSTANCES)[1])
