"""Random groups: clients with previous tasks, lags, and the configuration of the assignment."""

from __future__ import annotations

import uuid
from random import Random
from typing import Any

from parity.applications import Application
from parity.oddities import PLAIN, Oddities, colliding_process_ids, odd_cost

__all__ = ["draw_clients", "draw_config"]

LARGEST_LAG = 2**63 - 1
_RUNNING_ACTIVE = -2
_UNKNOWN = -3


def draw_config(chance: Random, application: Application, oddities: Oddities = PLAIN) -> dict[str, Any]:
    """One in sixty has a value that Kafka refuses."""
    config: dict[str, Any] = {
        "num.standby.replicas": chance.choice((0, 0, 0, 1, 1, 1, 2, 2, 3)),
        "max.warmup.replicas": chance.choice((1, 2, 2, 2, 10)),
        "acceptable.recovery.lag": chance.choice((0, 100, 10_000, 10_000, 10_000, LARGEST_LAG)),
        "rack.aware.assignment.tags": chance.sample(application.tags, chance.randint(0, len(application.tags)))
        if chance.random() < 0.4
        else [],
        "rack.aware.assignment.strategy": chance.choice(("none", "none", "min_traffic", "balance_subtopology")),
        "rack.aware.assignment.traffic_cost": _cost(chance),
        "rack.aware.assignment.non_overlap_cost": _cost(chance),
    }
    if (oddities.tasks_collide or oddities.processes_collide) and chance.random() < 0.6:
        _give_costs(chance, config)
    if oddities.costs_overflow:
        _give_odd_costs(chance, config)
    if chance.random() < 0.5:
        config["probing.rebalance.interval.ms"] = 600_000
    if chance.random() < 0.03:
        del config[chance.choice(list(config))]
    odd = chance.random()
    if odd < 0.017:
        config.update(chance.choice(_REFUSED))
    elif odd < 0.027:
        config["num.standby.replicas"] = chance.choice((-1, 50))
    return config


#: Each is out of Kafka's range.
_REFUSED: tuple[dict[str, Any], ...] = (
    {"max.warmup.replicas": 0},
    {"max.warmup.replicas": -3},
    {"acceptable.recovery.lag": -1},
    {"probing.rebalance.interval.ms": 59_999},
    {"rack.aware.assignment.tags": ["a", "b", "c", "d", "e", "f"]},
    {"rack.aware.assignment.strategy": "nearest"},
    {"rack.aware.assignment.strategy": "MIN_TRAFFIC"},
)


_COSTS = (None, None, None, None, 0, 1, 2, 5, 10, 10, 100)


def _cost(chance: Random) -> int | None:
    return chance.choice((-1, 1_000_000)) if chance.random() < 0.02 else chance.choice(_COSTS)


_STRATEGY = "rack.aware.assignment.strategy"
_COST_KEYS = ("rack.aware.assignment.traffic_cost", "rack.aware.assignment.non_overlap_cost")


def _give_costs(chance: Random, config: dict[str, Any]) -> None:
    """Without costs the public utilities move no task; moves exercise removal from hash tables."""
    config[_STRATEGY] = chance.choice(("min_traffic", "balance_subtopology"))
    config.update({key: chance.choice((0, 1, 10)) for key in _COST_KEYS})


def _give_odd_costs(chance: Random, config: dict[str, Any]) -> None:
    config[_STRATEGY] = chance.choice(("min_traffic", "balance_subtopology"))
    for key in chance.sample(_COST_KEYS, chance.choice((1, 1, 2))):
        config[key] = odd_cost(chance)
    for key in _COST_KEYS:
        if config[key] is None and chance.random() < 0.7:
            config[key] = chance.choice((0, 1, 10))


def draw_clients(
    chance: Random, application: Application, most_clients: int, oddities: Oddities = PLAIN
) -> list[dict[str, Any]]:
    """At least one client, in insertion order; they agree neither in racks nor in tags nor in size."""
    number = chance.randint(1, most_clients)
    if oddities.processes_collide:
        number = chance.randint(9, chance.choice((14, 14, 30)))
    most_threads = chance.choice((2, 4, 8, 12) if oddities.tasks_collide else (1, 1, 2, 4, 8))
    without_rack = chance.choice((0.0,) * 5 + (0.2, 1.0))
    clients = []
    for place, process in enumerate(_process_ids(chance, number, oddities)):
        threads = chance.randint(1, most_threads)
        clients.append(
            {
                "process_id": process,
                "rack": None if chance.random() < without_rack else chance.choice([*application.racks, "rack-far"]),
                "tags": _tags(chance, application),
                "host": f"host{place}:80" if chance.random() < 0.3 else None,
                "threads": threads,
                "consumers": _consumers(chance, place, threads, oddities),
                "previous_active": [],
                "previous_standby": [],
                "lags": {},
                "previous_by_consumer": None,
            }
        )
    _give_past(chance, application, clients, oddities)
    if chance.random() < 0.05:
        # A synthetic client may have no consumers; without threads Kafka's has none either.
        client = chance.choice(clients)
        client["consumers"], client["previous_by_consumer"] = [], None
        if chance.random() < 0.2:
            client["threads"] = 0
    return clients


