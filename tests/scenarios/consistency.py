"""Consistency of a history's states with one real group, which no single document shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

__all__ = ["contradictions"]

RUNNING = -2
#: Fixed properties of a running instance.
LASTING = ("process_id", "rack", "tags", "host", "threads")


def contradictions(rounds: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences about impossible changes, empty for a good history."""
    found = [f"{document['id']}: {fault}" for document in rounds for fault in _of_a_state(document)]
    for before, after in pairwise(rounds):
        found += [f"{after['id']}: {fault}" for fault in _between(before, after)]
    return found


def _of_a_state(document: Mapping[str, Any]) -> Iterator[str]:
    tasks = {task["id"]: task for task in document["tasks"]}
    logged = [task for task, entry in tasks.items() if entry["logged"]]
    if not document["clients"]:
        yield "nobody is there"
    if len({"__" in task for task in tasks}) > 1:
        yield "some tasks are named, others are not"
    if "workload" in document and list(document["workload"]["tasks"]) != list(tasks):
        yield "the workload is one of other tasks"
    yield from _of_tasks(tasks)
    consumers = [consumer for client in document["clients"] for consumer in client["consumers"]]
    if len(set(consumers)) != len(consumers):
        yield "two clients share a consumer"
    owners: dict[str, str] = {}
    for client in document["clients"]:
        name = client["process_id"]
        active, standby = client["previous_active"], client["previous_standby"]
        for task in [*active, *standby]:
            if task not in tasks:
                yield f"{name} had task {task}, which does not exist"
        for task in active:
            if owners.setdefault(task, name) != name:
                yield f"{name} and {owners[task]} both ran {task}"
        if set(active) & set(standby):
            yield f"{name} had a task as active and as standby"
        if any(not tasks[task]["logged"] for task in standby if task in tasks):
            yield f"{name} had a standby of a task without a changelog"
        if len(client["consumers"]) != client["threads"]:
            yield f"{name} has {client['threads']} threads and {len(client['consumers'])} consumers"
        reported = [task for found in client["previous_by_consumer"].values() for task in found]
        if len(set(reported)) != len(reported) or set(reported) != {*active, *standby} & set(logged):
            yield f"the consumers of {name} do not report what it had"
        if client["lags"] is not None:
            yield from _of_lags(client, logged)
    if len({client["lags"] is None for client in document["clients"]}) > 1:
        yield "some clients have lags"


def _of_tasks(tasks: Mapping[str, Any]) -> Iterator[str]:
    for task, entry in tasks.items():
        partitions = entry["partitions"]
        if entry["stateful"] != bool(entry["stores"]) or entry["logged"] != any(p["changelog"] for p in partitions):
            yield f"task {task} contradicts itself"
        if not any(partition["source"] for partition in partitions):
            yield f"task {task} reads nothing"
        if {partition["partition"] for partition in partitions} != {int(task.rpartition("_")[2])}:
            yield f"task {task} has partitions of other tasks"


def _of_lags(client: Mapping[str, Any], logged: Sequence[str]) -> Iterator[str]:
    name, held = client["process_id"], {*client["previous_active"], *client["previous_standby"]}
    if list(client["lags"]) != logged:
        yield f"{name} has lags of other tasks than those with a changelog"
    for task, lag in client["lags"].items():
        if lag < 0 and (lag != RUNNING or task not in client["previous_active"]):
            yield f"{name} has lag {lag} in {task}"
        if task not in held and lag == RUNNING:
            yield f"{name} runs {task} and has nothing of it"


def _between(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if after["config"] != before["config"]:
        yield "the configuration changed"
    if after["source"]["time_ms"] <= before["source"]["time_ms"]:
        yield "the clock did not go on"
    if after["source"]["generation"] != before["source"]["generation"] + 1:
        yield "a generation is missing"
    if after["source"]["group"] != before["source"]["group"]:
        yield "it is another group"
    known = {task["id"]: task for task in before["tasks"]}
    if any(task != known.get(task["id"], task) for task in after["tasks"]):
        yield "a task changed"
    ran = {tuple(client["consumers"]): client for client in before["clients"]}
    for client in after["clients"]:
        earlier = ran.get(tuple(client["consumers"]))
        if earlier is None:
            if client["previous_active"]:
                yield f"{client['process_id']} has just started and ran tasks before"
        elif any(client[key] != earlier[key] for key in LASTING):
            yield f"{client['process_id']} changed while it ran"
    ends = [_ends(document) for document in (before, after)]
    for task, end in ends[1].items():
        if end < ends[0].get(task, 0):
            yield f"the changelog of {task} became shorter"


def _ends(document: Mapping[str, Any]) -> dict[str, int]:
    ends: dict[str, int] = {}
    for client in document["clients"]:
        held = {*client["previous_active"], *client["previous_standby"]}
        ends |= {task: lag for task, lag in (client["lags"] or {}).items() if task not in held}
    return ends
