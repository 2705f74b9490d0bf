"""Cases of parity: a scenario document with the names of its assignors, drawn by seed and number."""

from __future__ import annotations

import copy
import uuid
from random import Random
from typing import Any

import attrs

from assignment_api.releases import KafkaRelease, holds, release_named
from parity.applications import Application, draw_application
from parity.connect_histories import CONNECT_ASSIGNOR, draw_connect_history
from parity.groups import draw_clients, draw_config
from parity.oddities import Oddities, draw_oddities, odd_cost
from parity.plain_groups import PLAIN_ASSIGNORS, draw_plain_group, next_plain_group
from parity.reconciliations import RECONCILIATION_KIND, RECONCILIATIONS, draw_reconciliation
from parity.streams_groups import draw_streams_group, next_streams_group

__all__ = [
    "ASSIGNORS",
    "CONNECT_ASSIGNOR",
    "GROUP_ASSIGNORS",
    "KINDS",
    "Case",
    "at_release",
    "draw_case",
    "kind_of",
    "kinds_of",
    "next_round",
]

ASSIGNORS = ("high_availability", "sticky", "legacy_sticky", "fallback_prior")
_ASKED = (*ASSIGNORS, "sticky_4_4")
GROUP_ASSIGNORS = ("group_sticky", "group_sticky_4_4")
#: ``consumer`` has the three kinds of scenarios of plain groups.
KINDS = ("streams", "streams-group", RECONCILIATION_KIND, "connect", "consumer")
_UTILITIES = ("default_standby", "optimize_active", "optimize_standby", "validate", "identity")
#: Rounds of a history.
_ROUNDS = 5
_PLAIN_ROUNDS = 8
#: Distances between cases of streams groups, of plain groups, of Connect, and of members on their way to a target.
_GROUP_STEP = 10
_PLAIN_STEP = 10
_CONNECT_STEP = 20
_RECONCILIATION_STEP = 20


@attrs.frozen
class Case:
    """One scenario and the assignors to call.

    Args:
        asked: Assignors, ``utils.*``, ``threads``, or the coordinator's step in each release.
        threads: The distribution over consumers is requested, too.
        lives_by: Its answer is the past of the next round; ``None`` without a next round.
        round: Number of the round, from 0.
    """

    document: dict[str, Any]
    asked: tuple[str, ...]
    threads: bool = False
    lives_by: str | None = None
    round: int = 0


def kind_of(number: int) -> str:
    """The kind of scenario of a case."""
    if number % _GROUP_STEP == _GROUP_STEP - 1:
        return "streams-group"
    if number % _RECONCILIATION_STEP == _RECONCILIATION_STEP // 2 - 2:
        return RECONCILIATION_KIND
    if number % _PLAIN_STEP == 3:
        return "consumer"
    return "connect" if number % _CONNECT_STEP == _CONNECT_STEP - 2 else "streams"


def kinds_of(release: KafkaRelease) -> tuple[str, ...]:
    """The kinds that the driver of a release answers; it has plain consumers of 4.3 alone."""
    if not holds("connect_wire_2", release):
        return ("streams",)
    return tuple(kind for kind in KINDS if kind != "consumer" or release == release_named("4.3"))


def at_release(case: Case, release: KafkaRelease) -> Case:
    """The case with the assignors of one release alone."""
    newer = [name for name in case.asked if name.endswith("_4_4")]
    older = [name.removesuffix("_4_4") for name in newer]
    left_out = older if holds("sticky_4_4", release) else newer
    asked = tuple(name for name in case.asked if name not in left_out)
    if case.lives_by is None or case.lives_by in asked:
        return attrs.evolve(case, asked=asked)
    base = case.lives_by.removesuffix("_4_4")
    return attrs.evolve(case, asked=asked, lives_by=next(name for name in asked if name.removesuffix("_4_4") == base))


