"""The blog's figures, and faults of real groups, as episodes in document form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

__all__ = ["EPISODES", "NamedConnectEpisode"]


@attrs.frozen
class NamedConnectEpisode:
    """An episode of the simulator."""

    name: str
    summary: str
    document: Callable[[], Mapping[str, Any]]


def _member(name: str, connectors: list[str], tasks: list[str]) -> dict[str, Any]:
    owned = {"connectors": connectors, "tasks": tasks}
    return {"id": name, "owned": owned, "static": {"connectors": None, "tasks": None}}


def _episode(
    name: str, connectors: Mapping[str, int], members: list[dict[str, Any]], events: list[dict[str, Any]], until: int,
    protocol: str = "sessioned", max_delay_ms: int = 300_000,
) -> dict[str, Any]:  # fmt: skip
    return {
        "format": 1,
        "kind": "connect-episode",
        "id": name,
        "initial": {
            "format": 1,
            "kind": "connect",
            "id": f"{name}-initial",
            "protocol": protocol,
            "max_delay_ms": max_delay_ms,
            "rounds": [{"time_ms": 1_000, "connectors": dict(connectors), "members": members}],
        },
        "leader": members[0]["id"],
        "events": events,
        "until_ms": until,
    }


#: The blog's figures 2 and 3: three workers, each with one connector and three tasks.
_THREE = ({"a": 3, "b": 3, "c": 3}, (["a"], ["a-0", "b-0", "c-0"]), (["b"], ["a-1", "b-1", "c-1"]),
          (["c"], ["a-2", "b-2", "c-2"]))  # fmt: skip


def _three() -> tuple[Mapping[str, int], list[dict[str, Any]]]:
    connectors, *shares = _THREE
    return connectors, [_member(f"worker{number}", *share) for number, share in enumerate(shares, 1)]


def _joins() -> dict[str, Any]:
    members = [_member("worker1", ["a"], ["a-0", "a-1", "b-0"]), _member("worker2", ["b"], ["a-2", "b-1", "b-2"])]
    return _episode(
        "worker-joins", {"a": 3, "b": 3}, members, [{"at_ms": 10_000, "type": "start", "worker": "worker3"}], 60_000
    )


def _bounces() -> dict[str, Any]:
    events = [{"at_ms": 10_000, "type": "bounce", "worker": "worker2", "down_ms": 60_000}]
    return _episode("worker-bounces", *_three(), events, 420_000)


def _leaves() -> dict[str, Any]:
    return _episode("worker-leaves", *_three(), [{"at_ms": 10_000, "type": "stop", "worker": "worker2"}], 420_000)


def _leader() -> dict[str, Any]:
    return _episode("leader-crashes", *_three(), [{"at_ms": 10_000, "type": "crash", "worker": "@leader"}], 120_000)


def _zombie() -> dict[str, Any]:
    events = [{"at_ms": 10_000, "type": "stall", "worker": "worker2", "for_ms": 500_000}]
    return _episode(
        "zombie", *_three(), [*events, {"at_ms": 12_000, "type": "create", "connectors": {"d": 2}}], 800_000
    )


def _storm() -> dict[str, Any]:
    starts = [10_000, *(12_200 + 200 * number for number in range(4))]
    events = [{"at_ms": at, "type": "start", "worker": f"worker{number}"} for number, at in enumerate(starts, 2)]
    connectors = {f"c{number}": 4 for number in range(1, 4)}
    members = [_member("worker1", list(connectors), [f"{name}-{task}" for name in connectors for task in range(4)])]
    return _episode("join-storm", connectors, members, events, 60_000)


def _missed() -> dict[str, Any]:
    events = [
        {"at_ms": 10_000, "type": "block_config", "worker": "worker3", "for_ms": 20_000},
        {"at_ms": 11_000, "type": "create", "connectors": {"d": 3}, "via": "worker2"},
    ]
    return _episode("missed-config", *_three(), events, 400_000)


def _upgrade() -> dict[str, Any]:
    connectors, members = _three()
    for member in members:
        member["owned"] = {"connectors": [], "tasks": []}
    events = [
        {"at_ms": 20_000, "type": "rolling_restart", "down_ms": 5_000, "every_ms": 60_000, "protocol": "sessioned"}
    ]
    return _episode("protocol-upgrade", connectors, members, events, 400_000, "eager", 30_000)


def _downgrade(name: str, rule: str) -> Callable[[], dict[str, Any]]:
    def make() -> dict[str, Any]:
        events = [
            {"at_ms": 5_000, "type": "configure", "downgrade": rule},
            {"at_ms": 10_000, "type": "start", "worker": "worker4", "protocol": "eager"},
        ]
        return _episode(name, *_three(), events, 60_000, "sessioned", 10_000)

    return make


def _kip987() -> dict[str, Any]:
    def static(connectors: list[str], tasks: list[str]) -> dict[str, Any]:
        return {"protocol": "static", "static": {"connectors": connectors, "tasks": tasks}}

    connectors, members = _three()
    every_task = [f"{name}-{task}" for name, tasks in connectors.items() for task in range(tasks)]
    events = [
        {"at_ms": 10_000, "type": "rolling_restart", "down_ms": 5_000, "every_ms": 60_000, "protocol": "static"},
        {"at_ms": 240_000, "type": "start", "worker": "static1", **static(["a"], [])},
        {"at_ms": 300_000, "type": "start", "worker": "static2", **static([], ["b-0"])},
        {"at_ms": 360_000, "type": "start", "worker": "static3", **static(["a"], ["b-0"])},
        {"at_ms": 420_000, "type": "stop", "worker": "static1"},
        {"at_ms": 480_000, "type": "stop", "worker": "worker3"},
        {"at_ms": 560_000, "type": "start", "worker": "static4", **static(list(connectors), every_task)},
        {"at_ms": 620_000, "type": "stop", "worker": "worker1"},
        {"at_ms": 680_000, "type": "stop", "worker": "worker2"},
    ]
    return _episode("kip987-test-plan", connectors, members, events, 780_000, "sessioned", 30_000)


EPISODES: Mapping[str, NamedConnectEpisode] = {
    each.name: each
    for each in (
        NamedConnectEpisode(
            "worker-joins", "The blog's figure 1: a third worker joins; one round revokes, one assigns.", _joins
        ),
        NamedConnectEpisode(
            "worker-bounces",
            "Figure 2: a worker is back within the delay, and gets its jobs at the end of it.",
            _bounces,
        ),
        NamedConnectEpisode(
            "worker-leaves", "Figure 3: a worker leaves for good; the others get its jobs after the delay.", _leaves
        ),
        NamedConnectEpisode(
            "leader-crashes", "The leader dies, its memory with it: its jobs are placed without any delay.", _leader
        ),
        NamedConnectEpisode(
            "zombie", "A herder hangs beyond the poll timeout: its jobs go on although others get them.", _zombie
        ),
        NamedConnectEpisode(
            "join-storm",
            "Workers join while others are still being given work; revocations are kept apart by pauses.",
            _storm,
        ),
        NamedConnectEpisode(
            "missed-config",
            "A worker cannot read the config topic: it leaves, and waits a while between its attempts.",
            _missed,
        ),
        NamedConnectEpisode("protocol-upgrade", "A rolling restart takes a group from eager to sessioned.", _upgrade),
        NamedConnectEpisode(
            "downgrade",
            "A worker that speaks only eager joins: Kafka's code leaves jobs running twice.",
            _downgrade("downgrade", "kafka"),
        ),
        NamedConnectEpisode(
            "downgrade-kip415",
            "The same by the rule of KIP-415: an empty assignment, then a second one.",
            _downgrade("downgrade-kip415", "kip415"),
        ),
        NamedConnectEpisode(
            "kip987-test-plan",
            "From sessioned to static by a rolling restart; static workers join and leave, wildcard workers leave.",
            _kip987,
        ),
    )
}
