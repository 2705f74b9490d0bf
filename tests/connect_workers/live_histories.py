"""Random histories of live Connect clusters in one process: at the end all configured jobs run, and the cluster
settles.

Workers join behind every kind of record of the config log, leave, are killed and rolled. Meanwhile connectors are
created, changed, deleted, paused, stopped, resumed and restarted. A long run:

    python -m tests.connect_workers.live_histories --count 20000 --seed 1

A history is given by its seed. The order of threads is not, so that a finding may need several tries to be seen again.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import attrs

from assignment_api.connect import WILDCARD, ConnectorTaskId, ConnectProtocol, StaticJobs
from assignment_api.connectors import ConfigDef, SourceConnector, SourceRecord, SourceTask, Task
from assignment_api.plugins import discover
from assignor_lab.kafka.herder.config_log.reader import ConfigReader, ConfigSnapshot
from assignor_lab.kafka.herder.config_log.records import TargetState
from assignor_lab.kafka.herder.statuses import JobState
from connect_workers.cluster import ConnectCluster
from connect_workers.contract import (
    BadRequestError,
    HerderError,
    NotAssignedError,
    NotFoundError,
    NotLeaderError,
    RestartRequest,
)
from connect_workers.herders.distributed import DistributedHerder
from connect_workers.herders.request_queue import ShuttingDownError
from connect_workers.plugins.connector_plugins import ConnectorPlugins, connector_kind
from connect_workers.settings import LiveTimings, LiveWorkerSettings

__all__ = ["Event", "Finding", "History", "play", "play_many", "random_history"]

#: Rounds allowed for each event, and rounds allowed after the last one until the cluster rests.
MOST_ROUNDS_EACH, MOST_ROUNDS_LAST = 12, 20
#: Time limit for that rest and for any request. It is long, because machines are busy.
MOST_SECONDS = 60.0
#: Ends of reasons for a worker without heartbeats: on a busy machine, or after a kill.
_SILENT = ("sent no heartbeat in time", "did not join in time")

_TIMINGS = LiveTimings(
    heartbeat_interval_ms=40,
    session_timeout_ms=1_500,
    rebalance_timeout_ms=20_000,
    initial_rebalance_delay_ms=20,
    reconfigure_backoff_ms=20,
)


class IdleTask(SourceTask):
    def start(self, config: Mapping[str, str]) -> None:
        del config

    def poll(self) -> Sequence[SourceRecord]:
        self.context.wait(60)
        return ()


class IdleSource(SourceConnector):
    version: ClassVar[str] = "1"
    task_class: ClassVar[type[Task]] = IdleTask

    @classmethod
    def config_def(cls) -> ConfigDef:
        return ConfigDef([])

    def start(self, config: Mapping[str, str]) -> None:
        self.config = config

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        return [
            {"n": self.config["n"], "number": str(number)}
            for number in range(min(max_tasks, int(self.config["wanted"])))
        ]


_PLUGINS = ConnectorPlugins([connector_kind("idle", IdleSource)])
_REGISTRY = discover()


# --- histories ------------------------------------------------------------------------------------


@attrs.frozen
class Event:
    """An event.

    Args:
        kind: See :func:`random_history`.
        on: Name of a connector or worker.
        tasks: New number of a connector's tasks.
        target: The target state of a new connector.
        settings: Settings of a started worker.
        after_ms: Time since the previous event; ``None``: once the cluster has settled.
    """

    kind: str
    on: str
    tasks: int = 0
    target: TargetState | None = None
    settings: LiveWorkerSettings | None = None
    after_ms: int | None = None


@attrs.frozen
class History:
    """Events of a cluster."""

    seed: int
    workers: Mapping[str, LiveWorkerSettings]
    events: tuple[Event, ...]
    reopened: bool


@attrs.frozen
class Finding:
    history: History
    problems: tuple[str, ...]


#: Kinds of events, by frequency.
_KINDS = (
    *("put",) * 8, *("delete",) * 5, *("join",) * 5, *("roll",) * 4, *("leave",) * 2, "kill", "pause", "pause",
    "resume", "stop", "restart", "restart_tasks", "level", "fence", "reset",
)  # fmt: skip


def random_history(seed: int) -> History:
    draw = random.Random(seed)
    protocol = draw.choice([*ConnectProtocol, ConnectProtocol.SESSIONED, ConnectProtocol.SESSIONED])
    delay_ms = draw.choice((0, 0, 30, 120))
    connectors = [f"c{number}" for number in range(draw.randint(1, 4))]
    key_ttl_ms = draw.choice((3_600_000, 3_600_000, 150))

    def worker(*, wildcard: bool = False) -> LiveWorkerSettings:
        spoken = protocol if draw.random() < 0.9 else draw.choice(list(ConnectProtocol))
        static = WILDCARD if wildcard or draw.random() < 0.6 else _static(draw, connectors)
        return LiveWorkerSettings(spoken, delay_ms, static, timings=_TIMINGS, key_ttl_ms=key_ttl_ms)

    workers = {f"w{number}": worker(wildcard=number == 0) for number in range(draw.randint(1, 3))}
    names = [*workers, "w7", "w8", "w9"]
    events = []
    for _ in range(draw.randint(3, 12)):
        kind = draw.choice(_KINDS)
        after_ms = draw.choice((None, None, 0, 0, draw.randrange(40)))
        if kind in ("join", "roll", "leave", "kill"):
            settings = worker() if kind == "join" or (kind == "roll" and draw.random() < 0.3) else None
            events.append(Event(kind, draw.choice(names), settings=settings, after_ms=after_ms))
        else:
            target = draw.choice((None, None, None, *TargetState))
            events.append(Event(kind, draw.choice(connectors), draw.randint(0, 4), target, after_ms=after_ms))
    # At the end one worker takes the unlisted jobs.
    events.append(Event("join", "last", settings=worker(wildcard=True), after_ms=draw.choice((None, 0))))
    return History(seed, workers, tuple(events), reopened=draw.random() < 0.15)


def _static(draw: random.Random, connectors: Sequence[str]) -> StaticJobs:
    names = [name for name in connectors if draw.random() < 0.5]
    return StaticJobs(names, [ConnectorTaskId(name, draw.randint(0, 3)) for name in connectors])


# --- playing --------------------------------------------------------------------------------------


@attrs.define
class _Wanted:
    tasks: int
    target: TargetState


class _Player:
    """A cluster that plays a history, and a reader of every record of its config log."""

    def __init__(self, made: ConnectCluster, wanted: dict[str, _Wanted]) -> None:
        self.made, self.wanted = made, wanted
        self.number = 0
        self.reader = ConfigReader()
        made.logs.config.subscribe(self.reader.read)
        self.reader.reach(made.logs.config.end)
        self.ports = iter(range(20_000, 60_000))
        #: Processes of killed workers.
        self.killed: set[str] = set()
        #: Pending requests. Those for one connector run one after the other, as its owner would send them.
        self.requests: list[asyncio.Task[None]] = []
        self._one_by_one: dict[str, asyncio.Lock] = {}

    async def answered(self) -> None:
        await asyncio.gather(*self.requests)
        self.requests.clear()

    async def happens(self, event: Event) -> None:
        workers, made = self.made.workers, self.made
        if event.kind == "join":
            if event.on not in workers:
                made.add_worker(event.on, next(self.ports), event.settings)
        elif event.kind in ("roll", "leave", "kill"):
            if event.on in workers and (event.kind == "roll" or len(workers) > 1):
                if event.kind == "kill":
                    self.killed.add(workers[event.on].herder.loop.worker.process)
                    made.kill_worker(event.on)
                elif event.kind == "leave":
                    await made.stop_worker(event.on)
                else:
                    await made.roll_worker(event.on, event.settings)
        else:
            self.requests.append(asyncio.create_task(self._in_turn(event)))

    async def _in_turn(self, event: Event) -> None:
        async with self._one_by_one.setdefault(event.on, asyncio.Lock()):
            await self._asked(event)

    async def _asked(self, event: Event) -> None:
        name, known = event.on, self.wanted.get(event.on)
        if event.kind == "put":
            await self._put(name, event.tasks, event.target)
        elif event.kind == "delete":
            if await self._request(lambda herder: herder.delete_connector(name)):
                self.wanted.pop(name, None)
        elif event.kind in ("pause", "resume", "stop"):
            asked = {"pause": "pause_connector", "resume": "resume_connector", "stop": "stop_connector"}[event.kind]
            states = {"pause": TargetState.PAUSED, "resume": TargetState.STARTED, "stop": TargetState.STOPPED}
            if await self._request(lambda herder: getattr(herder, asked)(name)) and known is not None:
                known.target = states[event.kind]
        elif event.kind == "restart":
            await self._request(lambda herder: herder.restart_connector(name))
        elif event.kind == "restart_tasks":
            request = RestartRequest(name, include_tasks=True, only_failed=event.tasks == 0)
            await self._request(lambda herder: herder.restart_connector_and_tasks(request))
        elif event.kind == "level":
            await self._request(lambda herder: herder.set_cluster_logger_level("root", "ERROR"))
        elif event.kind == "fence":
            await self._request(lambda herder: herder.fence(name))
        else:
            await self._request(lambda herder: herder.reset_topics(name))

    async def _put(self, name: str, tasks: int, target: TargetState | None) -> None:
        self.number += 1
        config = {
            "name": name, "connector.class": "idle", "tasks.max": "8", "wanted": str(tasks), "n": str(self.number),
        }  # fmt: skip
        initial = None if target is None or name in self.wanted else target.value
        put = await self._request(
            lambda herder: herder.put_connector(name, config, initial_state=initial, replace=True)
        )
        if put:
            before = self.wanted.get(name)
            state = before.target if before is not None else (target or TargetState.STARTED)
            self.wanted[name] = _Wanted(tasks, state)

    async def _request(self, ask: Callable[[DistributedHerder], Awaitable[object]]) -> bool:
        """Send a request to one worker after the other, as clients are redirected; returns whether it succeeded."""
        end, broken_off = time.monotonic() + MOST_SECONDS, False
        while True:
            for worker in list(self.made.workers.values()):
                try:
                    await ask(worker.herder)
                except NotFoundError:
                    # A worker killed before its response may have deleted it.
                    return broken_off
                except BadRequestError:
                    return False
                except (NotLeaderError, NotAssignedError) as error:
                    if isinstance(error, NotAssignedError) and error.forward_url is None and self.made.is_calm():
                        # It has no owner, and gets none: all workers left are static, and none lists it.
                        return False
                except HerderError as error:
                    broken_off |= isinstance(error, ShuttingDownError)
                    if time.monotonic() > end:
                        raise
                else:
                    return True
            if time.monotonic() > end:
                raise TimeoutError(f"no worker has done what was asked within {MOST_SECONDS:g} s")
            await asyncio.sleep(0.01)

    def took_somebody_for_dead(self) -> bool:
        """True if a living worker sent no heartbeat in time: then others begin its jobs, and they run twice."""
        reasons = [reason for each in self.made.group.rounds for reason in each.reasons]
        silent = {reason.split()[0] for reason in reasons if reason.endswith(_SILENT)}
        return not silent <= self.killed

    # --- conditions -------------------------------------------------------------------------------

    def problems(self) -> list[str]:
        made, snapshot = self.made, self.reader.snapshot()
        found = [
            f"{worker.name} {each}" for worker in made.workers.values() for each in _unlike(worker.herder, snapshot)
        ]
        jobs = snapshot.jobs().jobs()
        configured: list[str | ConnectorTaskId] = [*jobs.connectors, *jobs.tasks]
        owners = made.owners()
        found += [f"{job} is owned by {owners.get(job, [])}" for job in configured if len(owners.get(job, [])) != 1]
        found += [f"{job} is owned and not configured" for job in owners if job not in configured]
        counts = Counter(task.connector for task in jobs.tasks)
        for name, wanted in self.wanted.items():
            expected = {TargetState.STARTED: wanted.tasks, TargetState.STOPPED: 0}.get(wanted.target, counts[name])
            if name not in snapshot.connectors:
                found.append(f"{name} is not configured")
            elif counts[name] != expected or snapshot.target_state(name) is not wanted.target:
                found.append(f"{name}: {counts[name]} tasks, {snapshot.target_state(name)}, expected {wanted}")
        found += [
            f"{name} is configured though it was deleted" for name in snapshot.connectors if name not in self.wanted
        ]
        running = made.logs.ledger.running()
        for job in configured:
            name = job if isinstance(job, str) else job.connector
            if snapshot.target_state(name) is TargetState.STARTED:
                if len(running.get(job, [])) != 1:
                    found.append(f"{job} runs on {running.get(job, [])}")
                status = made.logs.statuses.status(job)
                if status is None or status.state is not JobState.RUNNING or [status.worker_id] != running.get(job):
                    found.append(f"{job} runs on {running.get(job)}, and its status is {status}")
        found += [f"{job} runs and is not configured" for job in running if job not in configured]
        return found


def _unlike(herder: DistributedHerder, snapshot: ConfigSnapshot) -> list[str]:
    """Differences between a worker's knowledge and that of a reader of every record."""
    own = herder.loop.snapshot
    pairs = {
        "offset": (herder.loop.reader.offset, snapshot.offset),
        "connectors": (own.connectors, snapshot.connectors),
        "tasks": (own.jobs(), snapshot.jobs()),
        "target states": (
            {name: own.target_state(name) for name in own.connectors},
            {name: snapshot.target_state(name) for name in snapshot.connectors},
        ),
        "configurations": (
            {name: own.task_configs(name) for name in own.connectors},
            {name: snapshot.task_configs(name) for name in snapshot.connectors},
        ),
    }
    return [f"has other {what}: {mine} instead of {theirs}" for what, (mine, theirs) in pairs.items() if mine != theirs]


