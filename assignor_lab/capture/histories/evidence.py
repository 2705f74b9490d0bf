"""Evidence of a decision's cause and of the next rebalance, small enough to keep for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.streams.configs import PROBING_REBALANCE_INTERVAL_MS

__all__ = ["LEAST_PROBING_MS", "DecisionEvidence", "evidence_of"]

LEAST_PROBING_MS = 60_000
_ENDINGS = ("stop", "fenced")
_NOTHING: Mapping[str, str] = {}


@attrs.frozen
class DecisionEvidence:
    """Evidence in one decision.

    Args:
        ended: ``stop`` or ``fenced``, for instances whose logged end is known.
        tasks: ``None`` if the source has only assigned ones.
        hands_over: True if an active task moves from a consumer that still owns it: one more rebalance follows.
        moved: Active tasks that move between two present instances.
    """

    ended: Mapping[str, str] = _NOTHING
    tasks: frozenset[str] | None = None
    hands_over: bool = False
    probing_ms: int = LEAST_PROBING_MS
    moved: int = 0


def evidence_of(
    document: Mapping[str, Any], placed: Mapping[str, tuple[Sequence[str], Sequence[str]]]
) -> DecisionEvidence:
    done = document["source"].get("done", ())
    ended = {each["client"]: each["type"] for each in done if each["type"] in _ENDINGS}
    ran = _ran(document)
    moved = sum(ran.get(task, process) != process for process, (active, _) in placed.items() for task in active)
    if "clients" not in document:
        return DecisionEvidence(ended, moved=moved)
    return DecisionEvidence(
        ended,
        frozenset(task["id"] for task in document["tasks"]),
        bool(moved) or _hands_over(document),
        document["config"].get(PROBING_REBALANCE_INTERVAL_MS, LEAST_PROBING_MS),
        moved,
    )


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
