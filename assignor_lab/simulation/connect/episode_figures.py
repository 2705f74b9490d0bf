"""Metrics of Connect, in jobs, seconds and task-seconds; lower is better everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from assignment_api.connect import ConfiguredJobs, Jobs
from assignor_lab.simulation.connect.cluster import SimulatedCluster
from assignor_lab.simulation.connect.simulate import PlayedConnectEpisode

__all__ = [
    "connector_imbalance",
    "episode_figures",
    "jobs_stopped",
    "owned_now",
    "rebalances",
    "rounds_to_stable",
    "unassigned_jobs",
    "unavailable_task_seconds",
    "worker_imbalance",
]


def worker_imbalance(owned: Mapping[str, Jobs]) -> int:
    """Most tasks on a worker less fewest; 0 without workers."""
    sizes = [len(jobs.tasks) for jobs in owned.values()]
    return max(sizes) - min(sizes) if sizes else 0


def connector_imbalance(owned: Mapping[str, Jobs]) -> int:
    """The worst connector's most tasks on a worker less its fewest (KAFKA-17049); 0 without workers or tasks."""
    names = dict.fromkeys(task.connector for jobs in owned.values() for task in jobs.tasks)
    counts = {name: dict.fromkeys(owned, 0) for name in names}
    for worker, jobs in owned.items():
        for task in jobs.tasks:
            counts[task.connector][worker] += 1
    return max((max(each.values()) - min(each.values()) for each in counts.values()), default=0)


def unassigned_jobs(configured: ConfiguredJobs, owned: Mapping[str, Jobs]) -> int:
    connectors = frozenset(name for jobs in owned.values() for name in jobs.connectors)
    tasks = frozenset(task for jobs in owned.values() for task in jobs.tasks)
    wanted = configured.jobs()
    return sum(name not in connectors for name in wanted.connectors) + sum(task not in tasks for task in wanted.tasks)


def jobs_stopped(cluster: SimulatedCluster, start_ms: int, end_ms: int) -> int:
    """Ends of running jobs, crashes included."""
    return sum(
        run.end_ms is not None and start_ms <= run.end_ms <= end_ms and run.end_ms > run.start_ms
        for runs in cluster.runs.runs.values()
        for run in runs
    )


def unavailable_task_seconds(cluster: SimulatedCluster, start_ms: int, end_ms: int, *, per_task: bool = False) -> float:
    """Task-seconds without running configured tasks, counted from each task's first start.

    A deleted task counts up to its last stop. With ``per_task`` the worst task's seconds.
    """
    last = cluster.config.view(cluster.config.end).jobs
    worst = total = 0
    for job, runs in cluster.runs.runs.items():
        if isinstance(job, str):
            continue
        until = end_ms if job in last else min(end_ms, max(run.end_ms or end_ms for run in runs))
        idle = cluster.runs.idle_ms(job, start_ms, until)
        total += idle
        worst = max(worst, idle)
    return (worst if per_task else total) / 1000


def rebalances(cluster: SimulatedCluster, start_ms: int, end_ms: int) -> int:
    return sum(start_ms <= each.joined_ms <= end_ms for each in cluster.rounds)


def rounds_to_stable(cluster: SimulatedCluster, since_ms: int) -> int | None:
    """Generations until the group is calm, or ``None``."""
    return sum(each.joined_ms >= since_ms for each in cluster.rounds) if cluster.is_calm() else None


def owned_now(cluster: SimulatedCluster) -> dict[str, Jobs]:
    held = {name: cluster.worker(name) for name in cluster.alive()}
    return {name: process.membership.held or Jobs() for name, process in held.items() if process is not None}


def episode_figures(played: PlayedConnectEpisode) -> dict[str, tuple[float | None, str]]:
    """Name to value and unit. The group's forming is not counted."""
    cluster, begin = played.cluster, played.cluster.start_ms
    end = begin + played.episode.until_ms
    owned = owned_now(cluster)
    configured = cluster.config.view(cluster.config.end).jobs
    formed = cluster.rounds[played.formed_rounds - 1].joined_ms + 1 if cluster.rounds else begin
    calm = played.calm_ms
    overlaps = cluster.runs.overlaps(end)
    return {
        "rebalances": (rebalances(cluster, formed, end), ""),
        "rounds to stable": (None if calm is None else rounds_to_stable(cluster, formed), ""),
        "calm since": (None if calm is None else calm / 1000, "s"),
        "jobs stopped": (jobs_stopped(cluster, begin, end), ""),
        "unavailable task-seconds": (unavailable_task_seconds(cluster, begin, end), "task-s"),
        "worst task unavailable": (unavailable_task_seconds(cluster, begin, end, per_task=True), "s"),
        "task imbalance between workers": (worker_imbalance(owned), "tasks"),
        "task imbalance of the worst connector": (connector_imbalance(owned), "tasks"),
        "jobs without an owner": (unassigned_jobs(configured, owned), "jobs"),
        "jobs on two workers at once": (len({str(each.job) for each in overlaps}), "jobs"),
    }