async def play(history: History, path: Path) -> Finding | None:
    wanted: dict[str, _Wanted] = {}
    problems = await _play_events(history, path, wanted)
    if not problems and history.reopened:
        again = attrs.evolve(history, events=(), workers={"w0": history.workers["w0"]})
        problems = [f"after a new start: {each}" for each in await _play_events(again, path, wanted)]
    return Finding(history, tuple(problems)) if problems else None


async def _play_events(history: History, path: Path, wanted: dict[str, _Wanted]) -> list[str]:
    async with ConnectCluster(path, _TIMINGS, _PLUGINS, _REGISTRY, offset_flush_interval_ms=60_000) as made:
        player = _Player(made, wanted)
        for name, settings in history.workers.items():
            made.add_worker(name, next(player.ports), settings)
        try:
            await made.until_calm(MOST_SECONDS)
            before = made.group.generation
            for event in history.events:
                if event.after_ms is None:
                    await player.answered()
                    await made.until_calm(MOST_SECONDS)
                else:
                    await asyncio.sleep(event.after_ms / 1000)
                await player.happens(event)
            await player.answered()
            last = made.group.generation
            await made.until_calm(MOST_SECONDS)
        except (TimeoutError, HerderError) as error:
            return [f"{type(error).__name__}: {error}", *player.problems()]
        problems = await _settled(player)
        if history.events:
            rounds, of_last = made.group.generation - before, made.group.generation - last
            if of_last > MOST_ROUNDS_LAST or rounds > MOST_ROUNDS_EACH * (len(history.events) + 1):
                problems.append(f"{rounds} rounds in all, {of_last} since the last answer")
        return problems


