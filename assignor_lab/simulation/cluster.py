"""A Connect cluster on a virtual clock: workers, coordinator and config topic put together (reference 6.9)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from assignment_api.connect import ConnectAssignment, ConnectAssignor, ConnectProtocol, Jobs
from assignor_lab.simulation.agenda import Agenda
from assignor_lab.simulation.client import Client, Operation, Pacing
from assignor_lab.simulation.config_log import ConfigLog
from assignor_lab.simulation.event_log import EventLog
from assignor_lab.simulation.group_coordinator import (
    Coordinator,
    GroupState,
    JoinRequest,
    Refused,
    Reply,
    Round,
    Synced,
    SyncRequest,
)
from assignor_lab.simulation.herder_steps import Ask, Poll, Sleep
from assignor_lab.simulation.job_pool import JobPool
from assignor_lab.simulation.job_runs import Job, JobRuns
from assignor_lab.simulation.requests import Request, Requests
from assignor_lab.simulation.timings import DEFAULT_TIMINGS, Timings
from assignor_lab.simulation.worker import WorkerProcess
from assignor_lab.simulation.worker_settings import WorkerSettings

__all__ = ["AssignorFactory", "Cluster"]

#: Makes the assignor for what a group speaks.
AssignorFactory = Callable[[ConnectProtocol], ConnectAssignor]


class _Driven:
    """A worker's process with what moves its herder on."""

    __slots__ = ("alive", "busy_until", "last_poll", "polls", "process", "steps", "token", "waits_for_answer", "woken")

    def __init__(self, process: WorkerProcess, start_ms: int, now: int) -> None:
        self.process = process
        self.steps = process.herder(start_ms)
        self.token = 0
        self.polls = False
        self.woken = False
        self.alive = True
        self.waits_for_answer = False
        self.busy_until = 0
        self.last_poll = now