def _consumers(chance: Random, place: int, threads: int, oddities: Oddities) -> list[str]:
    """Odd names are not created in sort order, and sort differently as code units and characters."""
    names = [f"app-{place}-thread-{thread}-consumer" for thread in range(1, threads + 1)]
    if oddities != PLAIN and chance.random() < 0.4:
        names = [chance.choice(("Aa", "BB", "", "z")) + name + chance.choice(_ODD_ENDS) for name in names]
    return names


_ODD_ENDS = ("", "", "\uffff", "\U00010000", "\uff5e", "\U0001f600", "ß")


def _process_ids(chance: Random, number: int, oddities: Oddities) -> list[str]:
    style = chance.random()
    if oddities.processes_collide:
        found = colliding_process_ids(chance, number)
    elif style < 0.55:
        found = [uuid.UUID(int=place + 1) for place in range(number)]
    elif style < 0.85:
        found = [uuid.UUID(int=chance.getrandbits(128)) for _ in range(number)]
    else:
        # Characters of both halves, and halves that cancel each other in the hash.
        words = (0, 1, 2**63, 2**63 - 1, 2**64 - 1, 2**32, 2**32 - 1, chance.getrandbits(64))
        ids = {chance.choice(words) << 64 | chance.choice(words) for _ in range(number)}
        found = [uuid.UUID(int=value) for value in sorted(ids)]
    if chance.random() < 0.5:
        chance.shuffle(found)
    return [str(process) for process in found]


def _tags(chance: Random, application: Application) -> dict[str, str]:
    values = {"zone": "abc", "cluster": "xy", "region": "pqrs", "arch": "mn"}
    lacking = chance.random() < 0.1
    return {tag: chance.choice(values[tag]) for tag in application.tags if not (lacking and chance.random() < 0.5)}


def _give_past(chance: Random, application: Application, clients: list[dict[str, Any]], oddities: Oddities) -> None:
    """Previous tasks, their lags, and the reports of consumers."""
    logged = application.logged()
    style = chance.random()
    known = chance.choice((0.3, 0.8, 1.0)) if style > 0.25 else 0.0
    members = chance.sample(clients, chance.randint(1, len(clients)))
    replicas = chance.choice((2, 5, len(members))) if oddities.has_many_standbys else chance.choice((0, 1, 1, 2))
    for task in application.ids():
        if chance.random() < known:
            chance.choice(members)["previous_active"].append(task)
    for task in logged:
        if chance.random() < known:
            for client in chance.sample(members, min(replicas, len(members))):
                if task not in client["previous_active"]:
                    client["previous_standby"].append(task)
    if chance.random() < 0.06:
        _spoil(chance, application, clients)
    if oddities.is_untidy:
        _contradict(chance, application, clients)
    far = chance.choice((10, 500, 20_000, 100_000))
    for client in clients:
        client["lags"] = {task: _lag(chance, client, task, far) for task in logged}
    if logged and chance.random() < 0.02:
        chance.choice(clients)["lags"].pop(chance.choice(logged))
    if chance.random() < 0.01:
        for client in clients:
            client["lags"] = None
    if chance.random() < 0.6:
        for client in clients:
            _report_by_consumer(chance, client, logged)


def _spoil(chance: Random, application: Application, clients: list[dict[str, Any]]) -> None:
    """Lost tasks, and two clients with one task."""
    client = chance.choice(clients)
    held = client[chance.choice(("previous_active", "previous_standby"))]
    lost = application.lost_task(chance)
    if lost not in held:  # a large application has a task of that number
        held.append(lost)
    claimed = [task for other in clients for task in other["previous_active"]]
    if claimed:
        task = chance.choice(claimed)
        if task not in client["previous_active"] + client["previous_standby"]:
            client["previous_active"].append(task)


def _contradict(chance: Random, application: Application, clients: list[dict[str, Any]]) -> None:
    """Tasks of several clients, or in both roles of one, and standbys without a changelog."""
    for task in application.ids():
        if chance.random() < 0.2:
            client = chance.choice(clients)
            role = chance.choice(("previous_active", "previous_standby"))
            if task not in client[role]:
                client[role].append(task)
    if chance.random() < 0.3:
        gone = [application.lost_task(chance) for _ in range(chance.randint(1, 12))]
        for client in clients:
            client["previous_active"] += [task for task in dict.fromkeys(gone) if chance.random() < 0.2]
            client["previous_standby"] += [task for task in dict.fromkeys(gone) if chance.random() < 0.3]
        for client in clients:
            for role in ("previous_active", "previous_standby"):
                client[role] = list(dict.fromkeys(client[role]))


def _lag(chance: Random, client: dict[str, Any], task: str, far: int) -> int:
    if task in client["previous_active"]:
        return _RUNNING_ACTIVE if chance.random() < 0.95 else chance.choice((0, _UNKNOWN, far))
    if task in client["previous_standby"]:
        return chance.choice((0, 5, 100, 500, 10_000, 10_001, far))
    if chance.random() < 0.01:
        return chance.choice((_UNKNOWN, LARGEST_LAG, 0))
    return far if chance.random() < 0.8 else chance.choice((0, far, far * 3))


def _report_by_consumer(chance: Random, client: dict[str, Any], logged: list[str]) -> None:
    reporting = client["consumers"] if chance.random() < 0.8 else client["consumers"][1:]
    reported: dict[str, list[str]] = {consumer: [] for consumer in reporting}
    for task in client["previous_active"] + client["previous_standby"]:
        if reported and (task in logged or chance.random() < 0.05):
            reported[chance.choice(reporting)].append(task)
    client["previous_by_consumer"] = reported
