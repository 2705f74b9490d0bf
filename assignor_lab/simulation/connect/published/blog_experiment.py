"""The blog's experiment: start, stop, scaling and rolling restart of 900 tasks on 3 workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Literal

import attrs

from assignment_api.connect import NO_JOBS, ConnectorTaskId, ConnectProtocol, StaticJobs
from assignor_lab.simulation.connect.client import ClientOperation, Pacing
from assignor_lab.simulation.connect.cluster import AssignorFactory, SimulatedCluster
from assignor_lab.simulation.connect.episode_figures import connector_imbalance, owned_now, worker_imbalance
from assignor_lab.simulation.connect.static_plan import ConnectorDemand, WorkerOffer, plan_static
from assignor_lab.simulation.connect.timings import ConnectTimings
from assignor_lab.simulation.connect.worker_settings import WorkerSettings

__all__ = [
    "BLOG_TIMINGS",
    "SCENARIOS",
    "PhaseFigures",
    "Scenario",
    "StartAndStop",
    "run_scenario",
    "run_start_and_stop",
]

#: One set of constants for everything: 0.2 s per start and stop, 0.2 to 0.3 s per rebalance.
BLOG_TIMINGS = ConnectTimings(
    request_ms=20,
    rest_hop_ms=5,
    validation_ms=30,
    config_write_ms=60,
    config_read_ms=20,
    log_delivery_ms=20,
    assignor_ms=20,
    connector_start_ms=200,
    connector_stop_ms=200,
    task_configs_ms=20,
    task_start_ms=200,
    task_ready_ms=200,
    task_stop_ms=200,
    worker_start_ms=10_000,
)

CONNECTORS, TASKS, WORKERS = 90, 10, 3
_HOUR = 3_600_000


@attrs.frozen
class PhaseFigures:
    """Cost of a phase.

    Args:
        task_imbalance: Most tasks on a worker less fewest, at the end.
        longest_rebalance_s: From the begin of a rebalance until its last worker had started its jobs.
    """

    phase: str
    seconds: float
    rebalances: int
    job_starts: int
    job_stops: int
    idle_task_seconds: float
    task_imbalance: int
    connector_imbalance: int
    longest_rebalance_s: float
    remark: str = ""


def new_cluster(
    protocol: ConnectProtocol, assignors: AssignorFactory, timings: ConnectTimings, max_delay_ms: int, seed: int
) -> SimulatedCluster:
    cluster = SimulatedCluster(assignors, timings, seed=seed, keep_log=False)
    for number in range(1, WORKERS + 1):
        cluster.start_worker(f"w{number}", settings_of(f"w{number}", protocol, max_delay_ms), start_ms=0)
    cluster.run_until(_HOUR, until_calm=True)
    return cluster


@cache
def _planned() -> Mapping[str, StaticJobs]:
    demands = [ConnectorDemand(name, TASKS) for name in _names()]
    offers = [WorkerOffer(f"w{number}", CONNECTORS * TASKS) for number in range(1, WORKERS + 1)]
    return {worker.name: StaticJobs.from_config(worker.configs) for worker in plan_static(demands, offers).workers}


def settings_of(worker: str, protocol: ConnectProtocol, max_delay_ms: int) -> WorkerSettings:
    """Under ``static`` the first three workers share all jobs, others are wildcard workers."""
    settings = WorkerSettings(protocol, max_delay_ms)
    if protocol is ConnectProtocol.STATIC and worker in _planned():
        return attrs.evolve(settings, static=_planned()[worker])
    return settings


def _names() -> list[str]:
    return [f"s3-{number:02}" for number in range(CONNECTORS)]


def start_all(cluster: SimulatedCluster, pacing: Pacing) -> PhaseFigures:
    return _phase(cluster, "start", lambda: cluster.request(_creations(), "w1", pacing))


def _creations() -> list[ClientOperation]:
    return [ClientOperation("create", name, TASKS) for name in _names()]


@attrs.frozen(eq=False)
class StartAndStop:
    """Result of the experiment's first part.

    Args:
        stable_ms: A time with all 900 tasks running.
    """

    start: PhaseFigures
    stop: PhaseFigures
    cluster: SimulatedCluster
    stable_ms: int


def run_start_and_stop(
    protocol: ConnectProtocol,
    assignors: AssignorFactory,
    pacing: Pacing,
    timings: ConnectTimings = BLOG_TIMINGS,
    seed: int = 0,
) -> StartAndStop:
    """Create all connectors, then delete them; deletions write no tasks, so ``merged`` means ``answered`` there."""
    cluster = new_cluster(protocol, assignors, timings, 300_000, seed)
    start = start_all(cluster, pacing)
    cluster.run_until(cluster.now + 30_000)
    stable = cluster.now
    deletions = [ClientOperation("delete", name) for name in _names()]
    down: Pacing = "calm" if pacing == "calm" else "answered"
    stop = _phase(cluster, "stop", lambda: cluster.request(deletions, "w1", down))
    return StartAndStop(start, stop, cluster, stable)


Scenario = Literal["scale-out", "scale-in", "bounce", "rolling-restart", "leader-bounce", "join-at-once"]

SCENARIOS: tuple[Scenario, ...] = (
    "scale-out", "scale-in", "bounce", "leader-bounce", "rolling-restart", "join-at-once",
)  # fmt: skip


def run_scenario(
    scenario: Scenario,
    protocol: ConnectProtocol,
    assignors: AssignorFactory,
    timings: ConnectTimings = BLOG_TIMINGS,
    max_delay_ms: int = 300_000,
    seed: int = 0,
) -> PhaseFigures:
    """Run 900 tasks, then change the workers.

    Args:
        scenario: ``scale-out`` (3 to 4), ``scale-in`` (4 to 3), ``bounce`` (a follower is down for 60 s),
            ``leader-bounce``, ``rolling-restart`` (all, the leader last, each down for 60 s, the next one when the
            group is calm), or ``join-at-once`` (three more workers within a second).
    """
    cluster = new_cluster(protocol, assignors, timings, max_delay_ms, seed)
    start_all(cluster, "merged")
    if scenario == "scale-in":
        cluster.start_worker("w4", settings_of("w4", protocol, max_delay_ms))
        cluster.run_until(cluster.now + _HOUR, until_calm=True)
    cluster.run_until(cluster.now + 30_000)

    def happen() -> None:
        if scenario == "scale-out":
            cluster.start_worker("w4", settings_of("w4", protocol, max_delay_ms))
        elif scenario == "join-at-once":
            for name, offset in (("w4", 0), ("w5", 400), ("w6", 800)):
                cluster.clock.after(
                    offset, partial(cluster.start_worker, name, settings_of(name, protocol, max_delay_ms))
                )
        elif scenario == "scale-in":
            cluster.stop("w4")
        elif scenario == "rolling-restart":
            for name in reversed(cluster.alive()):
                _bounce(cluster, name, cluster.settings[name])
        else:
            leader = cluster.leader()
            followers = [name for name in cluster.alive() if name != leader]
            name = leader if scenario == "leader-bounce" and leader else followers[0]
            _bounce(cluster, name, cluster.settings[name])

    before = owned_now(cluster)
    figures = _phase(cluster, scenario, happen)
    after = owned_now(cluster)
    idle = [name for name in {**before, **after} if not len(before.get(name, NO_JOBS)) + len(after.get(name, NO_JOBS))]
    if not idle:
        return figures
    verb = "was" if len(idle) == 1 else "were"
    return attrs.evolve(figures, remark=f"{' and '.join(idle)} {verb} idle: others list all jobs")


def _bounce(cluster: SimulatedCluster, name: str, settings: WorkerSettings) -> None:
    cluster.stop(name)
    while cluster.worker(name) is not None:
        cluster.run_until(cluster.now + 100)
    cluster.run_until(cluster.now + 60_000)
    cluster.start_worker(name, settings)
    cluster.run_until(cluster.now + 5_000)
    cluster.run_until(cluster.now + _HOUR, until_calm=True)


def _phase(cluster: SimulatedCluster, name: str, happen: Callable[[], object]) -> PhaseFigures:
    begin, rounds = cluster.now, len(cluster.rounds)
    starts, stops = cluster.runs.starts, cluster.runs.stops
    happen()
    cluster.run_until(cluster.now + 1_000)
    cluster.run_until(cluster.now + 4 * _HOUR, until_calm=True)
    end = cluster.now
    tasks = [job for job in cluster.runs.runs if isinstance(job, ConnectorTaskId)]
    configured = cluster.config.view(cluster.config.end).jobs
    idle = sum(
        cluster.runs.idle_ms(task, begin, end)
        for task in tasks
        if task in configured
    )  # fmt: skip
    owned = owned_now(cluster)
    new = cluster.rounds[rounds:]
    last = max((each.done_ms or each.joined_ms for each in new), default=end)
    longest = max(((each.done_ms or each.joined_ms) - each.prepared_ms for each in new), default=0)
    return PhaseFigures(
        name,
        (last - begin) / 1000,
        len(new),
        cluster.runs.starts - starts,
        cluster.runs.stops - stops,
        idle / 1000,
        worker_imbalance(owned),
        connector_imbalance(owned),
        longest / 1000,
    )
