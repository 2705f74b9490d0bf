"""The families of episodes of Streams groups, by event (docs, "Generated episodes").

Each history is one document of kind ``streams-episode``: a calm group with one kind of event. Groups have two to thirty
instances in three racks, and ten megabytes to a terabyte of state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs

from assignment_api.streams import ProcessID
from assignor_lab.scenarios.families.draws import DrawnFamily, Draws
from assignor_lab.scenarios.families.events import START_MS

__all__ = ["drawn"]

_INSTANCES = ((35, (2, 3)), (40, (4, 6)), (20, (7, 12)), (5, (13, 30)))
_THREADS = ((50, 1), (35, 2), (15, 4))
_STANDBYS = ((55, 0), (40, 1), (5, 2))
_SESSIONS_MS = ((70, 45_000), (30, 10_000))
_RACKS = ("r1", "r2", "r3")
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
    document: Mapping[str, Any]

    def some(self, most: int) -> list[str]:
        names = list(self.names)
        count = self.draws.between(1, max(1, min(most, len(names) - 1)))
        return [names.pop(self.draws.below(len(names))) for _ in range(count)]

    def new(self, number: int) -> dict[str, Any]:
        rack = _RACKS[(len(self.names) + number) % len(_RACKS)]
        return {"client": f"new-{number}", "threads": self.threads, "rack": rack}


Event = dict[str, Any]
_Happens = Callable[[_Group], list[Event]]


def _rolling_restart(group: _Group) -> list[Event]:
    down_ms = 1_000 * group.draws.spread(2, 64)
    return [
        {
            "at_ms": _EVENT_MS, "type": "rolling_restart", "clients": list(group.names), "down_ms": down_ms,
            "every_ms": down_ms + 1_000 * group.draws.between(30, 120),
        }
    ]  # fmt: skip


def _crash(group: _Group) -> list[Event]:
    events: list[Event] = []
    for name in group.some(1):
        events.append({"at_ms": _EVENT_MS, "type": "crash", "client": name})
        if group.draws.percent(70):
            back = _EVENT_MS + 1_000 * group.draws.between(5, 600)
            events.append({"at_ms": back, "type": "start", "client": name})
    return events


def _scale_out(group: _Group) -> list[Event]:
    count = group.draws.between(1, max(1, len(group.names) // 2))
    return [{"at_ms": _EVENT_MS, "type": "start", **group.new(number)} for number in range(count)]


def _scale_in(group: _Group) -> list[Event]:
    leaves = group.draws.percent(50)
    return [
        {"at_ms": _EVENT_MS, "type": "stop", "client": name, "leave": leaves}
        for name in group.some(max(1, len(group.names) // 2))
    ]


def _lost_zone(group: _Group) -> list[Event]:
    lost = _RACKS[group.draws.below(min(len(_RACKS), len(group.names)))]
    names = [name for place, name in enumerate(group.names) if _RACKS[place % len(_RACKS)] == lost]
    events: list[Event] = [{"at_ms": _EVENT_MS, "type": "crash", "client": name} for name in names]
    if group.draws.percent(60):
        back = _EVENT_MS + 60_000 * group.draws.between(5, 30)
        events += [{"at_ms": back, "type": "start", "client": name} for name in names]
    return events


def _lost_disks(group: _Group) -> list[Event]:
    back = _EVENT_MS + 1_000 * group.draws.between(30, 300)
    names = group.some(2)
    return [
        *({"at_ms": _EVENT_MS, "type": "crash", "client": name} for name in names),
        *({"at_ms": back, "type": "lose_disk", "client": name} for name in names),
        *({"at_ms": back, "type": "start", "client": name} for name in names),
    ]


def _slow_joiners(group: _Group) -> list[Event]:
    every_ms = 1_000 * group.draws.between(20, 90)
    return [
        {"at_ms": _EVENT_MS + number * every_ms, "type": "start", **group.new(number)}
        for number in range(group.draws.between(2, 4))
    ]


def _steady(group: _Group) -> list[Event]:
    # An instance has just joined, and the group probes until its state is in place.
    return [{"at_ms": 1_000, "type": "start", **group.new(0)}]


def _drawn(name: str, seed: int, *, is_static: bool) -> _Group:
    draws = Draws(name, seed, "group")
    count = draws.between(*draws.weighted(_INSTANCES))
    threads = draws.weighted(_THREADS)
    processes = sorted((ProcessID(UUID(draws.uuid())) for _ in range(count)), key=ProcessID.sort_key)
    names = [str(process) for process in processes]
    tasks, weights = _tasks(draws)
    stateful = [task["id"] for task in tasks if task["logged"]]
    most = _LEAST_STATE * 100 if is_static else _MOST_STATE
    total = draws.spread(_LEAST_STATE, most)
    record_bytes = draws.spread(100, 2_000)
    state = {task: total * weights[task] // max(1, sum(weights[each] for each in stateful)) for task in stateful}
    inputs = {task["id"]: draws.spread(1_000, 1_000_000) for task in tasks}
    standbys = draws.weighted(_STANDBYS)
    document = {
        "format": 1, "kind": "streams-episode", "id": f"{name}-{seed}",
        "initial": {
            "format": 1, "kind": "streams", "id": f"{name}-{seed}",
            "config": {"num.standby.replicas": standbys},
            "tasks": tasks,
            "clients": [] if is_static else _clients(names, threads, tasks, standbys),
            "source": {"time_ms": START_MS},
            "workload": {
                "tasks": {
                    task: {"input_bytes_per_s": inputs[task], **({"state_bytes": state[task]} if task in state else {})}
                    for task in inputs
                }
            },
        },
        "changelogs": {
            task: {
                "records": size // record_bytes, "bytes_per_record": record_bytes,
                "records_per_s": inputs[task] // (5 * record_bytes),
            }
            for task, size in state.items()
        },
        "until_ms": _HOUR_MS,
        "timings": {"session_timeout_ms": draws.weighted(_SESSIONS_MS)},
    }  # fmt: skip
    return _Group(Draws(name, seed, "events"), names, threads, document)


def _tasks(draws: Draws) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The tasks, and the relative size of each one's state."""
    tasks: list[dict[str, Any]] = []
    weights: dict[str, int] = {}
    for subtopology in range(draws.between(1, 4)):
        logged = subtopology == 0 or draws.percent(60)
        for partition in range(draws.spread(4, 32)):
            name = f"{subtopology}_{partition}"
            topics = [(f"in-{subtopology}", False)] + ([(f"log-{subtopology}", True)] if logged else [])
            tasks.append(
                {
                    "id": name, "stateful": logged, "logged": logged, "stores": ["store"] if logged else [],
                    "partitions": [
                        {
                            "topic": topic, "partition": partition, "source": not is_log, "changelog": is_log,
                            "racks": _replicas(draws),
                        }
                        for topic, is_log in topics
                    ],
                }
            )  # fmt: skip
            weights[name] = draws.between(50, 200)
    return tasks, weights


