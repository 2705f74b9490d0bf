"""Facts in the document of a decision, small enough to keep for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.streams.configs import (
    ACCEPTABLE_RECOVERY_LAG,
    NUM_STANDBY_REPLICAS,
    PROBING_REBALANCE_INTERVAL_MS,
)
from assignor_lab.capture.recorded.partition_states import noted_events
from assignor_lab.documents.errors import Place
from assignor_lab.model.events import (
    GroupEvent,
    InstanceGone,
    InstanceRestartedInSession,
    InstanceStarted,
    InstanceStopped,
    MemberFenced,
    TasksCorrupted,
)
from assignor_lab.model.evidence import Evidence, EvidenceKind, InferenceRule
from assignor_lab.model.moment import Moment
from assignor_lab.scenarios.formats.events import read_events

__all__ = ["LEAST_PROBING_MS", "DecisionEvidence", "evidence_of"]

LEAST_PROBING_MS = 60_000


@attrs.frozen
class DecisionEvidence:
    """Facts of one decision.

    Args:
        events: That the source noted with the decision, by time; instances have their client ids.
        tasks: ``None`` if the source has only assigned ones.
        hands_over: True if an active task moves from a consumer that still owns it: one more rebalance follows.
        moved: Active tasks that move between two present instances.
        copy_lags: Process id to the lags of its copies before the decision.
    """

    events: tuple[GroupEvent, ...] = ()
    tasks: frozenset[str] | None = None
    hands_over: bool = False
    probing_ms: int = LEAST_PROBING_MS
    moved: int = 0
    assignor: str = ""
    recovery_lag: int | None = None
    standbys: int | None = None
    stateful: frozenset[str] = frozenset()
    copy_lags: Mapping[str, Mapping[str, int]] = attrs.field(factory=dict)


def evidence_of(
    document: Mapping[str, Any], placed: Mapping[str, tuple[Sequence[str], Sequence[str]]]
) -> DecisionEvidence:
    config, source = document["config"], document["source"]
    ran = _ran(document)
    moved = sum(ran.get(task, process) != process for process, (active, _) in placed.items() for task in active)
    found = DecisionEvidence(
        events=tuple(sorted(_events(source), key=lambda each: each.at.latest_ms)),
        moved=moved,
        assignor=str((document.get("observed") or {}).get("assignor") or source.get("assignor") or "").lower(),
        standbys=config.get(NUM_STANDBY_REPLICAS, 0),
    )
    if "clients" not in document:
        stateful = (each for each in document["subtopologies"] if each["stateful"])
        tasks = frozenset(f"{each['id']}_{number}" for each in stateful for number in range(each["tasks"]))
        return attrs.evolve(found, stateful=tasks)
    return attrs.evolve(
        found,
        tasks=frozenset(task["id"] for task in document["tasks"]),
        hands_over=bool(moved) or _hands_over(document),
        probing_ms=config.get(PROBING_REBALANCE_INTERVAL_MS, LEAST_PROBING_MS),
        recovery_lag=config.get(ACCEPTABLE_RECOVERY_LAG),
        stateful=frozenset(task["id"] for task in document["tasks"] if task["logged"]),
        copy_lags={client["process_id"]: _copy_lags(client) for client in document["clients"]},
    )


def _events(source: Mapping[str, Any]) -> Iterator[GroupEvent]:
    line = Evidence.line(Place(source.get("file", "-"), source.get("line")))
    yield from read_events(source.get("events", ()), Place(source.get("file", "-"), source.get("line")))
    for each in noted_events(source):
        at, client, kind = Moment.at(each.time_ms), each.client, each.type
        if kind == "start":
            yield InstanceStarted(at, line, client)
        elif kind == "stop":
            yield InstanceStopped(at, line, client)
        elif kind == "fenced":
            yield MemberFenced(at, line, client, reason="its session ended")
        elif kind == "gone":
            yield InstanceGone(at, Evidence(EvidenceKind.RECORD, line.place), client)
        elif kind == "corrupt":
            yield TasksCorrupted(at, line, client, each.tasks)
        elif kind == "rejoined":
            rewritten = Evidence.inferred(InferenceRule.REWRITTEN, line.place)
            yield InstanceRestartedInSession(at, rewritten, client)


def _copy_lags(client: Mapping[str, Any]) -> dict[str, int]:
    lags = client.get("lags") or {}
    found = ((task, lags.get(task)) for task in client["previous_standby"])
    return {task: lag for task, lag in found if lag is not None and lag >= 0}


def _ran(document: Mapping[str, Any]) -> dict[str, str]:
    if "clients" in document:
        return {task: client["process_id"] for client in document["clients"] for task in client["previous_active"]}
    return {
        f"{name}_{number}": member["process_id"]
        for member in document["members"]
        for name, numbers in member["active"].items()
        for number in numbers
    }


def _hands_over(document: Mapping[str, Any]) -> bool:
    clients: Sequence[Mapping[str, object]] = document["clients"]
    threads, owners = document["observed"].get("threads"), _owners(clients)
    if not threads or owners is None:
        return False
    given = {task: name for name, held in threads.items() for task in held["active"]}
    return any(given.get(task) != name for task, name in owners.items())


def _owners(clients: Iterable[Mapping[str, object]]) -> dict[str, str] | None:
    """As reported; ``None`` if the source names no consumers."""
    found: dict[str, str] = {}
    for client in clients:
        reported = client["previous_by_consumer"]
        if not isinstance(reported, Mapping):
            return None
        active = set(_texts(client["previous_active"]))
        found |= {task: name for name, tasks in reported.items() for task in tasks if task in active}
    return found


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []
