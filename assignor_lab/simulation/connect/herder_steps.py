"""What a herder waits for, what members tell each other, and what a herder needs of the world around it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

import attrs

from assignment_api.connect import NO_JOBS, ConnectAssignment, ConnectAssignor, ConnectProtocol, Jobs, StaticJobs
from assignor_lab.kafka.coordinator import JoinRequest, SyncRequest
from assignor_lab.simulation.connect.config_log import ConfigLog
from assignor_lab.simulation.connect.timings import Timings

__all__ = ["Ask", "Memory", "Poll", "Sleep", "Steps", "Surroundings", "Told"]


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
class Memory:
    """What a worker says of itself when it joins: its metadata (reference 5.2)."""

    offset: int
    owned: Jobs
    static: StaticJobs
    # What else is in the bytes, so that a worker that was told anything joins with other bytes than before.
    last_told: tuple[int, str, int, int] | None = None


@attrs.frozen
class Told:
    """What the leader tells a member (reference 5.3)."""

    leader_id: str
    leader: str
    offset: int
    assigned: Jobs = NO_JOBS
    revoked: Jobs = NO_JOBS
    delay_ms: int = 0
    failed: bool = False


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