def _replicas(draws: Draws) -> list[str]:
    first = draws.below(len(_RACKS))
    return [_RACKS[(first + number) % len(_RACKS)] for number in range(draws.weighted(((15, 1), (35, 2), (50, 3))))]


def _clients(
    names: Sequence[str], threads: int, tasks: Sequence[Mapping[str, Any]], standbys: int
) -> list[dict[str, Any]]:
    """High availability's placement in a calm group: tasks with state in turn, then the others."""
    active: dict[str, list[str]] = {name: [] for name in names}
    standby: dict[str, list[str]] = {name: [] for name in names}
    for place, task in enumerate(sorted(tasks, key=lambda each: not each["logged"])):
        active[names[place % len(names)]].append(task["id"])
        for copy in range(1, min(standbys + 1, len(names)) if task["logged"] else 1):
            standby[names[(place + copy) % len(names)]].append(task["id"])
    logged = {task["id"] for task in tasks if task["logged"]}
    clients = []
    for place, name in enumerate(names):
        consumers = [f"{name}-StreamThread-{number}-consumer" for number in range(1, threads + 1)]
        held = [task for task in (*active[name], *standby[name]) if task in logged]
        clients.append(
            {
                "process_id": name, "rack": _RACKS[place % len(_RACKS)], "threads": threads, "consumers": consumers,
                "tags": {}, "host": None, "previous_active": active[name], "previous_standby": standby[name],
                "lags": {task: -2 if task in active[name] else 0 for task in held},
                "previous_by_consumer": {
                    consumer: held[number::threads] for number, consumer in enumerate(consumers)
                },
            }
        )  # fmt: skip
    return clients


def _starts(group: _Group) -> list[Event]:
    return [
        {
            "at_ms": 0, "type": "start", "client": name, "process_id": name, "threads": group.threads,
            "rack": _RACKS[place % len(_RACKS)], "instance_id": f"static-{place}",
        }
        for place, name in enumerate(group.names)
    ]  # fmt: skip


@attrs.frozen
class _History:
    document: Mapping[str, Any]

    def round(self, number: int, previous: Any) -> Mapping[str, Any]:  # noqa: ARG002 - there is one round
        return self.document


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
            later = [{**event, "at_ms": event["at_ms"] + _FORMING_MS} for event in events]
            events = [*_starts(group), *later]
        until = group.document["until_ms"] + (_FORMING_MS if is_static else 0)
        return _History({**group.document, "events": events, "until_ms": until})

    return DrawnFamily(history, lambda seed: Draws(name, seed, "group").weighted(_INSTANCES)[1])