class Cluster:
    """A group of workers. Drive it with :meth:`run_until`; do things to it with the other methods.

    Args:
        assignors: Makes assignors.
        timings: How long things take.
        connectors: Connector to number of tasks, configured from the beginning.
        seed: Seed of every draw.
        start_ms: What the clock shows at first.
        forming: The group is formed by so many workers at once, without the broker's initial delay; 0 = it is not.
        keep_log: Whether what happens is written down, line by line.
    """

    def __init__(
        self,
        assignors: AssignorFactory,
        timings: Timings = DEFAULT_TIMINGS,
        connectors: Mapping[str, int] | None = None,
        seed: int = 0,
        start_ms: int = 1,
        forming: int = 0,
        *,
        keep_log: bool = True,
    ) -> None:
        self.timings = timings
        self.agenda = Agenda(start_ms)
        self.start_ms = self.agenda.now
        self.config = ConfigLog(connectors or {})
        self.runs = JobRuns()
        self.log = EventLog(self.start_ms)
        self.coordinator = Coordinator(timings.initial_rebalance_delay_ms, forming)
        #: Names of workers that ever started, with their settings of the last start.
        self.settings: dict[str, WorkerSettings] = {}
        #: When each worker's process was up: name to (from, until or ``None``).
        self.lives: dict[str, list[tuple[int, int | None]]] = {}
        self._assignors = assignors
        self._random = random.Random(seed)  # noqa: S311 - a simulation, not a secret
        self._pool = JobPool(timings, self.runs, self._random)
        self._driven: dict[str, _Driven] = {}
        self._by_number: dict[int, _Driven] = {}
        self._processes = 0
        self._unreachable: set[str] = set()
        self._config_blocked: set[str] = set()
        self._lost_syncs: set[str] = set()
        self._keep_log = keep_log
        self._clients: list[Client] = []
        self._deadline: int | None = None

    # --- what the surroundings do -------------------------------------------------------------------

    def start_worker(
        self, name: str, settings: WorkerSettings, held: Jobs | None = None, start_ms: int | None = None
    ) -> None:
        """Starts a worker's process; one that is up already is left alone.

        Args:
            name: Its name.
            settings: Its configuration.
            held: What it owns from the beginning, running already; for a group that exists when the episode begins.
            start_ms: Until it asks to join; the timings' figure if not given.
        """
        if name in self._driven:
            return
        self._processes += 1
        self.settings[name] = settings
        number = self._processes
        process = WorkerProcess(number, name, settings, self, self._pool, Requests(number, self), held)
        driven = _Driven(process, self.timings.worker_start_ms if start_ms is None else start_ms, self.now)
        self._driven[name] = self._by_number[number] = driven
        self.lives.setdefault(name, []).append((self.now, None))
        if held is not None:
            jobs: list[Job] = [*held.connectors, *held.tasks]
            for job in jobs:
                self.runs.start(job, number, name, self.now)
        else:
            self.say(name, "process", "starts its process")
        self._move(driven, driven.token, None)
        self._beat_later(driven)

    def configure(self, **changes: Any) -> None:
        """Changes settings of all workers that ever started, as if they had always been so."""
        for name in self.settings:
            self.settings[name] = attrs.evolve(self.settings[name], **changes)
            if name in self._driven:
                self._driven[name].process.settings = self.settings[name]

    def crash(self, name: str) -> None:
        """A worker's process dies: its jobs end at once, and the group hears nothing more of it."""
        driven = self._driven.pop(name, None)
        if driven is not None:
            lost = len(self.runs.running(driven.process.number))
            self.say(name, "crash", f"crashes with {lost} jobs", jobs=lost)
            self._end(name, driven)

    def stop(self, name: str) -> None:
        """A worker is asked to stop in order: it stops its jobs, then leaves the group."""
        driven = self._driven.get(name)
        if driven is not None and not driven.process.stopping:
            self.say(name, "stop-asked", "is asked to stop")
            driven.process.stopping = True
            self.wake(driven.process.number)

    def partition(self, name: str, duration_ms: int) -> None:
        """A worker cannot reach the brokers for a while: neither the coordinator nor the config topic."""
        if name in self._driven:
            self._unreachable.add(name)
            self.say(name, "partition", f"loses the brokers for {duration_ms / 1000:g} s")
            self.agenda.after(duration_ms, lambda: self._heal(name))

    def _heal(self, name: str) -> None:
        self._unreachable.discard(name)
        self.say(name, "partition-over", "reaches the brokers again")
        self._catch_up(name)

    def stall(self, name: str, duration_ms: int) -> None:
        """A worker's herder thread hangs for a while, for instance in a connector's ``stop``; heartbeats go on."""
        driven = self._driven.get(name)
        if driven is not None:
            driven.busy_until = max(driven.busy_until, self.now + duration_ms)
            self.say(name, "stall", f"its herder thread hangs for {duration_ms / 1000:g} s")

    def block_config(self, name: str, duration_ms: int) -> None:
        """A worker gets no records of the config topic for a while."""
        if name in self._driven:
            self._config_blocked.add(name)
            self.say(name, "config-blocked", f"gets nothing of the config topic for {duration_ms / 1000:g} s")
            self.agenda.after(duration_ms, lambda: self._unblock(name))

    def _unblock(self, name: str) -> None:
        self._config_blocked.discard(name)
        self.say(name, "config-unblocked", "reads the config topic again")
        self._catch_up(name)

    def lose_sync(self, name: str) -> None:
        """The next assignment for a worker gets lost on its way."""
        self._lost_syncs.add(name)

    def request(self, operations: Sequence[Operation], via: str | None = None, pacing: Pacing = "answered") -> Client:
        """A REST client sends requests, one after the other."""
        client = Client(self, tuple(operations), via, pacing)
        self._clients.append(client)
        client.send_next()
        return client

    # --- what is to be seen -------------------------------------------------------------------------

    @property
    def now(self) -> int:
        """What the clock shows."""
        return self.agenda.now

    @property
    def rounds(self) -> list[Round]:
        """All rebalances so far."""
        return self.coordinator.rounds

    def alive(self) -> list[str]:
        """Names of the workers that are up, in the order of their starts."""
        return list(self._driven)

    def worker(self, name: str) -> WorkerProcess | None:
        """A worker's process, if it is up."""
        driven = self._driven.get(name)
        return None if driven is None else driven.process

    def leader(self) -> str | None:
        """Name of the group's leader."""
        return self.coordinator.members().get(self.coordinator.leader_id or "")

    def last_heard_ms(self, name: str) -> int | None:
        """When the coordinator last heard of a worker."""
        return self.coordinator.last_heard_ms(name)

    def is_calm(self, *, for_client: Client | None = None) -> bool:
        """Whether nobody (but ``for_client``) wants or waits for anything (reference 6.9)."""
        if self.coordinator.state is not GroupState.STABLE:
            return not self._driven and self.coordinator.state is GroupState.EMPTY
        members = set(self.coordinator.members())
        if any(not client.is_done and client is not for_client for client in self._clients):
            return False
        if self._unreachable or self._config_blocked:
            return False
        for driven in self._driven.values():
            if not (driven.polls and driven.process.is_calm() and driven.process.member_id in members):
                return False
        return True

    # --- time ---------------------------------------------------------------------------------------

    def run_until(self, time_ms: int, *, until_calm: bool = False) -> bool:
        """Lets time pass up to a moment of the clock.

        Args:
            time_ms: The moment.
            until_calm: Stop as soon as everything is calm.

        Returns:
            Whether it stopped because everything is calm.
        """
        while True:
            if until_calm and self.is_calm():
                return True
            self._let_calm_clients_send()
            if not self.agenda.step(time_ms):
                self.agenda.now = max(self.agenda.now, time_ms)
                return until_calm and self.is_calm()

    def _let_calm_clients_send(self) -> None:
        for client in self._clients:
            if client.pacing == "calm" and client.is_waiting and self.is_calm(for_client=client):
                client.send_next()

    # --- Surroundings of a worker -------------------------------------------------------------------

    def reachable(self, worker: str) -> bool:
        """Whether a worker reaches the coordinator."""
        return worker not in self._unreachable

    def can_read_config(self, worker: str) -> bool:
        """Whether a worker can read the config topic."""
        return worker not in self._unreachable and worker not in self._config_blocked

    def assignor(self, protocol: ConnectProtocol) -> ConnectAssignor:
        """A new assignor."""
        return self._assignors(protocol)

    def say(self, actor: str, event: str, text: str, **details: Any) -> None:
        """Adds to the event log."""
        if self._keep_log:
            self.log.add(self.now, actor, event, text, **details)

    def leave_group(self, member_id: str, reason: str) -> None:
        """A member leaves."""
        self._deliver(self.coordinator.leave(self.now, member_id, reason))

    def assigned(self, generation: int, answer: ConnectAssignment | None) -> None:
        """Notes what a leader decided."""
        current = self.rounds[-1]
        if current.generation != generation:
            return
        if answer is None:
            current.mismatch = True
            return
        current.delay_ms = answer.delay_ms
        current.assigned = sum(len(each.assigned) for each in answer.workers.values())
        current.revoked = sum(len(each.revoked) for each in answer.workers.values())
        if self._keep_log:
            self._say_decision(current, answer)

    def _say_decision(self, current: Round, answer: ConnectAssignment) -> None:
        names = self.coordinator.members()
        shares = []
        for member, each in answer.workers.items():
            parts = [f"{sign}{len(jobs)}" for sign, jobs in (("+", each.assigned), ("-", each.revoked)) if len(jobs)]
            if parts:
                shares.append(f"{names.get(member, member)} {' '.join(parts)}")
        text = f"generation {current.generation} ({current.protocol.value}, {len(current.members)} members): "
        text += "; ".join(shares) or "nothing moves"
        if answer.delay_ms:
            text += f"; again in {answer.delay_ms / 1000:g} s"
        self.say(
            current.leader, "assignment", text, generation=current.generation, delay_ms=answer.delay_ms,
            assigned=current.assigned, revoked=current.revoked,
        )  # fmt: skip
        for remark in answer.remarks:
            self.say(current.leader, "remark", remark)

    def work_started(self, generation: int) -> None:
        """A worker has started what it was assigned."""
        for each in reversed(self.rounds):
            if each.generation == generation:
                each.done_ms = self.now
                return

    def jitter(self) -> int:
        """What a small duration is longer by than it should be."""
        return int(self._random.random() * self.timings.jitter_ms) if self.timings.jitter_ms else 0

    # --- RequestWorld -------------------------------------------------------------------------------

    def at_process(self, process: int, time_ms: int, action: Callable[[], None]) -> None:
        """Has ``action`` called at a moment if the process is still up."""

        def if_alive() -> None:
            if process in self._by_number:
                action()

        self.agenda.at(time_ms, if_alive)

    def forward(self, leader: str, request: Request) -> bool:
        """Passes a request on to a worker."""
        driven = self._driven.get(leader)
        if driven is None:
            return False
        process = driven.process
        process.requests.add_at(request, self.now + self.timings.rest_hop_ms)
        return True

    def wake(self, process: int) -> None:
        """Wakes a herder that polls, or will."""
        driven = self._by_number.get(process)
        if driven is not None:
            driven.woken = True
            if driven.polls:
                driven.polls = False
                driven.last_poll = self.now
                self.agenda.after(0, partial(self._move, driven, driven.token, None))

    def written(self, worker: WorkerProcess, *, tasks: bool) -> None:
        """The writer has read what it wrote; the others will hear of it."""
        if tasks:
            for client in self._clients:
                client.slip_in(worker.name)
        end = self.config.end
        worker.read_config(end)
        for name in self._driven:
            if name != worker.name:
                delay = self.timings.log_delivery_ms + self.jitter()
                self.agenda.after(delay, partial(self._deliver_config, name, end))

    def _deliver_config(self, name: str, end: int) -> None:
        driven = self._driven.get(name)
        if driven is not None and self.can_read_config(name) and end > driven.process.position:
            driven.process.read_config(end)
            self.wake(driven.process.number)

    def _catch_up(self, name: str) -> None:
        self._deliver_config(name, self.config.end)

    # --- moving the herders on ----------------------------------------------------------------------

    def _move(self, driven: _Driven, token: int, answer: Any) -> None:
        """Gives a herder what it waited for, and sees what it waits for next."""
        if not driven.alive or token != driven.token:
            return
        if self.now < driven.busy_until:
            self.agenda.at(driven.busy_until, lambda: self._move(driven, token, answer))
            return
        if driven.busy_until and driven.process.member_id not in self.coordinator.members():
            self._cannot_stop(driven.process)
        driven.busy_until = 0
        if driven.polls or driven.waits_for_answer:
            driven.last_poll = self.now
        driven.token += 1
        driven.polls = driven.waits_for_answer = False
        try:
            step = driven.steps.send(answer)
        except StopIteration:
            self.say(driven.process.name, "process-over", "its process ends")
            self._driven.pop(driven.process.name, None)
            self._end(driven.process.name, driven)
            return
        token = driven.token
        if isinstance(step, Sleep):
            self.agenda.after(step.duration_ms, lambda: self._move(driven, token, None))
        elif isinstance(step, Ask):
            driven.last_poll = self.now
            self._send(driven, token, step.request)
        else:
            self._let_poll(driven, token, step)

    def _let_poll(self, driven: _Driven, token: int, step: Poll) -> None:
        driven.last_poll = self.now
        driven.polls = True
        if driven.woken:
            driven.woken, driven.polls = False, False
            self.agenda.after(0, lambda: self._move(driven, token, None))
        elif step.until_ms is not None:
            self.agenda.at(step.until_ms, lambda: self._move(driven, token, None))

    def _send(self, driven: _Driven, token: int, request: JoinRequest | SyncRequest) -> None:
        driven.waits_for_answer = True
        half = self.timings.request_ms // 2
        if not self.reachable(driven.process.name):
            self.agenda.after(half + 1, lambda: self._move(driven, token, None))
            return
        arrive = self._joins if isinstance(request, JoinRequest) else self._syncs
        self.agenda.after(half, lambda: arrive(driven, request))

    def _joins(self, driven: _Driven, request: Any) -> None:
        if driven.alive:
            self._deliver(self.coordinator.join(self.now, request))

    def _syncs(self, driven: _Driven, request: Any) -> None:
        if driven.alive:
            replies = self.coordinator.sync(self.now, request)
            if not replies and request.member_id not in self.coordinator.members():
                self._answer(driven, None)
            self._deliver(replies)

    def _deliver(self, replies: list[Reply]) -> None:
        for reply in replies:
            driven = self._driven.get(reply.worker)
            if driven is not None:
                self._answer(driven, reply.body)
        self._watch_deadlines()

    def _answer(self, driven: _Driven, body: Any) -> None:
        name, token = driven.process.name, driven.token
        if isinstance(body, Synced) and name in self._lost_syncs:
            self._lost_syncs.discard(name)
            self.say(name, "sync-lost", "never receives its assignment")
            body = Refused("rebalancing")
        if not self.reachable(name):
            body = None
        if driven.waits_for_answer:
            half = self.timings.request_ms - self.timings.request_ms // 2
            self.agenda.after(half, lambda: self._move(driven, token, body))

    def _watch_deadlines(self) -> None:
        deadline = self.coordinator.next_deadline()
        if deadline is None or (self._deadline is not None and self._deadline <= deadline):
            return
        self._deadline = deadline

        def due() -> None:
            if self._deadline == deadline:
                self._deadline = None
                self._deliver(self.coordinator.expire(self.now))

        self.agenda.at(deadline, due)

    # --- heartbeats ---------------------------------------------------------------------------------

    def _beat_later(self, driven: _Driven) -> None:
        self.agenda.after(self.timings.heartbeat_interval_ms, lambda: self._beat(driven))

    def _beat(self, driven: _Driven) -> None:
        """A heartbeat is due (reference 6.1, 6.2); what comes back is for the herder to see."""
        if not driven.alive:
            return
        process = driven.process
        # A worker that waits in a join phase is known to be alive; one whose herder hangs goes on sending heartbeats.
        hangs = self.now < driven.busy_until
        if process.member_id is not None and (hangs or not driven.waits_for_answer):
            self._ask_how_it_stands(driven, process.member_id)
        self._beat_later(driven)

    def _ask_how_it_stands(self, driven: _Driven, member_id: str) -> None:
        process = driven.process
        if not self.reachable(process.name):
            process.lost_coordinator = True
            if self.now < driven.busy_until:
                self._cannot_stop(process)
            self.wake(process.number)
            return
        blocked = not driven.polls and self.now - driven.last_poll > self.timings.rebalance_timeout_ms
        if blocked:
            # The herder thread hangs: its membership ends, its jobs do not (KAFKA-16056).
            process.member_id = None
            self._cannot_stop(process)
            self.say(process.name, "poll-timeout", "does not poll and leaves; its jobs keep running")
            self.leave_group(member_id, "does not poll and leaves")
            self.wake(process.number)
            return
        answer = self.coordinator.heartbeat(self.now, member_id)
        if answer == "unknown_member":
            process.member_id = None
            if not driven.polls:
                # A hanging herder was removed by a join phase.
                self._cannot_stop(process)
        if answer != "ok":
            process.group_says_rejoin = True
            self.wake(process.number)
        self._watch_deadlines()

    def _cannot_stop(self, process: WorkerProcess) -> None:
        """A herder hangs and stops nothing: since its last heartbeat it may run what others run, too."""
        since = self.now - self.timings.heartbeat_interval_ms
        self.runs.allow(process.number, since, "KAFKA-16056: a worker that does not poll keeps its jobs running")

    def _end(self, name: str, driven: _Driven) -> None:
        driven.alive = False
        del self._by_number[driven.process.number]
        driven.steps.close()
        self.runs.end_process(driven.process.number, self.now)
        begun, _ = self.lives[name][-1]
        self.lives[name][-1] = (begun, self.now)
        self._unreachable.discard(name)
        self._config_blocked.discard(name)
        self._lost_syncs.discard(name)
        for client in self._clients:
            client.worker_gone(name)
