"""Generated groups of the classic protocol, as a capture has them."""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

from assignment_api.plugins import Registry, config_sources
from assignor_lab.advising.configurations import AdvisedState
from assignor_lab.documents.errors import Place
from assignor_lab.planning.making import Options
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.state import present_state
from assignor_lab.scenarios import scenario_from_document

__all__ = ["drawn_document", "generated_group", "group_document"]


def group_document(
    instances: int,
    tasks: int,
    *,
    state_bytes: int = 50_000_000,
    standbys: int = 0,
    settings: dict[str, int] | None = None,
) -> dict[str, Any]:
    """A group at rest: tasks and standbys are dealt out in turn, to instances of two threads."""
    names = [f"i{number:02}" for number in range(instances)]
    ids = [str(UUID(int=number + 1, version=4)) for number in range(instances)]
    all_tasks = [f"0_{number}" for number in range(tasks)]
    active = {process: all_tasks[place::instances] for place, process in enumerate(ids)}
    standby: dict[str, list[str]] = {process: [] for process in ids}
    if state_bytes:
        for copy in range(1, standbys + 1):
            for place, process in enumerate(ids):
                standby[process] += active[ids[(place + copy) % instances]]
    records = max(1, state_bytes // 100)
    has_state = state_bytes > 0
    return {
        "format": 1,
        "kind": "streams",
        "id": "generated-generation-1",
        "config": {"num.standby.replicas": standbys},
        "tasks": [
            {
                "id": task,
                "stateful": has_state,
                "logged": has_state,
                "stores": ["store"] if has_state else [],
                "partitions": [
                    {"topic": "in", "partition": number, "source": True, "changelog": False, "racks": None},
                    *(
                        [{"topic": "log", "partition": number, "source": False, "changelog": True, "racks": None}]
                        if has_state
                        else []
                    ),
                ],
            }
            for number, task in enumerate(all_tasks)
        ],
        "clients": [
            {
                "process_id": process,
                "rack": None,
                "tags": {},
                "host": None,
                "threads": 2,
                "consumers": [f"{name}-StreamThread-{thread}-consumer-{process}" for thread in (1, 2)],
                "members": {
                    f"{name}-StreamThread-{thread}-consumer-{process}": {
                        "client_id": f"{name}-StreamThread-{thread}-consumer", "instance_id": None,
                    }
                    for thread in (1, 2)
                },
                "previous_active": active[process],
                "previous_standby": standby[process],
                "lags": {
                    task: -2 if task in active[process] else 0 if task in standby[process] else records
                    for task in all_tasks
                }
                if has_state
                else {},
                "previous_by_consumer": None,
            }
            for name, process in zip(names, ids, strict=True)
        ],
        "observed": {
            "assignment": {process: {"active": active[process], "standby": standby[process]} for process in ids},
            "followup": False,
            "threads": None,
        },
        "settings": settings or {"session.timeout.ms": 45_000, "heartbeat.interval.ms": 3_000},
        "workload": {"tasks": {task: {"state_bytes": state_bytes} for task in all_tasks}}
        if has_state
        else {},
        "source": {"time_ms": 1_700_000_000_000, "group": "generated", "generation": 1},
    }  # fmt: skip


def generated_group(registry: Registry, document: dict[str, Any], *, start_ms: int = 3_000) -> AdvisedState:
    sources = config_sources(environ={})
    terms = Terms(registry, sources)
    state = present_state(scenario_from_document(document, Place("generated")))
    return AdvisedState(state, terms, Options(start_ms=start_ms))


def drawn_document(seed: int) -> tuple[dict[str, Any], int]:
    """A small random group, and the milliseconds until a process joins."""
    drawn = random.Random(f"group {seed}")  # noqa: S311 - a simulation, not a secret
    document = group_document(
        drawn.choice([2, 3, 4]),
        drawn.choice([4, 6, 9]),
        state_bytes=drawn.choice([0, 10_000_000, 200_000_000]),
        standbys=drawn.choice([0, 1]),
        settings={"session.timeout.ms": drawn.choice([10_000, 45_000]), "heartbeat.interval.ms": 3_000},
    )
    return document, drawn.choice([2_000, 8_000, 40_000])
