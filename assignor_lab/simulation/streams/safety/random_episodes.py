"""Random small episodes of Streams groups; equal seeds and equal assignors give equal episodes.

In the end at least one instance runs, without events for longer than any effect can last. Then topics' metadata change
at equal intervals: a settled group must not change.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter

import attrs

from assignment_api.releases import RELEASE_KEY
from assignment_api.streams import HostInfo, TaskId, TaskInfo, TaskTopicPartition
from assignment_api.streams import configs as keys
from assignor_lab.model.streams_episodes import (
    ChangelogOutline,
    EventDetails,
    OpeningInstance,
    StreamsEpisodeOutline,
    StreamsEvent,
    StreamsOpening,
)
from assignor_lab.simulation.streams.presence import RunningInstances
from assignor_lab.simulation.streams.safety.rest import LAST_CHANGES, rest_ms

__all__ = ["DRAWN", "KAFKA_ASSIGNORS", "random_episode", "with_rest"]

KAFKA_ASSIGNORS: Mapping[str, Sequence[str]] = {
    "classic": ("high_availability", "sticky", "legacy_sticky"),
    "streams": ("group_sticky", "group_sticky_4_4"),
}
#: Assignors that the fuzz draws from, by protocol. Fixed: each installed plugin would change nearly every seed.
DRAWN: Mapping[str, Sequence[str]] = {
    "classic": (*KAFKA_ASSIGNORS["classic"], "fallback_prior", "rack_aware", "static"),
    "streams": KAFKA_ASSIGNORS["streams"],
}
#: Brokers of 4.3 run this assignor, and refuse static members.
_REFUSES_STATIC = "group_sticky"
#: Its groups never settle: it is drawn less often, since such episodes are long.
_NEVER_RESTS = "fallback_prior"
_RATE = 20_000_000
_RACKS = ("r1", "r2", "r3")
_HUGE = (60_000_000, 200)
#: Five instances, one after the other.
_LONGEST_ROLL_MS = 5 * 90_000 + 20_000
#: Probability that an event is followed by a separately drawn one.
_APART = 0.08
_CHANGES_TASKS = 0.1


def random_episode(seed: int, assignors: Mapping[str, Sequence[str]] = KAFKA_ASSIGNORS) -> StreamsEpisodeOutline:
    draw = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    # Separate draws change nothing else of a seed.
    apart = random.Random(f"apart {seed}")  # noqa: S311 - as above
    protocol = draw.choice([name for name in ("classic", "streams") if assignors.get(name)])
    assignor = draw.choice(sorted(assignors[protocol]))
    if assignor == _NEVER_RESTS:
        assignor = draw.choice(sorted(assignors[protocol]))
    has_racks = draw.random() < 0.25
    tasks = _tasks(draw, has_racks=has_racks)
    names_of_tasks = [str(task.id) for task in tasks]
    config = _config(draw, protocol, has_racks=has_racks)
    may_be_static = protocol == "classic" or assignor != _REFUSES_STATIC
    names = [f"i{number}" for number in range(1, draw.randint(1, 5) + 1)]
    settings = {name: _settings(draw, name, may_be_static=may_be_static, has_racks=has_racks) for name in names}
    if protocol == "classic" and draw.random() < 0.05:
        settings = {name: _with_shared_id(each) for name, each in settings.items()}
    instances: list[OpeningInstance] = []
    if draw.random() < 0.2:
        instances = _instances(draw, tasks, has_racks=has_racks)
        settings = {**{each.process_id: EventDetails() for each in instances}, **settings}
    running = {each.process_id: each.threads for each in instances}
    if draw.random() < 0.2:
        # Many copies, few of which divide evenly.
        config[keys.NUM_STANDBY_REPLICAS] = 2
        settings = {name: attrs.evolve(each, threads=draw.choice((2, 3, 3))) for name, each in settings.items()}
        events = _events(draw, apart, names_of_tasks, settings, running, started=len(settings) - len(running))
    else:
        events = _events(draw, apart, names_of_tasks, settings, running)
    changelogs = {str(task.id): _changelog(draw) for task in tasks if task.is_logged}
    timings = _timings(draw)
    eos = draw.random() < 0.15
    missing_topics = ("app-repartition",) if draw.random() < 0.15 else ()
    coming_refiner = protocol == "streams" and assignor != _REFUSES_STATIC and draw.random() < 0.25
    if coming_refiner:
        config[keys.MAX_WARMUP_REPLICAS] = draw.choice((1, 2, 4))
        config[keys.ACCEPTABLE_RECOVERY_LAG] = draw.choice((100, 10_000, 10_000))
    episode = StreamsEpisodeOutline(
        f"random-{seed}",
        StreamsOpening(f"random-{seed}-initial", config, tasks, instances),
        events,
        0,
        protocol,
        assignor,
        changelogs,
        timings,
        eos,
        missing_topics,
        coming_refiner,
    )
    return with_rest(_with_release(random.Random(f"release of {seed}"), episode))  # noqa: S311 - as above


def _with_release(draw: random.Random, episode: StreamsEpisodeOutline) -> StreamsEpisodeOutline:
    """A release of the clients, with the settings and events that depend on it."""
    if draw.random() >= _OF_RELEASE:
        return episode
    settings: dict[str, str | bool] = {RELEASE_KEY: draw.choice(("4.3.1", "4.4.0"))}
    if episode.eos:
        settings |= {"enable.transactional.statestores": draw.random() < 0.7}
    changelogs = dict(episode.changelogs or {})
    for task, changelog in changelogs.items():
        retained = draw.choice((0, 100, 10_000)) if draw.random() < 0.3 else None
        share = draw.choice((0.5, 1)) if draw.random() < 0.2 else None
        changelogs[task] = attrs.evolve(changelog, retained_records=retained, in_memory_share=share)
    last = max(event.at_ms for event in episode.events)
    restarts = []
    for _ in range(draw.randint(0, 2)):
        down_ms = draw.choice((1_000, 60_000))
        restarts.append(StreamsEvent(draw.randint(0, last), "broker_restart", details=EventDetails(down_ms=down_ms)))
    events = sorted([*episode.events, *restarts], key=attrgetter("at_ms"))
    return attrs.evolve(episode, settings=settings, changelogs=changelogs, events=events)


def _tasks(draw: random.Random, *, has_racks: bool) -> list[TaskInfo]:
    tasks = []
    for subtopology in range(draw.randint(1, 3)):
        logged = draw.random() < 0.7
        for partition in range(draw.randint(1, 4)):
            partitions = _partitions(draw, subtopology, partition, logged=logged) if has_racks else None
            stores = ("store",) if logged else ()
            tasks.append(TaskInfo(TaskId(subtopology, partition), logged, logged, stores, partitions))
    return tasks


def _partitions(
    draw: random.Random, subtopology: int, partition: int, *, logged: bool
) -> tuple[TaskTopicPartition, ...]:
    """Replicas of a partition are in one rack or two, sometimes unknown."""
    topics = [(f"in-{subtopology}", False)] + ([(f"app-store-{subtopology}-changelog", True)] if logged else [])
    return tuple(
        TaskTopicPartition(topic, partition, not is_changelog, is_changelog, _replicas(draw))
        for topic, is_changelog in topics
    )


def _replicas(draw: random.Random) -> tuple[str, ...]:
    return tuple(draw.sample(_RACKS, draw.choice((1, 2, 2)))) if draw.random() < 0.95 else ()


def _instances(draw: random.Random, tasks: Sequence[TaskInfo], *, has_racks: bool) -> list[OpeningInstance]:
    """Each active task is on at most one instance."""
    instances: list[OpeningInstance] = []
    for _ in range(draw.randint(1, 3)):
        threads = draw.randint(1, 2)
        process = f"00000000-0000-0000-0000-{draw.randrange(16**12):012x}"
        consumers = [f"{process}-StreamThread-{thread}-consumer" for thread in range(1, threads + 1)]
        rack = draw.choice(_RACKS) if has_racks else None
        instances.append(OpeningInstance(process, threads, consumers, [], [], {}, rack))
    for task in tasks:
        name, owner = str(task.id), draw.choice([*instances, None])
        for place, each in enumerate(instances):
            copies = task.is_logged and each is not owner and draw.random() < 0.3
            lags = {name: -2 if each is owner else draw.choice((0, 5, 20_000))} if task.is_logged else {}
            instances[place] = attrs.evolve(
                each,
                active=[*each.active, name] if each is owner else each.active,
                standby=[*each.standby, name] if copies else each.standby,
                lags={**each.lags, **lags},
            )
    return instances


def _config(draw: random.Random, protocol: str, *, has_racks: bool) -> dict[str, int | str | Sequence[str]]:
    config: dict[str, int | str | Sequence[str]] = {keys.NUM_STANDBY_REPLICAS: draw.choice((0, 0, 1, 1, 2))}
    if protocol == "classic":
        config[keys.MAX_WARMUP_REPLICAS] = draw.choice((1, 2, 2, 4))
        config[keys.ACCEPTABLE_RECOVERY_LAG] = lag = draw.choice((0, 100, 10_000, 10_000))
        # A small lag means that groups never settle: such episodes are long.
        config[keys.PROBING_REBALANCE_INTERVAL_MS] = draw.choice((60_000, 60_000, 600_000)) if lag > 100 else 600_000
    if draw.random() < 0.3:
        config[keys.RACK_AWARE_ASSIGNMENT_TAGS] = ("zone",)
    if has_racks and protocol == "classic" and draw.random() < 0.7:
        config[keys.RACK_AWARE_ASSIGNMENT_STRATEGY] = draw.choice(("min_traffic", "balance_subtopology"))
    return config


def _settings(draw: random.Random, name: str, *, may_be_static: bool, has_racks: bool) -> EventDetails:
    """Those of the first start of an instance."""
    return EventDetails(
        threads=draw.choice((1, 1, 1, 2, 3)),
        tags={"zone": draw.choice("ab")} if draw.random() < 0.5 else None,
        machine=draw.choice(("m1", "m2")) if draw.random() < 0.3 else None,
        instance_id=f"static-{name}" if may_be_static and draw.random() < 0.3 else None,
        rack=draw.choice(_RACKS) if has_racks and draw.random() < 0.95 else None,
        metadata_version=draw.choice((9, 10, 12)) if draw.random() < 0.15 else None,
        host=HostInfo(name, 8080) if draw.random() < 0.3 else None,
    )


def _with_shared_id(settings: EventDetails) -> EventDetails:
    added = ("instance_id",) if settings.instance_id is None else ()
    return attrs.evolve(settings, instance_id="not-unique", added=added)


def _changelog(draw: random.Random) -> ChangelogOutline:
    # From nothing to ten minutes of restoring.
    records, size = draw.choice(((0, 200), (10, 2_000), (20_000, 200), (1_000_000, 20), (5_000_000, 200), _HUGE))
    return ChangelogOutline(
        records,
        size,
        records_per_s=draw.choice((0.1, 10, 500)) if draw.random() < 0.4 else None,
        backlog_records=draw.choice((10, 10_000)) if draw.random() < 0.1 else None,
    )


def _timings(draw: random.Random) -> dict[str, int]:
    timings = {"restore_bytes_per_s": _RATE}
    session = draw.choice((None, 10_000, 45_000))
    if session is not None:
        timings["session_timeout_ms"] = timings["streams_session_timeout_ms"] = session
    for name, values in _DRAWN.items():
        if draw.random() < 0.3:
            timings[name] = draw.choice(values)
    return timings


#: Share of the episodes with a release.
_OF_RELEASE = 0.25
#: Timings with their non-default values.
_DRAWN: Mapping[str, Sequence[int]] = {
    "startup_spread_ms": (500, 10_000),
    "initial_rebalance_delay_ms": (0, 3_000),
    "streams_initial_rebalance_delay_ms": (0, 3_000),
    "assignment_interval_ms": (0, 15_000),
    "max_poll_interval_ms": (20_000,),
    "state_cleanup_delay_ms": (0, 60_000),
    "close_ms": (0, 20_000),
    "request_ms": (0, 50),
    "open_store_ms": (0, 5_000),
    "acknowledge_ms": (0, 2_000),
    "acknowledge_new_ms": (0, 2_000),
    "acknowledge_loop_ms": (0, 5_000),
    "broker_topics_ms": (0, 10_000),
}


def _events(
    draw: random.Random,
    apart: random.Random,
    tasks: Sequence[str],
    settings: Mapping[str, EventDetails],
    running: Mapping[str, int],
    started: int = 0,
) -> list[StreamsEvent]:
    names = list(settings)
    presence = RunningInstances(running)
    events: list[StreamsEvent] = []
    now = 0
    for name in [name for name in names if name not in running][:started]:
        now += draw.randint(0, 300)
        events.append(_start(draw, now, name, settings, presence.up))
        presence.happen(events[-1])
    for number in range(draw.randint(0 if events else 1, 9 - len(events))):
        if number or events:
            now += draw.randint(0, draw.choice((300, 5_000, 60_000, 900_000)))
        presence.advance(now)
        stalled = {name for name in names if presence.is_stalled(name, now)}
        events.append(_event(draw, now, names, settings, presence, stalled))
        presence.happen(events[-1])
        events += _drawn_apart(apart, presence, tasks, now)
    events += _changed_tasks(apart, tasks, events)
    events.sort(key=attrgetter("at_ms"))
    now += _LONGEST_ROLL_MS
    presence.advance(now)
    if not any(presence.up.values()):
        events.append(_start(draw, now, draw.choice(names), settings, presence.up))
    return events


def _drawn_apart(draw: random.Random, presence: RunningInstances, tasks: Sequence[str], now: int) -> list[StreamsEvent]:
    free = [name for name, is_up in presence.up.items() if is_up and not presence.is_stalled(name, now)]
    if not free or draw.random() >= _APART:
        return []
    name = draw.choice(free)
    if draw.random() < 0.4:
        lost = draw.sample(tasks, draw.randint(1, min(3, len(tasks))))
        return [StreamsEvent(now, "corrupt", name, EventDetails(tasks=lost))]
    event = StreamsEvent(now, "add_thread", name)
    if len(presence.threads[name]) > 1 and draw.random() < 0.5:
        thread = draw.choice((None, draw.choice(presence.threads[name])))
        event = StreamsEvent(now, "remove_thread", name, EventDetails(thread=thread))
    presence.happen(event)
    return [event]


def _changed_tasks(draw: random.Random, tasks: Sequence[str], events: Sequence[StreamsEvent]) -> list[StreamsEvent]:
    if len(tasks) < 2 or draw.random() >= _CHANGES_TASKS:
        return []
    found: list[StreamsEvent] = []
    for at_ms in sorted(draw.choice(events).at_ms + draw.choice((0, 1_500)) for _ in range(draw.randint(1, 2))):
        left = sorted(draw.sample(tasks, draw.randint(1, len(tasks))))
        found.append(StreamsEvent(at_ms, "tasks", details=EventDetails(tasks=left)))
        if draw.random() < 0.5:
            found.append(StreamsEvent(at_ms, "metadata_changes"))
    return found


def _event(
    draw: random.Random,
    now: int,
    names: Sequence[str],
    settings: Mapping[str, EventDetails],
    presence: RunningInstances,
    stalled: Collection[str],
) -> StreamsEvent:
    started = presence.up
    up = [name for name in names if started.get(name)]
    down = [name for name in names if started.get(name) is False]
    new = [name for name in names if name not in started]
    free = [name for name in up if name not in stalled]
    kinds = ["start"] * (3 if new else 1 if down else 0)
    kinds += ["crash", "crash", "roll", "end_offsets_fail", "metadata_changes"] if up else []
    kinds += ["stop", "pause", "busy"] if free else []
    kinds += ["lose_disk"] if down else []
    kind = draw.choice(kinds)
    if kind == "start":
        return _start(draw, now, draw.choice(new + down), settings, started)
    if kind == "crash":
        return StreamsEvent(now, kind, draw.choice(up))
    if kind == "stop":
        leave = draw.choice((None, None, True, False))
        return StreamsEvent(now, kind, draw.choice(free), EventDetails(leave=leave))
    if kind in ("pause", "busy"):
        name = draw.choice(free)
        thread = draw.choice(presence.threads[name]) if kind == "busy" else None
        for_ms = draw.choice((10, 2_000, 20_000, 60_000, 400_000))
        return StreamsEvent(now, kind, name, EventDetails(for_ms=for_ms, thread=thread))
    if kind == "roll":
        every_ms = draw.choice((1_000, 20_000, 90_000))
        version = draw.choice((11, 12)) if draw.random() < 0.3 else None
        roll = EventDetails(down_ms=draw.randint(100, 20_000), every_ms=every_ms, metadata_version=version)
        return StreamsEvent(now, "rolling_restart", details=roll)
    if kind == "lose_disk":
        return StreamsEvent(now, kind, draw.choice(down))
    if kind == "end_offsets_fail":
        return StreamsEvent(now, kind, details=EventDetails(for_ms=draw.choice((5_000, 60_000))))
    return StreamsEvent(now, kind)


def _start(
    draw: random.Random, now: int, name: str, settings: Mapping[str, EventDetails], started: Mapping[str, bool]
) -> StreamsEvent:
    first = name not in started
    details = settings[name] if first else EventDetails()
    if draw.random() < 0.15:
        added = (*details.added, "startup_ms")
        details = attrs.evolve(details, startup_ms=draw.choice((0, 60_000)), added=added)
    if not first and draw.random() < 0.2:
        details = attrs.evolve(details, threads=draw.randint(1, 3), added=(*details.added, "threads"))
    if not first and settings[name].host is not None and draw.random() < 0.3:
        host = HostInfo(name, draw.randint(8081, 8083))
        details = attrs.evolve(details, host=host, added=(*details.added, "host"))
    return StreamsEvent(now, "start", name, details)


def with_rest(episode: StreamsEpisodeOutline) -> StreamsEpisodeOutline:
    """The episode until the group has settled, with changes of metadata at the end."""
    wait = rest_ms(episode)
    last = episode.events[-1].at_ms
    changes = [StreamsEvent(last + wait * (1 + each), "metadata_changes") for each in range(LAST_CHANGES)]
    return attrs.evolve(episode, events=[*episode.events, *changes], until_ms=last + wait * (1 + LAST_CHANGES))
