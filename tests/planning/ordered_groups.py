"""Small groups at rest for the search of orders: instances with tasks, and a standby of each on another instance."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import UUID

from assignment_api.plugins import config_sources, discover
from assignor_lab.planning import Options, Terms, present_state, roll_plan
from assignor_lab.planning.connect_state import connect_state
from assignor_lab.planning.consumer_state import consumer_state
from assignor_lab.planning.orders.group import OrderedGroup, StreamsOrders
from assignor_lab.planning.orders.making import WantedOrder, connect_orders, consumer_orders
from assignor_lab.planning.variants import PlanVariant
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.scenarios.settings import given_settings
from tests.planning.consumer_groups import classic_group, consumer_group

#: Session timeout of the groups.
SESSION_MS = 10_000
_BYTES = 32_000_000


def group_document(
    loads: Sequence[int], *, threads: int = 2, neighbour: int = 1, static: bool = False
) -> dict[str, Any]:
    """A classic group whose instances run these numbers of tasks.

    Args:
        neighbour: The standby of a task is on the instance so many places after its owner; 0: there is none.
    """
    names = [f"d{place + 1}" for place in range(len(loads))]
    owners = [place for round_ in range(max(loads)) for place, load in enumerate(loads) if round_ < load]
    tasks = [f"0_{number}" for number in range(len(owners))]
    held: dict[str, dict[str, list[str]]] = {name: {"active": [], "standby": []} for name in names}
    for task, owner in zip(tasks, owners, strict=True):
        held[names[owner]]["active"].append(task)
        if neighbour:
            held[names[(owner + neighbour) % len(names)]]["standby"].append(task)
    ids = {name: str(UUID(int=place + 1)) for place, name in enumerate(names)}
    consumers = {
        name: [
            f"{name}-StreamThread-{number + 1}-consumer-{UUID(int=100 * place + number + 1_000)}"
            for number in range(threads)
        ]
        for place, name in enumerate(names)
    }
    clients = [
        {
            "process_id": ids[name], "rack": None, "tags": {}, "host": None, "threads": threads,
            "consumers": consumers[name], "previous_active": held[name]["active"],
            "previous_standby": held[name]["standby"],
            "lags": {task: -2 if task in held[name]["active"] else 0 for kind in held[name].values() for task in kind},
            "previous_by_consumer": None,
**(_static_members(name, consumers[name]) if static else {}),
        }
        for name in names
    ]  # fmt: skip
    return {
        "format": 1, "kind": "streams", "id": "orders",
        "config": {
            "acceptable.recovery.lag": 10_000, "max.warmup.replicas": 2, "num.standby.replicas": 1 if neighbour else 0,
            "probing.rebalance.interval.ms": 600_000, "rack.aware.assignment.tags": [],
            "rack.aware.assignment.strategy": "none", "rack.aware.assignment.traffic_cost": None,
            "rack.aware.assignment.non_overlap_cost": None,
        },
        "tasks": [
            {
                "id": task, "stateful": True, "logged": True, "stores": ["totals"],
                "partitions": [
                    {"topic": "work", "partition": number, "source": True, "changelog": False, "racks": None},
                    {"topic": "totals", "partition": number, "source": False, "changelog": True, "racks": None},
                ],
            }
            for number, task in enumerate(tasks)
        ],
        "clients": clients,
        "observed": {
            "assignment": {ids[name]: held[name] for name in names},
            "followup": False,
            "threads": {
                consumer: {kind: of[place::threads] for kind, of in held[name].items()}
                for name in names
                for place, consumer in enumerate(consumers[name])
            },
        },
        "source": {"time_ms": 1_795_469_736_346, "group": "orders", "generation": 7},
        "workload": {"tasks": {task: {"state_bytes": _BYTES} for task in tasks}},
        "assumptions": [],
    }  # fmt: skip


def _static_members(name: str, consumers: Sequence[str]) -> dict[str, Any]:
    ids = {each: {"client_id": name, "instance_id": f"{name}-{place}"} for place, each in enumerate(consumers)}
    return {"members": ids}


def written(document: dict[str, Any], folder: Path) -> Path:
    file = folder / "group.jsonl"
    file.write_text(json.dumps(document) + "\n")
    return file


def ordered(document: dict[str, Any], **options: Any) -> StreamsOrders:
    """The group as the search sees it."""
    terms = _terms()
    state = present_state(scenario_from_document(document, Place("orders")), terms.settings)
    plan = roll_plan(state, Options(start_ms=2_200, **options))
    return StreamsOrders({"": PlanVariant("", state, plan, terms)}, 0)


def _terms() -> Terms:
    sources = config_sources(None, (f"session.timeout.ms={SESSION_MS}", "heartbeat.interval.ms=3000"))
    return Terms(discover(), sources, given_settings(sources.above))


def all_orders(names: Sequence[str]) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Every list of batches of these instances."""
    if not names:
        yield ()
    for size in range(1, len(names) + 1):
        for batch in combinations(names, size):
            for rest in all_orders([name for name in names if name not in batch]):
                yield (batch, *rest)