async def _settled(player: _Player) -> list[str]:
    end = time.monotonic() + 10
    while True:
        problems = player.problems()
        if not problems and not player.took_somebody_for_dead():
            problems = [f"ran twice: {each}" for each in player.made.logs.ledger.double_runs]
        if not problems or time.monotonic() > end:
            return problems
        await asyncio.sleep(0.02)


async def play_many(seeds: Sequence[int], at_once: int) -> AsyncIterator[tuple[int, Finding | None]]:
    """Run histories, some at a time; yields each seed with its fault, in the order of their ends."""
    directory = Path(tempfile.mkdtemp(prefix="live-histories-"))
    waiting = iter(seeds)
    done: asyncio.Queue[tuple[int, Finding | None]] = asyncio.Queue()

    async def play_next() -> None:
        for seed in waiting:
            path = directory / str(seed)
            await done.put((seed, await play(random_history(seed), path)))
            await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)

    players = [asyncio.create_task(play_next()) for _ in range(at_once)]
    try:
        for _ in seeds:
            getting = asyncio.create_task(done.get())
            await asyncio.wait((getting, *players), return_when=asyncio.FIRST_COMPLETED)
            while not getting.done():
                for player in players:
                    if player.done():
                        # An error of a player is not a finding, but a fault of this module.
                        player.result()
                await asyncio.wait((getting,), timeout=1)
            yield getting.result()
    finally:
        for player in players:
            player.cancel()
        await asyncio.gather(*players, return_exceptions=True)
        shutil.rmtree(directory, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=24)
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.count)

    async def run() -> int:
        found, begun = 0, time.monotonic()
        played = 0
        async for seed, finding in play_many(seeds, arguments.at_once):
            played += 1
            if finding is not None:
                found += 1
                print(f"seed {seed}: {finding.history}")
                for problem in finding.problems:
                    print(f"    {problem}")
            if played % 500 == 0:
                print(f"{played} histories, {found} with findings, {time.monotonic() - begun:.0f} s", flush=True)
        print(f"{played} histories (seeds {seeds[0]} to {seeds[-1]}), {found} with findings")
        return int(found > 0)

    return asyncio.run(run())


if __name__ == "__main__":
    sys.exit(main())
