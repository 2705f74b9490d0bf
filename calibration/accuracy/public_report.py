"""A public report of deployments (mcmap.net/q/950577), planned with defaults for all missing facts.

Kafka 3.0, six instances with two threads, 12 input partitions, 40 GB of state, two standbys, six warm-ups, acceptable
lag 6,000, probing every 60 s. The report gives the greatest latency of a record for three ways to deploy.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import attrs

from assignment_api.plugins import Registry, config_sources
from assignor_lab.model.streams_episodes import EventDetails
from assignor_lab.planning.plans import Action, Plan, Step
from assignor_lab.planning.predict import Terms, predict_from
from assignor_lab.planning.state import present_state
from assignor_lab.scenarios import Place, Scenario, scenario_from_document

__all__ = ["REPORTED", "ReportedPlan", "planned_report"]

#: Way to deploy to the greatest latency of a record, in seconds.
REPORTED: Mapping[str, float] = {
    "all stopped and started at once": 85.0,
    "one new, 3 minutes, one old stopped": 39.0,
    "one new, 15 minutes, one old stopped": 7.0,
}
_INSTANCES, _THREADS, _TASKS, _STANDBYS = 6, 2, 12, 2
_STATE_BYTES, _RECORD_BYTES = 40_000_000_000, 1_000
_CONFIG = {
    "num.standby.replicas": _STANDBYS,
    "max.warmup.replicas": 6,
    "acceptable.recovery.lag": 6_000,
    "probing.rebalance.interval.ms": 60_000,
}
#: Restore rate of a slower disk: each thread alone, in bytes and in records of 1,000 bytes.
_SLOW_DISK = {"restore_bytes_per_s": 16_000_000, "restore_records_per_s": 16_000}


@attrs.frozen
class _Assumed:
    session_ms: int = 45_000
    leaves: bool = False
    start_ms: int | None = None
    timings: Mapping[str, int] = attrs.field(factory=dict)


_SENSITIVITIES: Mapping[str, _Assumed] = {
    "defaults: session timeout 45 s": _Assumed(),
    "session timeout 10 s": _Assumed(session_ms=10_000),
    "members leave when they close": _Assumed(leaves=True),
    "they leave, start takes 60 s": _Assumed(leaves=True, start_ms=60_000),
    "the same, restoring at 16 MB/s": _Assumed(leaves=True, start_ms=60_000, timings=_SLOW_DISK),
}


@attrs.frozen
class ReportedPlan:
    """A way to deploy under some assumptions.

    Args:
        worst_task_seconds: Predicted longest absence of a task: the median of the plays.
    """

    way: str
    assumption: str
    worst_task_seconds: float


def planned_report(registry: Registry, plays: int = 5) -> Iterator[ReportedPlan]:
    state = _state()
    for assumption, assumed in _SENSITIVITIES.items():
        settings = {"session.timeout.ms": assumed.session_ms}
        terms = Terms(registry, config_sources(environ={}), settings, assumed.timings)
        present = present_state(state, terms.settings, terms.timings)
        for way, plan in zip(REPORTED, _plans(leave=assumed.leaves or None), strict=True):
            made = predict_from(present, attrs.evolve(plan, start_ms=assumed.start_ms), terms, plays)
            yield ReportedPlan(way, assumption, made.total.worst_task_seconds.median)


def _plans(*, leave: bool | None) -> Iterator[Plan]:
    names = [f"i{number}" for number in range(1, _INSTANCES + 1)]
    yield Plan("roll", (Step("all", tuple(Action("restart", name, leave=leave) for name in names)),))
    for wait_ms in (180_000, 900_000):
        steps = []
        for name in names:
            steps.append(Step(f"new {name}", (Action("add", f"new-{name}", EventDetails(threads=_THREADS)),), wait_ms))
            steps.append(Step(f"old {name}", (Action("remove", name, leave=leave),), 0))
        yield Plan("roll", tuple(steps))


def _state() -> Scenario:
    """At rest each instance has two active tasks and four standbys."""
    drawn = random.Random(1)  # noqa: S311 - a simulation, not a secret
    names = {str(UUID(int=drawn.getrandbits(128), version=4)): f"i{number}" for number in range(1, _INSTANCES + 1)}
    tasks = [f"0_{number}" for number in range(_TASKS)]
    records = _STATE_BYTES // _TASKS // _RECORD_BYTES
    ordered = sorted(names)
    held: dict[str, dict[str, list[str]]] = {process: {"active": [], "standby": []} for process in ordered}
    for number, task in enumerate(tasks):
        for copy in range(1 + _STANDBYS):
            held[ordered[(number + 2 * copy) % _INSTANCES]]["standby" if copy else "active"].append(task)
    clients: list[dict[str, Any]] = []
    threads: dict[str, dict[str, list[str]]] = {}
    for process, name in names.items():
        consumers = [f"{name}-StreamThread-{number}-consumer" for number in range(1, _THREADS + 1)]
        clients.append(
            {
                "process_id": process, "rack": None, "tags": {}, "host": None, "threads": _THREADS,
                "consumers": consumers, "previous_active": [], "previous_standby": [],
                "lags": dict.fromkeys(tasks, records), "previous_by_consumer": {each: [] for each in consumers},
            }
        )  # fmt: skip
        for place, consumer in enumerate(consumers):
            threads[consumer] = {kind: each[place::_THREADS] for kind, each in held[process].items()}
    document = {
        "format": 1,
        "kind": "streams",
        "id": "public-report",
        "config": _CONFIG,
        "tasks": [{"id": task, "stateful": True, "logged": True, "stores": None, "partitions": None} for task in tasks],
        "clients": clients,
        "observed": {"assignment": held, "followup": False, "threads": threads},
        "source": {"time_ms": 1_600_000_000_000, "group": "public-report"},
        "workload": {"tasks": {task: {"state_bytes": _STATE_BYTES // _TASKS} for task in tasks}},
    }
    return scenario_from_document(document, Place("a public report"))
