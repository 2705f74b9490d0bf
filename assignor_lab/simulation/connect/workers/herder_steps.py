"""Steps of a herder: what it waits for, and what it needs of the world around it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

import attrs

from assignment_api.connect import ConnectAssignment, ConnectAssignor, ConnectProtocol, Jobs, StaticJobs
from assignor_lab.kafka.coordinator import JoinRequest, SyncRequest
from assignor_lab.simulation.connect.surroundings.config_log import ConfigLog
from assignor_lab.simulation.connect.timings import Timings
from assignor_lab.simulation.connect.workers.requests import Request

__all__ = ["Ask", "Poll", "Sleep", "Steps", "Subscription", "Surroundings"]


@attrs.frozen
class Sleep:
    """The herder is busy for so long."""

    duration_ms: int


@attrs.frozen
class Ask:
    """The herder waits for the coordinator's answer; ``None`` comes back where there is no connection."""

    request: JoinRequest | SyncRequest


@attrs.frozen
class Poll:
    """The herder has nothing to do until a moment (``None`` = for ever), or until somebody wakes it."""

    until_ms: int | None


#: A chain of steps of the herder.
Steps = Generator[Sleep | Ask | Poll, Any, Any]


@attrs.frozen
class Subscription:
    """What a worker says of itself when it joins: its metadata (Kafka: ``ExtendedWorkerState``)."""

    offset: int
    owned: Jobs
    static: StaticJobs
    # What else is in the bytes, so that a worker that was told anything joins with other bytes than before.
    last_told: tuple[int, str, int, int] | None = None


class Surroundings(Protocol):
    """What a worker's process needs of the world."""

    timings: Timings
    config: ConfigLog

    @property
    def now(self) -> int:
        """What the clock shows."""
        ...

    def reachable(self, worker: str) -> bool:
        """Whether a worker reaches the coordinator."""
        ...

    def can_read_config(self, worker: str) -> bool:
        """Whether a worker can read the config topic."""
        ...

    def assignor(self, protocol: ConnectProtocol) -> ConnectAssignor:
        """A new assignor, not configured."""
        ...

    def say(self, actor: str, event: str, text: str, **details: Any) -> None:
        """Adds to the event log."""
        ...

    def leave_group(self, member_id: str, reason: str) -> None:
        """Tells the coordinator that a member leaves."""
        ...

    def assigned(self, generation: int, answer: ConnectAssignment | None) -> None:
        """A leader has decided; ``None`` = a config mismatch."""
        ...

    def pause(self) -> int:
        """What a step takes longer because the machine is busy."""
        ...

    def work_started(self, generation: int) -> None:
        """A worker has started what it was assigned."""
        ...

    def jitter(self) -> int:
        """What a small duration is longer by than it should be."""
        ...

    def forward(self, leader: str, request: Request) -> bool:
        """Passes a request on to the leader's worker; false if it is not there."""
        ...

    def written(self, worker: str, *, tasks: bool) -> None:
        """A worker has written to the config topic (``tasks``: tasks' configurations): the others will hear of it."""
        ...