def draw_case(seed: int, number: int) -> Case:
    """The same for the same seed, independent of the other numbers."""
    chance = Random(f"{seed}/{number}")
    if kind_of(number) == "streams-group":
        lives_by = chance.choice(GROUP_ASSIGNORS) if chance.random() < 0.4 else None
        return Case(draw_streams_group(chance, f"parity-{seed}-{number:06}"), GROUP_ASSIGNORS, lives_by=lives_by)
    if kind_of(number) == "connect":
        return Case(draw_connect_history(chance, f"parity-{seed}-{number:06}"), (CONNECT_ASSIGNOR,))
    if kind_of(number) == RECONCILIATION_KIND:
        return Case(draw_reconciliation(chance, f"parity-{seed}-{number:06}"), RECONCILIATIONS)
    if kind_of(number) == "consumer":
        # Client-side cases have four answers each.
        kind = ("consumer", "consumer-group", "share-group")[number // _PLAIN_STEP % 3]
        asked, lives = PLAIN_ASSIGNORS[kind]
        lives_by = chance.choice(lives) if chance.random() < 0.15 else None
        return Case(draw_plain_group(chance, kind, f"parity-{seed}-{number:06}"), asked, lives_by=lives_by)
    style = chance.random()
    oddities = draw_oddities(chance)
    most_tasks, most_clients = _sizes(chance, oddities)
    application = draw_application(chance, most_tasks, oddities)
    document: dict[str, Any] = {
        "format": 1,
        "kind": "streams",
        "id": f"parity-{seed}-{number:06}",
        "config": draw_config(chance, application, oddities),
        "tasks": application.tasks,
        "clients": draw_clients(chance, application, most_clients, oddities),
    }
    if style < 0.22:
        operation = chance.choice(_UTILITIES)
        if operation != "identity":
            _give_assignment(chance, application, document, oddities, is_tidy=operation.startswith("optimize"))
        if operation.startswith("optimize"):
            _give_params(chance, application, document, oddities)
        return Case(document, (f"utils.{operation}",))
    has_lags = all(client["lags"] is not None for client in document["clients"])
    if style < 0.3 and has_lags:
        _give_assignment(chance, application, document, oddities, is_tidy=True)
        known = {client["process_id"] for client in document["clients"]}
        # An invalid client fails the rebalance before any distribution.
        document["assignment"] = {name: held for name, held in document["assignment"].items() if name in known}
        document["params"] = {"via": chance.choice(("legacy", "custom"))}
        return Case(document, ("threads",))
    if style < 0.36:
        return Case(document, _ASKED, lives_by=chance.choice(ASSIGNORS[:3]))
    return Case(document, _ASKED, threads=has_lags and chance.random() < (0.8 if oddities.tasks_collide else 0.4))


def _sizes(chance: Random, oddities: Oddities) -> tuple[int, int]:
    """Most tasks and most clients: Java's search grows with the square of both."""
    if oddities.processes_collide:
        return (16, 30)
    if oddities.tasks_collide:
        return chance.choice(((60, 2), (60, 3), (60, 3), (30, 7)))
    return (40, 7) if chance.random() < 0.99 else (120, 20)


# --- input of the utilities -----------------------------------------------------------------------


def _give_assignment(
    chance: Random, application: Application, document: dict[str, Any], oddities: Oddities, *, is_tidy: bool
) -> None:
    """In 24 of 25 cases every task is active exactly once."""
    processes = [client["process_id"] for client in document["clients"]]
    is_tidy = is_tidy and chance.random() < (0.7 if oddities.is_untidy else 0.96)
    if not is_tidy and chance.random() < 0.15:
        processes.append(str(uuid.UUID(int=chance.getrandbits(128))))
    if chance.random() < 0.2:
        processes = chance.sample(processes, chance.randint(1, len(processes)))
    given: dict[str, dict[str, list[str]]] = {process: {"active": [], "standby": []} for process in processes}
    lists = list(given.values())
    for task in application.ids():
        if is_tidy or chance.random() < 0.9:
            chance.choice(lists)["active"].append(task)
        if not is_tidy and chance.random() < 0.02:
            _add(chance.choice(lists), "active", task)
    logged_only = 0.3 if oddities.is_untidy else 1.0 if is_tidy else 0.7
    standbys = application.logged() if chance.random() < logged_only else application.ids()
    most = len(lists) if oddities.has_many_standbys else 2
    for task in standbys if chance.random() < 0.7 else ():
        for tasks in chance.sample(lists, chance.randint(0, min(most, len(lists)))):
            _add(tasks, "standby", task)
    if not is_tidy and chance.random() < 0.15:
        _add(chance.choice(lists), chance.choice(("active", "standby")), application.lost_task(chance))
    if oddities.is_untidy:
        _repeat(chance, application, lists)
    for tasks in lists:
        if chance.random() < 0.3:
            chance.shuffle(tasks["active"])
            chance.shuffle(tasks["standby"])
    document["assignment"] = given


def _repeat(chance: Random, application: Application, lists: list[dict[str, list[str]]]) -> None:
    """Repeats in one role count once; Kafka refuses the rare ones in both roles. Some tasks are lost."""
    for tasks in lists:
        for role in ("active", "standby"):
            tasks[role] += [task for task in tasks[role] if chance.random() < 0.15]
    if chance.random() < 0.04:
        tasks = chance.choice(lists)
        tasks["standby"] += tasks["active"][:1]
    if chance.random() < 0.15:
        lost = application.lost_task(chance)
        for tasks in chance.sample(lists, chance.randint(1, min(3, len(lists)))):
            _add(tasks, "standby", lost)


def _add(tasks: dict[str, list[str]], role: str, task: str) -> None:
    if task not in tasks["active"] and task not in tasks["standby"]:
        tasks[role].append(task)


def _give_params(chance: Random, application: Application, document: dict[str, Any], oddities: Oddities) -> None:
    tasks: str | list[str] = chance.choice(("all", "all", "stateful", "stateless"))
    if chance.random() < 0.15:
        ids = application.ids()
        tasks = chance.sample(ids, chance.randint(0, len(ids)))
        if oddities.is_untidy and chance.random() < 0.2:
            tasks.append(application.lost_task(chance))
    document["params"] = {
        "tasks": tasks,
        "traffic_cost": chance.choice((None, None, 1, 10)),
        "non_overlap_cost": chance.choice((None, None, 0, 1, 10)),
    }
    if oddities.costs_overflow and chance.random() < 0.4:
        document["params"][chance.choice(("traffic_cost", "non_overlap_cost"))] = odd_cost(chance)
    if chance.random() < 0.85:
        # Without racks, costs and a strategy these utilities do nothing.
        config = document["config"]
        if config.get("rack.aware.assignment.strategy", "none") == "none":
            config["rack.aware.assignment.strategy"] = chance.choice(("min_traffic", "balance_subtopology"))
        for key in ("rack.aware.assignment.traffic_cost", "rack.aware.assignment.non_overlap_cost"):
            if config.get(key) is None:
                config[key] = chance.choice((0, 1, 10))


# --- histories ------------------------------------------------------------------------------------


def next_round(seed: int, case: Case, answer: dict[str, Any]) -> Case | None:
    """The round after ``case``; ``None`` at the end of the history.

    The answer of ``lives_by`` becomes the clients' tasks. Moved state is restored in part, and clients leave and join.
    """
    is_plain = case.document["kind"] in PLAIN_ASSIGNORS
    most = _PLAIN_ROUNDS if is_plain else _ROUNDS
    if case.lives_by is None or case.round + 1 >= most or answer["error"] is not None:
        return None
    before = case.document["id"].partition("-round-")[0]
    chance = Random(f"{seed}/{before}/{case.round}")
    if case.document["kind"] == "streams-group":
        document = next_streams_group(chance, case.document, answer["members"])
    elif is_plain:
        document = next_plain_group(chance, case.document, answer["members"], case.lives_by, case.round + 1)
    else:
        document = _next_application(chance, case, answer)
    document["id"] = f"{before}-round-{case.round + 1}"
    return Case(document, case.asked, lives_by=case.lives_by, round=case.round + 1)


def _next_application(chance: Random, case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    document = copy.deepcopy(case.document)
    ends = chance.choice((500, 20_000, 100_000))
    for client in document["clients"]:
        _run(chance, client, answer["assignment"][client["process_id"]], ends)
    if len(document["clients"]) > 1 and chance.random() < 0.3:
        document["clients"].remove(chance.choice(document["clients"]))
    if chance.random() < 0.3:
        document["clients"].append(_joined(chance, document, case.round, ends))
    return document


def _run(chance: Random, client: dict[str, Any], tasks: dict[str, list[str]], ends: int) -> None:
    lags = client["lags"]
    client["previous_active"], client["previous_standby"] = tasks["active"], tasks["standby"]
    if lags is not None:
        for task in lags:
            if task in tasks["active"]:
                lags[task] = -2
            elif task in tasks["standby"]:
                lags[task] = chance.choice((0, 0, max(0, lags[task]) // 2, ends // 2))
            else:
                lags[task] = ends
    if client["previous_by_consumer"] is not None and client["consumers"]:
        client["previous_by_consumer"] = {consumer: [] for consumer in client["consumers"]}
        for task in tasks["active"] + tasks["standby"]:
            client["previous_by_consumer"][chance.choice(client["consumers"])].append(task)


def _joined(chance: Random, document: dict[str, Any], number: int, ends: int) -> dict[str, Any]:
    """A newcomer like one of the others, with an empty disk."""
    client: dict[str, Any] = copy.deepcopy(chance.choice(document["clients"]))
    client["process_id"] = str(uuid.UUID(int=chance.getrandbits(128)))
    client["consumers"] = [f"{consumer}-joined-{number}" for consumer in client["consumers"]]
    client["previous_active"], client["previous_standby"] = [], []
    client["previous_by_consumer"] = None
    if client["lags"] is not None:
        client["lags"] = dict.fromkeys(client["lags"], ends)
    return client
