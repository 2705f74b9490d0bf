"""State and outside view of a Connect worker's process (Kafka: ``WorkerCoordinator``, ``DistributedHerder.tick``)."""

from __future__ import annotations

from assignment_api.connect import NO_JOBS, ConnectAssignor, ConnectProtocol, Jobs
from assignor_lab.kafka.herder.config_log.changes import ConfigChanges
from assignor_lab.kafka.herder.membership import MembershipState
from assignor_lab.kafka.herder.rebalance_completion import RebalanceCompletion
from assignor_lab.kafka.herder.reported_order import reported_order
from assignor_lab.kafka.herder.running_work import RunningWork
from assignor_lab.kafka.herder.unsync_backoff import UnsyncBackoff
from assignor_lab.simulation.connect.surroundings.config_log import ConfigView
from assignor_lab.simulation.connect.surroundings.job_pool import JobPool
from assignor_lab.simulation.connect.worker_settings import WorkerSettings
from assignor_lab.simulation.connect.workers.herder_steps import WorkerSurroundings
from assignor_lab.simulation.connect.workers.requests import Requests

__all__ = ["WorkerProcess"]


class WorkerProcess:
    """One life of a worker's process, from start to stop or crash."""

    def __init__(
        self,
        number: int,
        name: str,
        settings: WorkerSettings,
        world: WorkerSurroundings,
        pool: JobPool,
        requests: Requests,
        held: Jobs | None = None,
    ) -> None:
        self.number, self.name, self.settings, self.requests = number, name, settings, requests
        self.world, self.pool = world, pool
        self.membership = MembershipState(held=held)
        self.work = RunningWork(frozenset() if held is None else frozenset((*held.connectors, *held.tasks)))
        self.completion = RebalanceCompletion()
        #: Read position in the config topic, and the herder's last reaction.
        self.position = world.config.end
        self.seen = self.position
        #: Read changes without a reaction.
        self.changes = ConfigChanges()
        self.unreadable = False
        self.unsync = UnsyncBackoff()
        self.lost_coordinator = False
        self.stopping = False
        self.ended = False
        self.knows_connectors = held is not None
        #: Assignors, with their state from rounds that it led.
        self.assignors: dict[ConnectProtocol, ConnectAssignor] = {}
        self._reported: tuple[Jobs, Jobs] | None = None

    # --- view from outside --------------------------------------------------------------------------

    def is_calm(self) -> bool:
        membership = self.membership
        return (
            self.completion.resolved
            and self.completion.rejoin_at_ms is None
            and not (membership.group_says_rejoin or membership.rejoin_requested or self.lost_coordinator)
            and not self.changes.needs_rebalance
            and self.seen == self.world.config.end
            and self.requests.is_empty()
        )

    def read_config(self, end: int) -> None:
        """The herder will react to records up to ``end`` (Kafka: ``DistributedHerder.tick``)."""
        if end <= self.position:
            return
        before = self.world.config.view(self.seen)
        for record in self.world.config.between(self.position, end):
            if record.kind == "commit":
                self.changes.tasks_configured(record.connector)
            elif record.kind == "delete":
                self.changes.connector_removed()
            else:
                self.changes.connector_configured(record.connector, is_known=record.connector in before.wanted)
        self.position = end

    # --- for its herder -----------------------------------------------------------------------------

    def report(self) -> Jobs:
        held = self.membership.held
        if held is None:
            return NO_JOBS
        if self._reported is None or self._reported[0] is not held:
            self._reported = (held, reported_order(held))
        return self._reported[1]

    def view(self) -> ConfigView:
        return self.world.config.view(self.seen)

    def say(self, event: str, text: str, **counts: int) -> None:
        self.world.say(self.name, event, text, **counts)
