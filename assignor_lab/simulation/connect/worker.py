"""A Connect worker: what its process keeps, and what others see of it (reference 6.2, 6.3).

What it does is a chain of steps: :func:`assignor_lab.simulation.connect.herder.herder`.
"""

from __future__ import annotations

from typing import Any

from assignment_api.connect import NO_GENERATION, NO_JOBS, ConnectAssignor, ConnectProtocol, Jobs
from assignor_lab.kafka.herder.reporting import reported_order
from assignor_lab.simulation.connect.config_log import ConfigView
from assignor_lab.simulation.connect.herder_steps import Surroundings, Told
from assignor_lab.simulation.connect.job_pool import JobPool
from assignor_lab.simulation.connect.requests import Requests
from assignor_lab.simulation.connect.worker_settings import WorkerSettings

__all__ = ["WorkerProcess"]


class WorkerProcess:
    """One life of a worker's process, from start to stop or crash.

    Args:
        number: Number of the process, unique in a simulation.
        name: Name of the worker.
        settings: Its configuration.
        world: Everything around it.
        pool: Its threads for starting and stopping.
        requests: What REST clients and connector instances want of its herder.
        held: What it owns from the beginning; it is running already.
    """

    def __init__(
        self,
        number: int,
        name: str,
        settings: WorkerSettings,
        world: Surroundings,
        pool: JobPool,
        requests: Requests,
        held: Jobs | None = None,
    ) -> None:
        self.number, self.name, self.settings, self.requests = number, name, settings, requests
        self.world, self.pool = world, pool
        self.member_id: str | None = None
        self.generation = NO_GENERATION
        #: The last generation whose assignment it took, and what that generation spoke.
        self.last_completed = NO_GENERATION
        self.last_protocol: ConnectProtocol | None = None
        #: What it was told last; ``None`` = nothing, or it has stopped everything since.
        self.told: Told | None = None
        #: Everything that is assigned to it, and what of that it has started.
        self.held: Jobs | None = held
        self.running: frozenset[Any] = frozenset() if held is None else frozenset((*held.connectors, *held.tasks))
        #: How far the config topic was read, and how far of that the herder has taken into account.
        self.position = world.config.end
        self.seen = self.position
        #: What the herder is to find out next: it has to join again, or has lost the coordinator.
        self.group_says_rejoin = False
        self.rejoin_requested = False
        self.lost_coordinator = False
        #: A round ended with an assignor's wish for another.
        self.wants_another_round = False
        #: The end of a delay at which it has to join again.
        self.scheduled_ms: int | None = None
        #: Whether what it was told last has been started.
        self.resolved = True
        #: Whether what it was told under ``eager`` has to be stopped before it joins again.
        self.assigned_once = False
        self.stopping = False
        self.ended = False
        #: What the config topic said: something to be placed anew; connectors that changed; connectors with new
        #: configurations of tasks; and of which of them tasks were stopped to be started again.
        self.needs_rebalance = False
        self.changed: dict[str, None] = {}
        self.retasked: dict[str, None] = {}
        self.restart_tasks: dict[str, None] = {}
        #: The config topic could not be read, and how many pauses are left until it gives up (reference 6.6).
        self.unreadable = False
        self.unsync_tries = 5
        #: Whether it has had a connector instance: the first one costs more.
        self.knows_connectors = held is not None
        #: Its assignors, with what they remember of rounds that it led.
        self.assignors: dict[ConnectProtocol, ConnectAssignor] = {}
        self._reported: tuple[Jobs, Jobs] | None = None

    # --- what others see ----------------------------------------------------------------------------

    @property
    def leads(self) -> bool:
        """Whether it is the leader of its current assignment."""
        return self.told is not None and not self.told.failed and self.told.leader_id == self.member_id

    @property
    def leader(self) -> str | None:
        """Name of the worker that leads, as far as this one knows."""
        return None if self.told is None or self.told.failed else self.told.leader

    def is_calm(self) -> bool:
        """Whether it wants nothing and waits for nothing."""
        return (
            self.resolved
            and not (self.group_says_rejoin or self.rejoin_requested or self.needs_rebalance or self.lost_coordinator)
            and self.scheduled_ms is None
            and self.seen == self.world.config.end
            and self.requests.is_empty()
        )

    def read_config(self, end: int) -> None:
        """Records up to ``end`` have arrived; flags are set for the herder (reference 6.3)."""
        if end <= self.position:
            return
        before = self.world.config.view(self.seen)
        for record in self.world.config.between(self.position, end):
            if record.kind == "commit":
                self.needs_rebalance = True
                self.retasked[record.connector] = None
            elif record.kind == "delete" or record.connector not in before.wanted:
                self.needs_rebalance = True
            else:
                self.changed[record.connector] = None
        self.position = end

    # --- for its herder -----------------------------------------------------------------------------

    def report(self) -> Jobs:
        """What it holds, in the order in which it says so when it joins."""
        if self.held is None:
            return NO_JOBS
        if self._reported is None or self._reported[0] is not self.held:
            self._reported = (self.held, reported_order(self.held))
        return self._reported[1]

    def view(self) -> ConfigView:
        """The herder's snapshot."""
        return self.world.config.view(self.seen)

    def say(self, event: str, text: str, **details: Any) -> None:
        """Adds to the event log."""
        self.world.say(self.name, event, text, **details)
