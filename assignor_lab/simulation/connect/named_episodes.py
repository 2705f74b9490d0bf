"""The blog's figures, and faults of real groups, as episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api.connect import ConnectorTaskId, ConnectProtocol, StaticJobs
from assignor_lab.kafka.herder.assignment import DowngradeRule
from assignor_lab.model.connect_episodes import (
    ConnectDetails,
    ConnectEpisodeOutline,
    ConnectEvent,
    ConnectOpening,
    OpeningWorker,
)
from assignor_lab.scenarios.formats.connect_episodes import connect_episode_document
from assignor_lab.simulation.connect.episode import LEADER

__all__ = ["EPISODES", "NamedConnectEpisode"]


@attrs.frozen
class NamedConnectEpisode:
    """An episode of the simulator."""

    summary: str
    outline: ConnectEpisodeOutline

    @property
    def name(self) -> str:
        return self.outline.id

    def document(self) -> dict[str, Any]:
        return connect_episode_document(self.outline)


def _episode(
    name: str, connectors: Mapping[str, int], workers: Sequence[OpeningWorker], events: Sequence[ConnectEvent],
    until_ms: int, protocol: ConnectProtocol = ConnectProtocol.SESSIONED, max_delay_ms: int = 300_000,
) -> ConnectEpisodeOutline:  # fmt: skip
    opening = ConnectOpening(f"{name}-initial", protocol, max_delay_ms, connectors, workers)
    return ConnectEpisodeOutline(name, opening, events, until_ms, workers[0].name)


#: The blog's figures 2 and 3: three workers, each with one connector and three tasks.
_THREE = {"a": 3, "b": 3, "c": 3}
_WORKERS = (
    OpeningWorker("worker1", ["a"], ["a-0", "b-0", "c-0"]),
    OpeningWorker("worker2", ["b"], ["a-1", "b-1", "c-1"]),
    OpeningWorker("worker3", ["c"], ["a-2", "b-2", "c-2"]),
)


def _three(name: str, *events: ConnectEvent, until_ms: int) -> ConnectEpisodeOutline:
    return _episode(name, _THREE, _WORKERS, events, until_ms)


def _roll(at_ms: int, protocol: ConnectProtocol) -> ConnectEvent:
    roll = ConnectDetails(down_ms=5_000, every_ms=60_000, protocol=protocol)
    return ConnectEvent(at_ms, "rolling_restart", details=roll)


def _downgrade(name: str, rule: DowngradeRule) -> ConnectEpisodeOutline:
    events = [
        ConnectEvent(5_000, "configure", details=ConnectDetails(downgrade=rule)),
        ConnectEvent(10_000, "start", "worker4", ConnectDetails(protocol=ConnectProtocol.EAGER)),
    ]
    return _episode(name, _THREE, _WORKERS, events, 60_000, max_delay_ms=10_000)


def _static(at_ms: int, name: str, connectors: Sequence[str], tasks: Sequence[ConnectorTaskId]) -> ConnectEvent:
    details = ConnectDetails(protocol=ConnectProtocol.STATIC, static=StaticJobs(connectors, tasks))
    return ConnectEvent(at_ms, "start", name, details)


_TASKS = [ConnectorTaskId(name, task) for name, tasks in _THREE.items() for task in range(tasks)]
_STORM = {f"c{number}": 4 for number in range(1, 4)}
_EPISODES = (
    NamedConnectEpisode(
        "The blog's figure 1: a third worker joins; one round revokes, one assigns.",
        _episode(
            "worker-joins", {"a": 3, "b": 3},
            [
                OpeningWorker("worker1", ["a"], ["a-0", "a-1", "b-0"]),
                OpeningWorker("worker2", ["b"], ["a-2", "b-1", "b-2"]),
            ],
            [ConnectEvent(10_000, "start", "worker3")], 60_000,
        ),
    ),
    NamedConnectEpisode(
        "Figure 2: a worker is back within the delay, and gets its jobs at the end of it.",
        _three(
            "worker-bounces", ConnectEvent(10_000, "bounce", "worker2", ConnectDetails(down_ms=60_000)),
            until_ms=420_000,
        ),
    ),
    NamedConnectEpisode(
        "Figure 3: a worker leaves for good; the others get its jobs after the delay.",
        _three("worker-leaves", ConnectEvent(10_000, "stop", "worker2"), until_ms=420_000),
    ),
    NamedConnectEpisode(
        "The leader dies, its memory with it: its jobs are placed without any delay.",
        _three("leader-crashes", ConnectEvent(10_000, "crash", LEADER), until_ms=120_000),
    ),
    NamedConnectEpisode(
        "A herder hangs beyond the poll timeout: its jobs go on although others get them.",
        _three(
            "zombie", ConnectEvent(10_000, "stall", "worker2", ConnectDetails(for_ms=500_000)),
            ConnectEvent(12_000, "create", details=ConnectDetails(connectors={"d": 2})), until_ms=800_000,
        ),
    ),
    NamedConnectEpisode(
        "Workers join while others are still being given work; revocations are kept apart by pauses.",
        _episode(
            "join-storm", _STORM,
            [OpeningWorker("worker1", list(_STORM), [f"{name}-{task}" for name in _STORM for task in range(4)])],
            [
                ConnectEvent(at_ms, "start", f"worker{number}")
                for number, at_ms in enumerate((10_000, 12_200, 12_400, 12_600, 12_800), 2)
            ],
            60_000,
        ),
    ),
    NamedConnectEpisode(
        "A worker cannot read the config topic: it leaves, and waits a while between its attempts.",
        _three(
            "missed-config", ConnectEvent(10_000, "block_config", "worker3", ConnectDetails(for_ms=20_000)),
            ConnectEvent(11_000, "create", details=ConnectDetails(connectors={"d": 3}, via="worker2")),
            until_ms=400_000,
        ),
    ),
    NamedConnectEpisode(
        "A rolling restart takes a group from eager to sessioned.",
        _episode(
            "protocol-upgrade", _THREE, [OpeningWorker(each.name) for each in _WORKERS],
            [_roll(20_000, ConnectProtocol.SESSIONED)], 400_000, ConnectProtocol.EAGER, 30_000,
        ),
    ),
    NamedConnectEpisode(
        "A worker that speaks only eager joins: Kafka's code leaves jobs running twice.",
        _downgrade("downgrade", "kafka"),
    ),
    NamedConnectEpisode(
        "The same by the rule of KIP-415: an empty assignment, then a second one.",
        _downgrade("downgrade-kip415", "kip415"),
    ),
    NamedConnectEpisode(
        "From sessioned to static by a rolling restart; static workers join and leave, wildcard workers leave.",
        _episode(
            "kip987-test-plan", _THREE, _WORKERS,
            [
                _roll(10_000, ConnectProtocol.STATIC),
                _static(240_000, "static1", ["a"], []),
                _static(300_000, "static2", [], [ConnectorTaskId("b", 0)]),
                _static(360_000, "static3", ["a"], [ConnectorTaskId("b", 0)]),
                ConnectEvent(420_000, "stop", "static1"),
                ConnectEvent(480_000, "stop", "worker3"),
                _static(560_000, "static4", [*_THREE], _TASKS),
                ConnectEvent(620_000, "stop", "worker1"),
                ConnectEvent(680_000, "stop", "worker2"),
            ],
            780_000, max_delay_ms=30_000,
        ),
    ),
)  # fmt: skip
EPISODES: Mapping[str, NamedConnectEpisode] = {each.name: each for each in _EPISODES}
