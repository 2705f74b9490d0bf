"""Random small episodes of Streams groups; equal seeds and equal assignors give equal documents.

In the end at least one instance runs, without events for longer than any effect can last. Then topics' metadata change
at equal intervals: a settled group must not change.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any

from assignor_lab.simulation.streams.episode import StreamsEvent
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


def random_episode(seed: int, assignors: Mapping[str, Sequence[str]] = KAFKA_ASSIGNORS) -> dict[str, Any]:
    draw = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    # Separate draws change nothing else of a seed.
    apart = random.Random(f"apart {seed}")  # noqa: S311 - as above
    protocol = draw.choice([name for name in ("classic", "streams") if assignors.get(name)])
    assignor = draw.choice(sorted(assignors[protocol]))
    if assignor == _NEVER_RESTS:
        assignor = draw.choice(sorted(assignors[protocol]))
    has_racks = draw.random() < 0.25
    tasks = _tasks(draw, has_racks=has_racks)
    names_of_tasks = [task["id"] for task in tasks]
    config = _config(draw, protocol, has_racks=has_racks)
    may_be_static = protocol == "classic" or assignor != _REFUSES_STATIC
    names = [f"i{number}" for number in range(1, draw.randint(1, 5) + 1)]
    settings = {name: _settings(draw, name, may_be_static=may_be_static, has_racks=has_racks) for name in names}
    if protocol == "classic" and draw.random() < 0.05:
        settings = {name: {**each, "instance_id": "not-unique"} for name, each in settings.items()}
    clients: list[dict[str, Any]] = []
    if draw.random() < 0.2:
        clients = _clients(draw, tasks, has_racks=has_racks)
        settings = {**{client["process_id"]: {} for client in clients}, **settings}
    running = {client["process_id"]: client["threads"] for client in clients}
    if draw.random() < 0.2:
        # Many copies, few of which divide evenly.
        config["num.standby.replicas"] = 2
        settings = {name: {**each, "threads": draw.choice((2, 3, 3))} for name, each in settings.items()}
        events = _events(draw, apart, names_of_tasks, settings, running, started=len(settings) - len(running))
    else:
        events = _events(draw, apart, names_of_tasks, settings, running)
    document: dict[str, Any] = {
        "format": 1,
        "kind": "streams-episode",
        "id": f"random-{seed}",
        "protocol": protocol,
        "assignor": assignor,
        "initial": {
            "format": 1,
            "kind": "streams",
            "id": f"random-{seed}-initial",
            "config": config,
            "tasks": tasks,
            "clients": clients,
        },
        "changelogs": {task["id"]: _changelog(draw) for task in tasks if task["logged"]},
        "events": events,
        "until_ms": 0,
        "timings": _timings(draw),
    }
    if draw.random() < 0.15:
        document["eos"] = True
    if draw.random() < 0.15:
        document["missing_topics"] = ["app-repartition"]
    if protocol == "streams" and assignor != _REFUSES_STATIC and draw.random() < 0.25:
        document["coming_refiner"] = True
        config["max.warmup.replicas"] = draw.choice((1, 2, 4))
        config["acceptable.recovery.lag"] = draw.choice((100, 10_000, 10_000))
    _draw_release(random.Random(f"release of {seed}"), document)  # noqa: S311 - a simulation, not a secret
    return with_rest(document)


def _draw_release(draw: random.Random, document: dict[str, Any]) -> None:
    """A release of the clients, with the settings and events that depend on it."""
    if draw.random() >= _OF_RELEASE:
        return
    settings: dict[str, object] = {"kafka.release": draw.choice(("4.3.1", "4.4.0"))}
    if document.get("eos"):
        settings |= {"enable.transactional.statestores": draw.random() < 0.7}
    for changelog in document.get("changelogs", {}).values():
        if draw.random() < 0.3:
            changelog |= {"retained_records": draw.choice((0, 100, 10_000))}
        if draw.random() < 0.2:
            changelog |= {"in_memory_share": draw.choice((0.5, 1))}
    events = [*document.get("events", ())]
    last = max(map(itemgetter("at_ms"), events))
    for _ in range(draw.randint(0, 2)):
        down_ms = draw.choice((1_000, 60_000))
        events.append({"at_ms": draw.randint(0, last), "type": "broker_restart", "down_ms": down_ms})
    events.sort(key=itemgetter("at_ms"))
    document |= {"settings": settings, "events": events}


def _tasks(draw: random.Random, *, has_racks: bool) -> list[dict[str, Any]]:
    tasks = []
    for subtopology in range(draw.randint(1, 3)):
        logged = draw.random() < 0.7
        for partition in range(draw.randint(1, 4)):
            stores = ["store"] if logged else []
            partitions = _partitions(draw, subtopology, partition, logged=logged) if has_racks else None
            tasks.append(
                {"id": f"{subtopology}_{partition}", "stateful": logged, "logged": logged, "stores": stores,
                 "partitions": partitions}
            )  # fmt: skip
    return tasks


def _partitions(draw: random.Random, subtopology: int, partition: int, *, logged: bool) -> list[dict[str, Any]]:
    """Replicas of a partition are in one rack or two, sometimes unknown."""
    topics = [(f"in-{subtopology}", False)] + ([(f"app-store-{subtopology}-changelog", True)] if logged else [])
    return [
        {"topic": topic, "partition": partition, "source": not is_changelog, "changelog": is_changelog,
         "racks": draw.sample(_RACKS, draw.choice((1, 2, 2))) if draw.random() < 0.95 else []}
        for topic, is_changelog in topics
    ]  # fmt: skip


def _clients(draw: random.Random, tasks: Sequence[Mapping[str, Any]], *, has_racks: bool) -> list[dict[str, Any]]:
    """Each active task is on at most one instance."""
    clients: list[dict[str, Any]] = []
    for _ in range(draw.randint(1, 3)):
        threads = draw.randint(1, 2)
        process = f"00000000-0000-0000-0000-{draw.randrange(16**12):012x}"
        consumers = [f"{process}-StreamThread-{thread}-consumer" for thread in range(1, threads + 1)]
        clients.append(
            {"process_id": process, "rack": draw.choice(_RACKS) if has_racks else None, "tags": {}, "host": None,
             "threads": threads, "consumers": consumers,
             "previous_active": [], "previous_standby": [], "lags": {}, "previous_by_consumer": None}
        )  # fmt: skip
    for task in tasks:
        owner = draw.choice([*clients, None])
        for client in clients:
            if client is owner:
                client["previous_active"].append(task["id"])
            elif task["logged"] and draw.random() < 0.3:
                client["previous_standby"].append(task["id"])
            if task["logged"]:
                client["lags"][task["id"]] = -2 if client is owner else draw.choice((0, 5, 20_000))
    return clients


def _config(draw: random.Random, protocol: str, *, has_racks: bool) -> dict[str, Any]:
    config: dict[str, Any] = {"num.standby.replicas": draw.choice((0, 0, 1, 1, 2))}
    if protocol == "classic":
        config["max.warmup.replicas"] = draw.choice((1, 2, 2, 4))
        config["acceptable.recovery.lag"] = lag = draw.choice((0, 100, 10_000, 10_000))
        # A small lag means that groups never settle: such episodes are long.
        config["probing.rebalance.interval.ms"] = draw.choice((60_000, 60_000, 600_000)) if lag > 100 else 600_000
    if draw.random() < 0.3:
        config["rack.aware.assignment.tags"] = ["zone"]
    if has_racks and protocol == "classic" and draw.random() < 0.7:
        config["rack.aware.assignment.strategy"] = draw.choice(("min_traffic", "balance_subtopology"))
    return config


def _settings(draw: random.Random, name: str, *, may_be_static: bool, has_racks: bool) -> dict[str, Any]:
    settings: dict[str, Any] = {"threads": draw.choice((1, 1, 1, 2, 3))}
    if draw.random() < 0.5:
        settings["tags"] = {"zone": draw.choice("ab")}
    if draw.random() < 0.3:
        settings["machine"] = draw.choice(("m1", "m2"))
    if may_be_static and draw.random() < 0.3:
        settings["instance_id"] = f"static-{name}"
    if has_racks and draw.random() < 0.95:
        settings["rack"] = draw.choice(_RACKS)
    if draw.random() < 0.15:
        settings["metadata_version"] = draw.choice((9, 10, 12))
    if draw.random() < 0.3:
        settings["host"] = f"{name}:8080"
    return settings


def _changelog(draw: random.Random) -> dict[str, Any]:
    # From nothing to ten minutes of restoring.
    records, size = draw.choice(((0, 200), (10, 2_000), (20_000, 200), (1_000_000, 20), (5_000_000, 200), _HUGE))
    changelog: dict[str, Any] = {"records": records, "bytes_per_record": size}
    if draw.random() < 0.4:
        changelog["records_per_s"] = draw.choice((0.1, 10, 500))
    if draw.random() < 0.1:
        changelog["backlog_records"] = draw.choice((10, 10_000))
    return changelog


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
    settings: Mapping[str, Mapping[str, Any]],
    running: Mapping[str, int],
    started: int = 0,
) -> list[dict[str, Any]]:
    names = list(settings)
    presence = RunningInstances(running)
    events: list[dict[str, Any]] = []
    now = 0
    for name in [name for name in names if name not in running][:started]:
        now += draw.randint(0, 300)
        events.append({"at_ms": now, **_start(draw, name, settings, presence.up)})
        presence.happen(_read(events[-1]))
    for number in range(draw.randint(0 if events else 1, 9 - len(events))):
        if number or events:
            now += draw.randint(0, draw.choice((300, 5_000, 60_000, 900_000)))
        presence.advance(now)
        stalled = {name for name in names if presence.is_stalled(name, now)}
        events.append({"at_ms": now, **_event(draw, names, settings, presence, stalled)})
        presence.happen(_read(events[-1]))
        events += _drawn_apart(apart, presence, tasks, now)
    events += _changed_tasks(apart, tasks, events)
    events.sort(key=lambda event: event["at_ms"])
    now += _LONGEST_ROLL_MS
    presence.advance(now)
    if not any(presence.up.values()):
        events.append({"at_ms": now, **_start(draw, draw.choice(names), settings, presence.up)})
    return events


def _drawn_apart(
    draw: random.Random, presence: RunningInstances, tasks: Sequence[str], now: int
) -> list[dict[str, Any]]:
    free = [name for name, is_up in presence.up.items() if is_up and not presence.is_stalled(name, now)]
    if not free or draw.random() >= _APART:
        return []
    name = draw.choice(free)
    if draw.random() < 0.4:
        lost = draw.sample(tasks, draw.randint(1, min(3, len(tasks))))
        return [{"at_ms": now, "type": "corrupt", "client": name, "tasks": lost}]
    event: dict[str, Any] = {"at_ms": now, "type": "add_thread", "client": name}
    if len(presence.threads[name]) > 1 and draw.random() < 0.5:
        number: Mapping[str, int] = draw.choice(({}, {"thread": draw.choice(presence.threads[name])}))
        event = {"at_ms": now, "type": "remove_thread", "client": name, **number}
    presence.happen(_read(event))
    return [event]


def _changed_tasks(
    draw: random.Random, tasks: Sequence[str], events: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    if len(tasks) < 2 or draw.random() >= _CHANGES_TASKS:
        return []
    found: list[dict[str, Any]] = []
    for at_ms in sorted(draw.choice(events)["at_ms"] + draw.choice((0, 1_500)) for _ in range(draw.randint(1, 2))):
        left = sorted(draw.sample(tasks, draw.randint(1, len(tasks))))
        found.append({"at_ms": at_ms, "type": "tasks", "tasks": left})
        if draw.random() < 0.5:
            found.append({"at_ms": at_ms, "type": "metadata_changes"})
    return found


def _read(event: Mapping[str, Any]) -> StreamsEvent:
    return StreamsEvent(event["at_ms"], event["type"], event.get("client", ""), event)


def _event(
    draw: random.Random,
    names: Sequence[str],
    settings: Mapping[str, Mapping[str, Any]],
    presence: RunningInstances,
    stalled: Collection[str],
) -> dict[str, Any]:
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
        return _start(draw, draw.choice(new + down), settings, started)
    if kind == "crash":
        return {"type": kind, "client": draw.choice(up)}
    if kind == "stop":
        leave: Mapping[str, bool] = draw.choice(({}, {}, {"leave": True}, {"leave": False}))
        return {"type": kind, "client": draw.choice(free), **leave}
    if kind in ("pause", "busy"):
        name = draw.choice(free)
        thread = {"thread": draw.choice(presence.threads[name])} if kind == "busy" else {}
        return {"type": kind, "client": name, "for_ms": draw.choice((10, 2_000, 20_000, 60_000, 400_000)), **thread}
    if kind == "roll":
        wait = draw.choice((1_000, 20_000, 90_000))
        upgrade = {"metadata_version": draw.choice((11, 12))} if draw.random() < 0.3 else {}
        return {"type": "rolling_restart", "down_ms": draw.randint(100, 20_000), "every_ms": wait, **upgrade}
    if kind == "lose_disk":
        return {"type": kind, "client": draw.choice(down)}
    if kind == "end_offsets_fail":
        return {"type": kind, "for_ms": draw.choice((5_000, 60_000))}
    return {"type": kind}


def _start(
    draw: random.Random, name: str, settings: Mapping[str, Mapping[str, Any]], started: Mapping[str, bool]
) -> dict[str, Any]:
    first = name not in started
    event: dict[str, Any] = {"type": "start", "client": name, **(settings[name] if first else {})}
    if draw.random() < 0.15:
        event["startup_ms"] = draw.choice((0, 60_000))
    if not first and draw.random() < 0.2:
        event["threads"] = draw.randint(1, 3)
    if not first and "host" in settings[name] and draw.random() < 0.3:
        event["host"] = f"{name}:{draw.randint(8081, 8083)}"
    return event


def with_rest(document: Mapping[str, Any]) -> dict[str, Any]:
    """The episode until the group has settled, with changes of metadata at the end."""
    wait = rest_ms(document)
    events = list(document["events"])
    last = events[-1]["at_ms"]
    changes = [{"at_ms": last + wait * (1 + each), "type": "metadata_changes"} for each in range(LAST_CHANGES)]
    return {**document, "events": [*events, *changes], "until_ms": last + wait * (1 + LAST_CHANGES)}