# --- other kinds --------------------------------------------------------------------------------------------


def streams_document(size: int, tasks: int = 2) -> dict[str, Any]:
    """A group of the streams protocol: each instance has one thread with these tasks, and standbys of the next one."""
    ids = [str(UUID(int=place + 1)) for place in range(size)]
    held = {
        identity: {
            "active": {"0": [place * tasks + number for number in range(tasks)]},
            "standby": {"0": [(place - 1) % size * tasks + number for number in range(tasks)]},
            "warmup": {},
        }
        for place, identity in enumerate(ids)
    }
    members: list[dict[str, Any]] = [
        {
            "id": f"member-{place + 1:02}", "instance_id": None, "rack": None, "process_id": identity, "tags": {},
            "client_id": f"d{place + 1}", **held[identity], "task_offsets": {}, "task_end_offsets": {},
        }
        for place, identity in enumerate(ids)
    ]  # fmt: skip
    return {
        "format": 1, "kind": "streams-group", "id": "orders", "config": {"num.standby.replicas": 1},
        "subtopologies": [{"id": "0", "tasks": size * tasks, "stateful": True}], "members": members,
        "observed": {"members": {each["id"]: held[identity] for each, identity in zip(members, ids, strict=True)}},
        "source": {"time_ms": 1_795_469_736_346, "group": "orders", "generation": 7}, "assumptions": [],
    }  # fmt: skip


def connect_document(size: int, tasks: int = 2) -> dict[str, Any]:
    """A Connect group: each worker has a connector and its tasks."""
    members = [
        {
            "id": f"w{place + 1}",
            "owned": {"connectors": [f"c{place}"], "tasks": [f"c{place}-{number}" for number in range(tasks)]},
            "static": {"connectors": None, "tasks": None},
        }
        for place in range(size)
    ]
    connectors = {f"c{place}": tasks for place in range(size)}
    return {
        "format": 1, "kind": "connect", "id": "orders", "protocol": "sessioned", "max_delay_ms": 300_000,
        "rounds": [{"time_ms": 0, "connectors": connectors, "members": members}],
    }  # fmt: skip


def ordered_of_kind(kind: str, size: int) -> OrderedGroup:
    """A group of a kind as the search sees it, with two tasks or partitions for each member.

    Args:
        kind: ``dynamic``, ``static``, ``leave`` (Streams, classic protocol), ``streams``, ``connect``, ``classic``,
            ``classic-static``, ``consumer`` or ``consumer-static``.
    """
    if kind in ("dynamic", "static", "leave"):
        return ordered(group_document([2] * size, static=kind == "static"), leave=kind == "leave")
    if kind == "streams":
        return ordered(streams_document(size))
    terms, options = _terms(), Options(start_ms=2_200)
    if kind == "connect":
        state = connect_state(scenario_from_document(connect_document(size), Place("orders")), terms, options)
        return connect_orders(state, options, terms, WantedOrder(), 0)[0]
    make = classic_group if kind.startswith("classic") else consumer_group
    scenario = scenario_from_document(make(size, 2 * size, static=kind.endswith("static")), Place("orders"))
    return consumer_orders(consumer_state(scenario, terms, options), options, terms, WantedOrder(), 0)[0]
