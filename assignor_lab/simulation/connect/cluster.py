"""Connect cluster on a virtual clock: workers, coordinator and config topic."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from assignment_api.connect import ConnectAssignment, ConnectAssignor, ConnectProtocol, Jobs, Rebalance
from assignor_lab.kafka.coordinator import Coordinator, CoordinatorState, JoinRequest, Round
from assignor_lab.kafka.coordinator.member_ids import MemberIds
from assignor_lab.model.events import GroupEvent, InstanceCrashed, InstanceStarted, InstanceStopped, ThreadBusy
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.history import GroupHistory, GroupName
from assignor_lab.model.moment import Moment
from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.connect.client import ClientOperation, Pacing, SimulatedClient
from assignor_lab.simulation.connect.played_history import DecidedRound, changed_connectors, played_history
from assignor_lab.simulation.connect.round_notes import describe_decision, note_decision
from assignor_lab.simulation.connect.surroundings.config_log import ConfigLog
from assignor_lab.simulation.connect.surroundings.job_pool import JobPool
from assignor_lab.simulation.connect.surroundings.job_runs import Job, JobRuns
from assignor_lab.simulation.connect.timings import DEFAULT_TIMINGS, ConnectTimings
from assignor_lab.simulation.connect.worker_settings import WorkerSettings
from assignor_lab.simulation.connect.workers.group_link import GroupLink
from assignor_lab.simulation.connect.workers.herder_driver import Driven, HerderDriver
from assignor_lab.simulation.connect.workers.requests import Request, Requests
from assignor_lab.simulation.connect.workers.worker import WorkerProcess
from assignor_lab.simulation.event_log import EventLog
from assignor_lab.simulation.patience import still_waited_for

__all__ = ["AssignorFactory", "SimulatedCluster"]

AssignorFactory = Callable[[ConnectProtocol], ConnectAssignor]


class SimulatedCluster:
    """A group of workers.

    Args:
        forming: Workers that form the group without the broker's initial delay.
        leader: The one of them that leads; by default drawn by the seed, since most states do not show it.
        departed: The one of them that leaves at once, and does not lead.
    """

    def __init__(
        self,
        assignors: AssignorFactory,
        timings: ConnectTimings = DEFAULT_TIMINGS,
        connectors: Mapping[str, int] | None = None,
        seed: int = 0,
        start_ms: int = 1,
        forming: Sequence[str] = (),
        leader: str | None = None,
        departed: str | None = None,
        *,
        keep_log: bool = True,
    ) -> None:
        self.timings = timings
        self.clock = VirtualClock(start_ms)
        self.start_ms = self.clock.now
        self.config = ConfigLog(connectors or {})
        self.runs = JobRuns()
        self.log = EventLog(self.start_ms)
        self._ids = MemberIds(seed)
        leaders = [name for name in forming if name != departed]
        if leader is None and leaders:
            leader = random.Random(f"first leader of {seed}").choice(leaders)  # noqa: S311 - a simulation, not a secret
        self.coordinator = Coordinator(timings.initial_rebalance_delay_ms, len(forming), self._member_id, leader)
        self.settings: dict[str, WorkerSettings] = {}
        self._assignors = assignors
        self._random = random.Random(seed)  # noqa: S311 - a simulation, not a secret
        self._pool = JobPool(timings, self.runs, self._random)
        #: By time, those of rebalances left out.
        self.events: list[GroupEvent] = []
        #: Leaders' answers, by generation.
        self.decided: dict[int, DecidedRound] = {}
        self._noted_config = 0
        self._driven: dict[str, Driven] = {}
        self._by_number: dict[int, Driven] = {}
        self._processes = 0
        self._unreachable: set[str] = set()
        self._config_blocked: set[str] = set()
        self._keep_log = keep_log
        self._clients: list[SimulatedClient] = []
        self._driver = HerderDriver(
            self.clock,
            # Driver and link refer to each other.
            lambda driven, token, request: self._link.ask(driven, token, request),  # noqa: PLW0108
            lambda driven: self._link.came_back(driven),  # noqa: PLW0108
            self._is_over,
        )
        self._link = GroupLink(self.clock, self.coordinator, self._driven, self, self._driver.move)

    def _member_id(self, request: JoinRequest) -> str:
        # Recorded members have their member ids as names.
        name = request.worker
        return self._ids.new(name if name.startswith("connect-") else f"connect-{name}", [name])

    # --- events -------------------------------------------------------------------------------------

    def start_worker(
        self, name: str, settings: WorkerSettings, held: Jobs | None = None, start_ms: int | None = None
    ) -> None:
        """Start a worker's process; no effect if it already runs.

        Args:
            start_ms: Time until its first join; by default from the timings.
        """
        if name in self._driven:
            return
        self._processes += 1
        self.settings[name] = settings
        number = self._processes
        process = WorkerProcess(number, name, settings, self, self._pool, Requests(number, self), held)
        driven = Driven(process, self.timings.worker_start_ms if start_ms is None else start_ms, self.now)
        self._driven[name] = self._by_number[number] = driven
        if held is not None:
            jobs: list[Job] = [*held.connectors, *held.tasks]
            for job in jobs:
                self.runs.start(job, number, name, self.now)
        else:
            self._happened(InstanceStarted, instance=name)
            self.say(name, "process", "starts its process")
        self._driver.move(driven, driven.token, None)
        self._link.beat_later(driven)

    def configure(self, **changes: Any) -> None:
        """Change settings of all workers, as if they had always been so."""
        for name in self.settings:
            self.settings[name] = attrs.evolve(self.settings[name], **changes)
            if name in self._driven:
                self._driven[name].process.settings = self.settings[name]

    def crash(self, name: str) -> None:
        driven = self._driven.pop(name, None)
        if driven is not None:
            lost = len(self.runs.running(driven.process.number))
            self.say(name, "crash", f"crashes with {lost} jobs", jobs=lost)
            self._happened(InstanceCrashed, instance=name)
            self._end(name, driven)

    def stop(self, name: str) -> None:
        driven = self._driven.get(name)
        if driven is not None and not driven.process.stopping:
            self.say(name, "stop-asked", "is stopping")
            driven.process.stopping = True
            self.wake(driven.process.number)

    def partition(self, name: str, duration_ms: int) -> None:
        """Cut a worker off from the coordinator and the config topic."""
        if name in self._driven:
            self._unreachable.add(name)
            self.say(name, "partition", f"loses the brokers for {duration_ms / 1000:g} s")
            self.clock.after(duration_ms, lambda: self._heal(name))

    def _heal(self, name: str) -> None:
        self._unreachable.discard(name)
        self.say(name, "partition-over", "reaches the brokers again")
        self._catch_up(name)

    def stall(self, name: str, duration_ms: int) -> None:
        """Block a herder thread, as in a connector's ``stop``; heartbeats continue."""
        driven = self._driven.get(name)
        if driven is not None:
            driven.busy_until = max(driven.busy_until, self.now + duration_ms)
            self._happened(ThreadBusy, instance=name)
            self.say(name, "stall", f"its herder thread hangs for {duration_ms / 1000:g} s")

    def block_config(self, name: str, duration_ms: int) -> None:
        if name in self._driven:
            self._config_blocked.add(name)
            self.say(name, "config-blocked", f"gets nothing of the config topic for {duration_ms / 1000:g} s")
            self.clock.after(duration_ms, lambda: self._unblock(name))

    def _unblock(self, name: str) -> None:
        self._config_blocked.discard(name)
        self.say(name, "config-unblocked", "reads the config topic again")
        self._catch_up(name)

    def lose_sync(self, name: str) -> None:
        self._link.lost_syncs.add(name)

    def request(
        self, operations: Sequence[ClientOperation], via: str | None = None, pacing: Pacing = "answered"
    ) -> SimulatedClient:
        client = SimulatedClient(self, tuple(operations), via, pacing)
        self._clients.append(client)
        client.send_next()
        return client

    # --- state --------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        return self.clock.now

    @property
    def rounds(self) -> list[Round]:
        return self.coordinator.rounds

    def alive(self) -> list[str]:
        return list(self._driven)

    def worker(self, name: str) -> WorkerProcess | None:
        driven = self._driven.get(name)
        return None if driven is None else driven.process

    def leader(self) -> str | None:
        return self.coordinator.members().get(self.coordinator.leader_id or "")

    def last_heard_ms(self, name: str) -> int | None:
        return self.coordinator.last_heard_ms(name)

    def history(self, name: str, begin_ms: int, until_ms: int) -> GroupHistory:
        """What happened until a time, of the type that readers of recordings make."""
        return played_history(
            GroupName(name), self.settings, self.rounds, self.decided, self.runs, self.config, self.events, begin_ms,
            until_ms,
        )  # fmt: skip

    def is_calm(self, *, for_client: SimulatedClient | None = None) -> bool:
        """True if no process except ``for_client`` needs or waits for anything."""
        if self.coordinator.state is not CoordinatorState.STABLE:
            return not self._driven and self.coordinator.state is CoordinatorState.EMPTY
        members = set(self.coordinator.members())
        if any(not client.is_done and client is not for_client for client in self._clients):
            return False
        if self._unreachable or self._config_blocked:
            return False
        for driven in self._driven.values():
            if not (driven.polls and driven.process.is_calm() and driven.process.membership.member_id in members):
                return False
        return True

    # --- time ---------------------------------------------------------------------------------------

    def run_until(self, time_ms: int, *, until_calm: bool = False) -> bool:
        """Returns true if it stopped because the group is calm."""
        waited_for = still_waited_for()
        while True:
            if until_calm and self.is_calm():
                return True
            if waited_for is not None:
                waited_for(self.now - self.start_ms, time_ms - self.start_ms)
            self._let_calm_clients_send()
            if not self.clock.step(time_ms):
                self.clock.now = max(self.clock.now, time_ms)
                return until_calm and self.is_calm()

    def _let_calm_clients_send(self) -> None:
        for client in self._clients:
            if client.pacing == "calm" and client.is_waiting and self.is_calm(for_client=client):
                client.send_next()

    # --- interface for workers ----------------------------------------------------------------------

    def reachable(self, worker: str) -> bool:
        return worker not in self._unreachable

    def can_read_config(self, worker: str) -> bool:
        return worker not in self._unreachable and worker not in self._config_blocked

    def assignor(self, protocol: ConnectProtocol) -> ConnectAssignor:
        return self._assignors(protocol)

    def say(self, actor: str, event: str, text: str, **counts: int) -> None:
        if self._keep_log:
            self.log.add(self.now, actor, event, text, **counts)

    def _happened(self, kind: Callable[..., GroupEvent], **facts: object) -> None:
        self.events.append(kind(Moment.at(self.now), Evidence.played(), **facts))

    def leave_group(self, member_id: str, reason: str) -> None:
        self._link.leave(member_id, reason)

    def assigned(self, generation: int, rebalance: Rebalance | None, answer: ConnectAssignment | None) -> None:
        current = self.rounds[-1]
        if current.generation != generation:
            return
        if rebalance is not None and answer is not None:
            self.decided[generation] = DecidedRound(rebalance, answer, self.coordinator.members())
        note_decision(current, answer)
        if answer is not None and self._keep_log:
            text = describe_decision(current, answer, self.coordinator.members())
            self.say(
                current.leader, "assignment", text, generation=current.generation, delay_ms=answer.delay_ms,
                assigned=current.assigned, revoked=current.revoked,
            )  # fmt: skip
            for remark in answer.remarks:
                self.say(current.leader, "remark", remark)

    def work_started(self, generation: int) -> None:
        for each in reversed(self.rounds):
            if each.generation == generation:
                each.done_ms = self.now
                return

    def jitter(self) -> int:
        return (int(self._random.random() * self.timings.jitter_ms) if self.timings.jitter_ms else 0) + self.pause()

    def _delivery_jitter(self) -> int:
        drawn = self.timings.log_delivery_pauses_ms
        return self._random.choice(drawn) if drawn else self.jitter()

    def pause(self) -> int:
        return self._random.choice(self.timings.pauses_ms) if self.timings.pauses_ms else 0

    # --- interface for requests and clients ---------------------------------------------------------

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        self.clock.after(delay_ms, action)

    def at_process(self, process: int, time_ms: int, action: Callable[[], None]) -> None:
        """No effect after the end of the process."""

        def if_alive() -> None:
            if process in self._by_number:
                action()

        self.clock.at(time_ms, if_alive)

    def send(self, worker: str, request: Request, time_ms: int) -> None:
        process = self._driven[worker].process
        self.at_process(process.number, time_ms, lambda: process.requests.add(request))

    def forward(self, leader: str, request: Request) -> bool:
        driven = self._driven.get(leader)
        if driven is None:
            return False
        process = driven.process
        process.requests.add_at(request, self.now + self.timings.hop_ms(request.kind) + self.pause())
        return True

    def wake(self, process: int) -> None:
        driven = self._by_number.get(process)
        if driven is not None:
            self._driver.wake(driven)

    def written(self, worker: str, *, tasks: bool) -> None:
        """Deliver a worker's write to the others."""
        if tasks:
            for client in self._clients:
                client.slip_in(worker)
        end = self.config.end
        self.events += changed_connectors(self.config, self._noted_config, self.now)
        self._noted_config = end
        for name in self._driven:
            if name != worker:
                delay = self.timings.log_delivery_ms + self._delivery_jitter()
                self.clock.after(delay, partial(self._deliver_config, name, end))

    def _deliver_config(self, name: str, end: int) -> None:
        driven = self._driven.get(name)
        if driven is not None and self.can_read_config(name) and end > driven.process.position:
            driven.process.read_config(end)
            self.wake(driven.process.number)

    def _catch_up(self, name: str) -> None:
        self._deliver_config(name, self.config.end)

    # --- the end of a process -----------------------------------------------------------------------

    def _is_over(self, driven: Driven) -> None:
        name = driven.process.name
        self._happened(InstanceStopped, instance=name)
        self.say(name, "process-over", "its process ends")
        self._driven.pop(name, None)
        self._end(name, driven)

    def _end(self, name: str, driven: Driven) -> None:
        driven.alive = False
        del self._by_number[driven.process.number]
        driven.steps.close()
        self.runs.end_process(driven.process.number, self.now)
        self._unreachable.discard(name)
        self._config_blocked.discard(name)
        self._link.lost_syncs.discard(name)
        for client in self._clients:
            client.worker_gone(name)
