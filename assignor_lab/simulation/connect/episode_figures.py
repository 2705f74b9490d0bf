"""Metrics of Connect, in jobs, seconds and task-seconds; lower is better everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from assignment_api.connect import ConfiguredJobs, Jobs
from assignor_lab.model.history import GroupHistory
from assignor_lab.simulation.connect.cluster import SimulatedCluster
from assignor_lab.simulation.connect.simulate import PlayedConnectEpisode

__all__ = [
    "connector_imbalance",
    "episode_figures",
    "jobs_moved",
    "jobs_stopped",
    "owned_now",
    "rebalances",
    "unassigned_jobs",
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


def jobs_stopped(history: GroupHistory) -> int:
    """Ends of running jobs, crashes included."""
    courses = [*history.courses.values(), *history.connectors.values()]
    return sum(not run.lasts for course in courses for run in course.runs)


def jobs_moved(history: GroupHistory) -> int:
    """Starts of a job on another worker than its previous one."""
    return sum(each.takeovers for each in (*history.courses.values(), *history.connectors.values()))


def rebalances(history: GroupHistory, since_ms: int) -> int:
    return sum(since_ms <= each <= (history.until_ms or each) for each in history.joined_ms)


def owned_now(cluster: SimulatedCluster) -> dict[str, Jobs]:
    held = {name: cluster.worker(name) for name in cluster.alive()}
    return {name: process.membership.held or Jobs() for name, process in held.items() if process is not None}


def episode_figures(played: PlayedConnectEpisode) -> dict[str, tuple[float | None, str]]:
    """Name to value and unit. The group's forming is not counted."""
    cluster, begin, history = played.cluster, played.cluster.start_ms, played.history
    owned = owned_now(cluster)
    configured = cluster.config.view(cluster.config.end).jobs
    formed = history.joined_ms[played.formed_rounds - 1] + 1 if history.joined_ms else begin
    calm, away = played.calm_ms, history.downtimes_ms.values()
    overlaps = cluster.runs.overlaps(begin + played.episode.until_ms)
    return {
        "rebalances": (rebalances(history, formed), ""),
        "rounds to stable": (None if calm is None else rebalances(history, formed), ""),
        "calm since": (None if calm is None else calm / 1000, "s"),
        "jobs stopped": (jobs_stopped(history), ""),
        "unavailable task-seconds": (sum(away) / 1000, "task-s"),
        "worst task unavailable": (max(away, default=0) / 1000, "s"),
        "task imbalance between workers": (worker_imbalance(owned), "tasks"),
        "task imbalance of the worst connector": (connector_imbalance(owned), "tasks"),
        "jobs without an owner": (unassigned_jobs(configured, owned), "jobs"),
        "jobs on two workers at once": (len({str(each.job) for each in overlaps}), "jobs"),
    }
