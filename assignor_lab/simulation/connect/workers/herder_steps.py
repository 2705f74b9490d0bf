"""Steps of a herder: its waits, and its interface to the simulation."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Protocol

import attrs

from assignment_api.connect import ConnectAssignment, ConnectAssignor, ConnectProtocol, Jobs, Rebalance, StaticJobs
from assignor_lab.kafka.coordinator import JoinRequest, SyncRequest
from assignor_lab.simulation.connect.surroundings.config_log import ConfigLog
from assignor_lab.simulation.connect.timings import ConnectTimings
from assignor_lab.simulation.connect.workers.requests import Request

__all__ = ["Ask", "Poll", "Sleep", "Steps", "Subscription", "WorkerSurroundings"]


@attrs.frozen
class Sleep:
    """The herder is busy for this time."""

    duration_ms: int


@attrs.frozen
class Ask:
    """The herder waits for the coordinator's reply; ``None`` without a connection."""

    request: JoinRequest | SyncRequest


@attrs.frozen
class Poll:
    """The herder is idle until a time (``None`` = forever) or a wake-up."""

    until_ms: int | None


Steps = Generator[Sleep | Ask | Poll, Any, Any]


@attrs.frozen
class Subscription:
    """A worker's metadata in its join (Kafka: ``ExtendedWorkerState``)."""

    offset: int
    owned: Jobs
    static: StaticJobs
    # Further content: a worker joins with other bytes after an assignment.
    last_assignment: tuple[int, str, int, int] | None = None
    url: str = ""
    labels: Mapping[str, str] = attrs.field(factory=dict)


class WorkerSurroundings(Protocol):
    """A worker process's interface to the simulation."""

    timings: ConnectTimings
    config: ConfigLog

    @property
    def now(self) -> int: ...

    def reachable(self, worker: str) -> bool: ...

    def can_read_config(self, worker: str) -> bool: ...

    def assignor(self, protocol: ConnectProtocol) -> ConnectAssignor: ...

    def say(self, actor: str, event: str, text: str, **counts: int) -> None: ...

    def leave_group(self, member_id: str, reason: str) -> None: ...

    def assigned(self, generation: int, rebalance: Rebalance | None, answer: ConnectAssignment | None) -> None:
        """``None`` = a config mismatch."""
        ...

    def pause(self) -> int: ...

    def work_started(self, generation: int) -> None: ...

    def jitter(self) -> int: ...

    def forward(self, leader: str, request: Request) -> bool:
        """False if the leader's worker is down."""
        ...

    def written(self, worker: str, *, tasks: bool) -> None:
        """Deliver a write to the config topic to other workers (``tasks``: tasks' configurations)."""
        ...
