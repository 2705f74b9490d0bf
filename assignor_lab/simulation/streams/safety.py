"""Random episodes of Streams groups, the rules that none of them may break, and the smallest episode that does.

No task is active on two threads at once; no task is lost for ever; the group comes to rest after the last event, or
goes round in a loop, which is shown.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from assignor_lab.simulation.streams.simulate import Played

__all__ = ["LOOP", "LOST", "OVERLAP", "BrokenRule", "broken_rules", "random_episode", "smallest"]

OVERLAP, LOST, LOOP = "two owners", "lost for ever", "does not come to rest"

#: Everything that happens is over by then; then come warm-ups, two in each minute, and session timeouts.
_BUSY_MS, _QUIET_MS = 240_000, 900_000
#: At rest means: no rebalance for so long before the end.
_CALM_MS = 240_000
#: Most plays while a smaller episode is looked for.
_MOST_TRIES = 60


@attrs.frozen
class BrokenRule:
    """A rule that an episode broke.

    Args:
        rule: One of the three.
        told: A sentence that says how.
    """

    rule: str
    told: str


def random_episode(seed: int) -> dict[str, Any]:
    """The document of an episode; equal seeds give equal documents."""
    draw = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    names = [f"i{number}" for number in range(1, draw.randint(2, 4) + 1)]
    threads = draw.choice((1, 1, 2))
    tasks = [
        {"id": f"{sub}_{number}", "stateful": not sub, "logged": not sub, "stores": None, "partitions": None}
        for sub, count in ((0, draw.randint(1, 6)), (1, draw.randint(0, 3)))
        for number in range(count)
    ]
    records = draw.choice((0, 100, 20_000, 200_000))
    static = draw.random() < 0.2
    ids = {name: {"instance_id": name} if static else {} for name in names}
    events = [{"at_ms": 1_000, "type": "start", "client": name, "threads": threads, **ids[name]} for name in names]
    events += _events(draw, names)
    return {
        "format": 1, "kind": "streams-episode", "id": f"random-{seed}",
        "initial": {
            "format": 1, "kind": "streams", "id": f"random-{seed}", "clients": [], "tasks": tasks,
            "config": {
                "num.standby.replicas": draw.choice((0, 0, 1, 2)),
                "max.warmup.replicas": draw.choice((1, 2, 4)),
                "acceptable.recovery.lag": draw.choice((0, 100, 10_000)),
                "probing.rebalance.interval.ms": 60_000,
            },
        },
        "changelogs": {
            task["id"]: {"records": records, "bytes_per_record": 200, "records_per_s": draw.choice((0, 10))}
            for task in tasks
            if task["logged"]
        },
        "missing_topics": draw.choice(([], ["by-key-repartition"])),
        "eos": draw.random() < 0.2,
        "events": events,
        "until_ms": _BUSY_MS + _QUIET_MS,
        "timings": {
            "session_timeout_ms": draw.choice((10_000, 45_000)), "startup_spread_ms": draw.choice((0, 4_000)),
            "state_cleanup_delay_ms": draw.choice((30_000, 600_000)),
        },
    }  # fmt: skip


def _events(draw: random.Random, names: list[str]) -> list[dict[str, Any]]:
    """Events in the order of time, none of which contradicts those before it; in the end somebody is there."""
    up = dict.fromkeys(names, True)
    events: list[dict[str, Any]] = []
    for time in sorted(draw.randrange(5_000, _BUSY_MS) for _ in range(draw.randint(1, 6))):
        name = draw.choice(names)
        if draw.random() < 0.1:
            events.append({"at_ms": time, "type": "end_offsets_fail", "for_ms": draw.randint(1_000, 30_000)})
        elif up[name]:
            kind = draw.choice(("stop", "crash"))
            leave = {"leave": draw.random() < 0.5} if kind == "stop" else {}
            events.append({"at_ms": time, "type": kind, "client": name, **leave})
            up[name] = False
        else:
            if draw.random() < 0.3:
                events.append({"at_ms": time, "type": "lose_disk", "client": name})
            events.append({"at_ms": time, "type": "start", "client": name})
            up[name] = True
    if not any(up.values()):
        events.append({"at_ms": _BUSY_MS, "type": "start", "client": names[0]})
    return events


def broken_rules(played: Played) -> list[BrokenRule]:
    """Every rule that an episode broke; none is as it should be."""
    world = played.world
    broken = [
        BrokenRule(OVERLAP, f"{world.tasks[each.task]} was active on {each.first} and {each.second}")
        for each in world.overlaps[:1]
    ]
    end_ms = world.begin_ms + played.episode.until_ms
    late = [each for each in played.generations if each.prepared_ms > end_ms - _CALM_MS]
    if late:
        every = (late[-1].prepared_ms - late[0].prepared_ms) / max(1, len(late) - 1) / 1000
        told = f"{len(late)} rebalances in the last {_CALM_MS // 1000} s, one every {every:.1f} s"
        return [*broken, BrokenRule(LOOP, told)]
    threads = [thread for instance in world.instances.values() if instance.is_up for thread in instance.threads]
    running = {task for thread in threads for task in thread.running}
    lost = [str(world.tasks[task]) for task in range(len(world.tasks)) if task not in running]
    if threads and lost:
        broken.append(BrokenRule(LOST, f"nobody runs {', '.join(lost)} {_CALM_MS // 1000} s after the last rebalance"))
    return broken


def smallest(document: Mapping[str, Any], breaks: Callable[[Mapping[str, Any]], bool]) -> Mapping[str, Any]:
    """The episode with as few events and tasks as still break the rule.

    Args:
        document: An episode that breaks it.
        breaks: Plays a document, and says whether it breaks the rule; false for one that contradicts itself.
    """
    tries = 0
    shrinks = True
    while shrinks and tries < _MOST_TRIES:
        shrinks = False
        for smaller in _smaller(document):
            tries += 1
            if breaks(smaller):
                document, shrinks = smaller, True
                break
            if tries >= _MOST_TRIES:
                break
    return document


def _smaller(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    events, initial = document["events"], document["initial"]
    fewer: list[Mapping[str, Any]] = [
        {**document, "events": [*events[:place], *events[place + 1 :]]} for place in reversed(range(len(events)))
    ]
    for place in reversed(range(len(initial["tasks"]))):
        tasks = [*initial["tasks"][:place], *initial["tasks"][place + 1 :]]
        left = {task["id"] for task in tasks}
        changelogs = {task: each for task, each in document["changelogs"].items() if task in left}
        if tasks:
            fewer.append({**document, "initial": {**initial, "tasks": tasks}, "changelogs": changelogs})
    return fewer
