"""A Connect worker: herder and membership as one chain of steps (reference 6.2 to 6.4, 6.6, 6.7).

The herder is one sequence of steps that says what it waits for and is told when that has come: no thread, no clock,
no network in here. :mod:`assignor_lab.simulation.cluster` moves it on.
"""

from __future__ import annotations

from typing import Any

import attrs

from assignment_api.connect import (
    MAX_DELAY_KEY,
    NO_GENERATION,
    NO_JOBS,
    WILDCARD,
    ConnectAssignor,
    ConnectProtocol,
    Jobs,
    Rebalance,
    Worker,
)
from assignor_lab.simulation.config_log import ConfigView
from assignor_lab.simulation.group_coordinator import Joined, JoinRequest, Refused, Synced, SyncRequest
from assignor_lab.simulation.herder_steps import Ask, Memory, Poll, Sleep, Steps, Surroundings, Told
from assignor_lab.simulation.job_pool import JobPool
from assignor_lab.simulation.reporting import reported_order
from assignor_lab.simulation.requests import Requests
from assignor_lab.simulation.worker_settings import WorkerSettings

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
        self.member_id: str | None = None
        self.generation = NO_GENERATION
        self.told: Told | None = None
        self.held: Jobs | None = held
        self.running: frozenset[Any] = frozenset() if held is None else frozenset((*held.connectors, *held.tasks))
        self.position = world.config.end
        self.seen = self.position
        self.group_says_rejoin = False
        self.lost_coordinator = False
        self.rejoin_requested = False
        self.needs_rebalance = False
        self.scheduled_ms: int | None = None
        self.resolved = True
        self.stopping = False
        self.ended = False
        self._assigned_once = False
        self._wants_another_round = False
        self._last_protocol: ConnectProtocol | None = None
        self._last_completed = NO_GENERATION
        self._assignors: dict[ConnectProtocol, ConnectAssignor] = {}
        self._world, self._pool = world, pool
        self._changed: dict[str, None] = {}
        self._retasked: dict[str, None] = {}
        self._restart_tasks: dict[str, None] = {}
        self._unreadable = False
        self._unsync_tries = 5
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
            and self.seen == self._world.config.end
            and self.requests.is_empty()
        )

    def read_config(self, end: int) -> None:
        """Records up to ``end`` have arrived; flags are set for the herder (reference 6.3)."""
        if end <= self.position:
            return
        before = self._world.config.view(self.seen)
        for record in self._world.config.between(self.position, end):
            if record.kind == "commit":
                self.needs_rebalance = True
                self._retasked[record.connector] = None
            elif record.kind == "delete" or record.connector not in before.wanted:
                self.needs_rebalance = True
            else:
                self._changed[record.connector] = None
        self.position = end

    # --- the herder ---------------------------------------------------------------------------------

    def herder(self, start_ms: int) -> Steps:
        """The chain of all its steps, which ends when the worker is told to stop."""
        yield Sleep(start_ms)
        while not self.stopping:
            if self._unreadable:
                self._unreadable = not (yield from self._read_to_end())
                if self._unreadable:
                    continue
            yield from self._be_a_member()
            if not (yield from self._complete_rebalance()):
                continue
            yield from self.requests.run(self)
            if self.scheduled_ms is not None:
                self.resolved = False
            if (yield from self._apply_updates()):
                continue
            yield Poll(self.scheduled_ms)
        if not self.ended:
            yield from self._shut_down()

    def _shut_down(self) -> Steps:
        jobs = self._pool.running_jobs(self.number)
        yield Sleep(self._pool.stop(self.number, jobs, self._world.now))
        if self.member_id is not None:
            self._world.leave_group(self.member_id, "leaves")
        self.ended = True

    def _read_to_end(self) -> Steps:
        timings = self._world.timings
        if not self._world.can_read_config(self.name):
            yield Sleep(timings.worker_sync_timeout_ms)
            if not self._world.can_read_config(self.name):
                return False
        yield Sleep(timings.config_read_ms)
        if not self._world.can_read_config(self.name):
            return False
        self.read_config(self._world.config.end)
        self.seen = self.position
        return True

    # --- membership ---------------------------------------------------------------------------------

    def _needs_join(self) -> bool:
        return (
            self.group_says_rejoin
            or self.rejoin_requested
            or self.member_id is None
            or self.told is None
            or self.told.failed
        )

    def _be_a_member(self) -> Steps:
        """Finds the coordinator, and joins where that is needed; stops everything while there is none."""
        while not self.stopping:
            if self.lost_coordinator or not self._world.reachable(self.name):
                self.lost_coordinator = True
                yield from self._find_coordinator()
            elif not self._needs_join() or (yield from self._join()):
                return

    def _find_coordinator(self) -> Steps:
        yield Sleep(self._world.timings.heartbeat_interval_ms)
        if self._world.reachable(self.name):
            self.lost_coordinator = False
            return
        if self.held is not None and self.told is not None and not self.told.failed:
            # Self-fencing: others will be given these jobs.
            yield from self._stop_everything("stops everything: it cannot reach the coordinator")

    def _stop_everything(self, why: str) -> Steps:
        jobs = self._pool.running_jobs(self.number)
        if len(jobs):
            self._say("fenced", f"{why} ({len(jobs)} jobs)", jobs=len(jobs))
            yield Sleep(self._pool.stop(self.number, jobs, self._world.now))
        self.held, self.running, self.told = None, frozenset(), None

    def _join(self) -> Steps:
        """One attempt to join and sync; true if it succeeded."""
        self.group_says_rejoin = False
        if self._last_protocol is ConnectProtocol.EAGER and self.held is not None and self._assigned_once:
            jobs = self._pool.running_jobs(self.number)
            if len(jobs):
                self._say("stop", f"stops all its {len(jobs)} jobs before it joins", jobs=len(jobs))
                yield Sleep(self._pool.stop(self.number, jobs, self._world.now))
            self._assigned_once = False
        joined = yield Ask(self._join_request())
        if not isinstance(joined, Joined):
            self._failed(joined)
            return False
        self.member_id, self.generation = joined.member_id, joined.generation
        assignments = None
        if joined.members is not None:
            assignments = yield from self._lead(joined)
        synced = yield Ask(SyncRequest(joined.member_id, joined.generation, assignments))
        if not isinstance(synced, Synced) or synced.assignment is None:
            self._failed(synced)
            return False
        yield from self._take(synced)
        return True

    def _failed(self, answer: Any) -> None:
        if answer is None:
            self.lost_coordinator = True
        elif isinstance(answer, Refused):
            if answer.reason in ("unknown_member", "illegal_generation"):
                self.member_id = None
            elif answer.reason == "inconsistent_protocol":
                self._say("refused", "cannot join: the group speaks none of its protocols, and the worker ends")
                self.ended = True
                self.stopping = True
        self.rejoin_requested = True

    def _join_request(self) -> JoinRequest:
        timings = self._world.timings
        told = self.told
        last = None if told is None else (self._last_completed, told.leader_id, told.offset, told.delay_ms)
        held = self._report()
        offers = {
            protocol: Memory(
                self.position,
                held if protocol.is_incremental else NO_JOBS,
                self.settings.static if protocol is ConnectProtocol.STATIC else WILDCARD,
                last if protocol.is_incremental else None,
            )
            for protocol in self.settings.protocol.offered()
        }
        return JoinRequest(self.name, self.member_id, offers, timings.rebalance_timeout_ms, timings.session_timeout_ms)

    def _report(self) -> Jobs:
        if self.held is None:
            return NO_JOBS
        if self._reported is None or self._reported[0] is not self.held:
            self._reported = (self.held, reported_order(self.held))
        return self._reported[1]

    def _lead(self, joined: Joined) -> Steps:
        """Decides; the mapping of member ids to what they are told."""
        world = self._world
        assert joined.members is not None
        offset = max(memory.offset for memory in joined.members.values())
        if self.position < offset:
            yield from self._read_to_end()
            if self.position < offset:
                world.assigned(joined.generation, None)
                self._say("mismatch", f"has not read the config topic as far as others ({self.position} < {offset})")
                failed = Told(self.member_id or "", self.name, offset, failed=True)
                return dict.fromkeys(joined.members, failed)
            offset = self.position
        yield Sleep(world.timings.assignor_ms)
        rebalance = Rebalance(
            world.config.view(self.position).jobs,
            tuple(
                Worker(member, memory.owned, memory.static) for member, memory in joined.members.items()
            ),
            joined.protocol,
            world.now,
            joined.generation,
            self._last_completed,
            self._last_protocol,
        )  # fmt: skip
        answer = self._assignor(joined.protocol).assign(rebalance)
        world.assigned(joined.generation, answer)
        told = {
            member: Told(self.member_id or "", self.name, offset, each.assigned, each.revoked, answer.delay_ms)
            for member, each in answer.workers.items()
        }
        self._wants_another_round = answer.rejoin
        return told

    def _assignor(self, protocol: ConnectProtocol) -> ConnectAssignor:
        # compatible and sessioned are one assignor in Kafka: what it remembers survives the change between them.
        kind = ConnectProtocol.SESSIONED if protocol is ConnectProtocol.COMPATIBLE else protocol
        if kind not in self._assignors:
            made = self._world.assignor(kind)
            made.configure({
                MAX_DELAY_KEY: self.settings.max_delay_ms,
                "assignor.connect_eager.downgrade": self.settings.downgrade,
                **self.settings.configs,
            })  # fmt: skip
            self._assignors[kind] = made
        return self._assignors[kind]

    def _take(self, synced: Synced) -> Steps:
        """Takes an assignment: stops what is revoked, and keeps the rest (reference 6.2)."""
        told: Told = synced.assignment
        # What heartbeats said on the way here has been done.
        self.group_says_rejoin = False
        before, self._last_protocol = self._last_protocol, synced.protocol
        self.rejoin_requested, self._wants_another_round = self._wants_another_round, False
        if synced.protocol.is_incremental:
            if len(told.revoked):
                yield from self._revoke(told.revoked)
            if self.held is not None:
                kept = self.held.minus(told.revoked)
                self.held = told.assigned.plus(kept) if len(told.assigned) else kept
            else:
                self.held = told.assigned
        else:
            came_down = before is not None and before.is_incremental
            if came_down and self.settings.downgrade == "kip415" and self.held is not None:
                yield from self._revoke(self.held.minus(told.assigned))
            if came_down and self.settings.downgrade == "kafka":
                self._pool.runs.allow(self.number, self._world.now, "KAFKA-13816: a downgrade to eager stops nothing")
            self.held = told.assigned
        self.told, self._last_completed = told, synced.generation
        self._assigned_once = True
        self.scheduled_ms = self._world.now + told.delay_ms if told.delay_ms > 0 else None
        self.resolved = False

    def _revoke(self, jobs: Jobs) -> Steps:
        self._say("stop", f"stops {len(jobs)} revoked jobs", jobs=len(jobs))
        yield Sleep(self._pool.stop(self.number, jobs, self._world.now))
        self.running -= frozenset((*jobs.connectors, *jobs.tasks))

    # --- after an assignment ------------------------------------------------------------------------

    def _complete_rebalance(self) -> Steps:
        """Reads what is missing, starts the work; false if the herder has to begin anew (reference 6.4)."""
        told = self.told
        if self.stopping or told is None:
            return False
        if self.resolved:
            return True
        needs_join = needs_read = False
        if told.failed:
            needs_join = True
            needs_read = told.leader_id == self.member_id or self.seen < told.offset
        elif self.seen < told.offset:
            needs_read = True
        if self.scheduled_ms is not None and self.scheduled_ms <= self._world.now:
            needs_join, self.scheduled_ms = True, None
        if needs_read:
            if (yield from self._read_to_end()):
                self._unsync_tries = 5
            else:
                yield from self._back_off()
                self._unreadable = needs_join = True
        if needs_join or self.seen != told.offset:
            self.rejoin_requested = True
            return False
        yield from self._start_work()
        self.resolved = True
        if len(told.revoked):
            self.told = attrs.evolve(told, revoked=NO_JOBS)
            self.rejoin_requested = True
            return False
        return not self.rejoin_requested

    def _start_work(self) -> Steps:
        assert self.held is not None
        if self._restart_tasks:
            again = frozenset(task for task in self.held.tasks if task.connector in self._restart_tasks)
            self.running -= again
            self._restart_tasks.clear()
        connectors = [name for name in self.held.connectors if name not in self.running]
        tasks = [task for task in self.held.tasks if task not in self.running]
        if connectors or tasks:
            number = len(connectors) + len(tasks)
            self._say("start", f"starts {len(connectors)} connectors and {len(tasks)} tasks", jobs=number)
            yield Sleep(self._start(connectors, tasks))
        if self._last_protocol is not None and self._last_protocol.is_incremental:
            self.running = frozenset((*self.held.connectors, *self.held.tasks))
        else:
            self.running = frozenset()
        self._world.work_started(self.generation)

    def _start(self, connectors: list[str], tasks: list[Any]) -> int:
        view = self.view()
        took, ready = self._pool.start(self.number, self.name, connectors, tasks, self._world.now)
        for name in connectors:
            if view.needs_task_configs(name):
                self.requests.reconfigure_at(name, ready[name])
        return took

    def view(self) -> ConfigView:
        """The herder's snapshot."""
        return self._world.config.view(self.seen)

    def _back_off(self) -> Steps:
        """Leaves because the config topic cannot be read, and waits (reference 6.6)."""
        if self.member_id is not None:
            self._world.leave_group(self.member_id, "cannot read the config topic and leaves")
            self.member_id = None
        reason = "a worker that cannot read the config topic leaves and keeps its jobs for a while (reference 6.6)"
        self._pool.runs.allow(self.number, self._world.now, reason)
        if self._last_protocol is ConnectProtocol.EAGER:
            yield Sleep(self._world.timings.worker_unsync_backoff_ms)
            return
        if self._unsync_tries > 0:
            yield Sleep(self.settings.max_delay_ms // 10 // self._unsync_tries)
            self._unsync_tries -= 1
            return
        yield from self._stop_everything("stops everything: the config topic stays unreadable")
        self._unsync_tries = 5

    # --- changes of the configuration ---------------------------------------------------------------

    def _apply_updates(self) -> Steps:
        """Acts on what was read (reference 6.3, step 7); true if the herder has to begin anew."""
        if not (self.needs_rebalance or self._changed or self._retasked):
            return False
        self.seen = self.position
        eager = self._last_protocol is ConnectProtocol.EAGER
        rebalance, self.needs_rebalance = self.needs_rebalance, False
        if rebalance:
            self.rejoin_requested = True
        if eager and rebalance:
            self._changed.clear()
            self._retasked.clear()
            return True
        yield from self._bounce_changed()
        retasked = list(self._retasked)
        self._retasked.clear()
        if not eager and self.held is not None:
            tasks = [task for task in self.held.tasks if task.connector in retasked and task in self.running]
            if tasks:
                self._say("stop", f"stops {len(tasks)} tasks that have new configurations", jobs=len(tasks))
                yield Sleep(self._pool.stop(self.number, Jobs((), tasks), self._world.now))
                self._restart_tasks.update(dict.fromkeys(task.connector for task in tasks))
        return rebalance

    def _bounce_changed(self) -> Steps:
        own = self._pool.running_jobs(self.number).connectors
        names = [name for name in self._changed if name in own]
        self._changed.clear()
        for name in names:
            self._say("bounce", f"restarts connector {name}, whose configuration has changed", jobs=1)
            yield Sleep(self._pool.stop(self.number, Jobs((name,), ()), self._world.now))
            yield Sleep(self._start([name], []))

    def _say(self, event: str, text: str, **details: Any) -> None:
        self._world.say(self.name, event, text, **details)
