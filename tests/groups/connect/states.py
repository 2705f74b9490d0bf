"""Small Connect groups, written down as text: ``"a b-0 b-1"`` is the connector instance of a and two tasks of b."""

from __future__ import annotations

from typing import Any

from assignment_api.connect import ConfiguredJobs, ConnectorTaskId, Jobs
from assignor_lab.groups.connect.metrics import CONNECT_METRICS, ConnectDecision

METRICS = {metric.name: metric for metric in CONNECT_METRICS}


def jobs(text: str) -> Jobs:
    words = text.split()
    return Jobs(
        [word for word in words if "-" not in word], [ConnectorTaskId.parse(word) for word in words if "-" in word]
    )


def decision(configured: dict[str, int], before: dict[str, str], after: dict[str, str], **more: Any) -> ConnectDecision:
    return ConnectDecision(
        ConfiguredJobs(configured),
        {member: jobs(text) for member, text in before.items()},
        {member: jobs(text) for member, text in after.items()},
        **more,
    )


def figure(metric: str, state: ConnectDecision) -> float | None:
    return METRICS[metric].compute(state)


def member(name: str, owned: str = "") -> dict[str, Any]:
    held = jobs(owned)
    return {
        "id": name,
        "owned": {"connectors": list(held.connectors), "tasks": [str(task) for task in held.tasks]},
        "static": {"connectors": None, "tasks": None},
    }


def history(name: str, *rounds: dict[str, Any], protocol: str = "sessioned") -> dict[str, Any]:
    return {
        "format": 1,
        "kind": "connect",
        "id": name,
        "protocol": protocol,
        "max_delay_ms": 300_000,
        "rounds": [{"time_ms": 1_000 + 10 * number, **each} for number, each in enumerate(rounds)],
    }
