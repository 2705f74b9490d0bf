"""Metrics of Connect groups: plain functions of one answer, and figures of a played episode.

Docs: "Metrics", section "Connect".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, Literal, NoReturn, TypeVar

import attrs

from assignment_api.connect import ConfiguredJobs, Jobs
from assignment_api.plugins import MetricPlugin
from assignor_lab.simulation.connect.episode_figures import connector_imbalance, episode_figures, unassigned_jobs
from assignor_lab.simulation.connect.episode_figures import jobs_moved as jobs_taken_over
from assignor_lab.simulation.connect.simulate import PlayedConnectEpisode

__all__ = [
    "CONNECT_METRICS",
    "EPISODE_METRICS",
    "ConnectMetric",
    "ConnectDecision",
    "described_metric",
    "jobs_above_even_share",
    "jobs_moved",
    "jobs_per_worker_range",
    "jobs_stopped",
    "jobs_unassigned",
    "rebalances",
    "rounds_to_stable",
    "tasks_of_connector_per_worker_range",
]


T = TypeVar("T")


@attrs.frozen(eq=False)
class ConnectDecision:
    """One rebalance and the answer to it.

    Args:
        before: Member id to its jobs at the start of the rebalance, members without jobs included.
        after: Member id to its jobs after the answer is applied.
        stops_all: True if all members stop everything before the rebalance, as under protocol ``eager``.
        followup: True if a further rebalance follows, at once or after the answer's delay.
        rounds: Rebalances until the group is at rest if nothing else happens, this one included; ``None``: it does not
            come to rest.
    """

    configured: ConfiguredJobs
    before: Mapping[str, Jobs]
    after: Mapping[str, Jobs]
    stops_all: bool = False
    followup: bool = False
    rounds: int | None = 1


@attrs.frozen
class ConnectMetric(Generic[T]):
    """A figure; arguments as for :class:`assignment_api.plugins.MetricPlugin`."""

    name: str
    unit: str
    direction: Literal["lower", "higher", "none"]
    summary: str
    compute: Callable[[T], float | None]
    group: str
    unavoidable: str


def jobs_per_worker_range(decision: ConnectDecision) -> int:
    """Most jobs (connector instances and tasks) on a worker less fewest."""
    sizes = [len(jobs) for jobs in decision.after.values()]
    return max(sizes) - min(sizes)


def jobs_above_even_share(decision: ConnectDecision) -> int:
    """Most jobs on a worker less an even share of the placed jobs, rounded up to whole jobs."""
    sizes = [len(jobs) for jobs in decision.after.values()]
    return max(sizes) + -sum(sizes) // len(sizes)


def tasks_of_connector_per_worker_range(decision: ConnectDecision) -> int:
    """Most tasks on a worker less fewest, of the connector where this is largest (KAFKA-17049)."""
    return connector_imbalance(decision.after)


def jobs_stopped(decision: ConnectDecision) -> int:
    """Jobs that ran and are stopped for this rebalance; those that are no longer configured do not count.

    Under ``eager`` these are all that ran, even if they start again on the same worker.
    """
    stopped = 0
    for member, jobs in decision.before.items():
        kept = Jobs() if decision.stops_all else decision.after.get(member, Jobs())
        left = jobs.minus(kept)
        stopped += sum(job in decision.configured for job in (*left.connectors, *left.tasks))
    return stopped


def jobs_moved(decision: ConnectDecision) -> int:
    """Jobs that ran on a worker of the group and do not run on it after this rebalance.

    They run on another one, or wait for the next rebalance; those that are no longer configured do not count.
    """
    moved = 0
    for member, jobs in decision.before.items():
        left = jobs.minus(decision.after.get(member, Jobs()))
        moved += sum(job in decision.configured for job in (*left.connectors, *left.tasks))
    return moved


def jobs_unassigned(decision: ConnectDecision) -> int:
    """Configured jobs that no worker runs after this rebalance."""
    return unassigned_jobs(decision.configured, decision.after)


def rebalances(decision: ConnectDecision) -> int:
    """1 if a further rebalance follows the answer, at once or after its delay, else 0."""
    return int(decision.followup)


def rounds_to_stable(decision: ConnectDecision) -> int | None:
    """Rebalances until the group is at rest if nothing else happens, this one included."""
    return decision.rounds


CONNECT_METRICS: tuple[ConnectMetric[ConnectDecision], ...] = (
    ConnectMetric(
        "jobs_stopped",
        "jobs",
        "lower",
        "Jobs that ran and are stopped for this rebalance, be it to start again on the same worker.",
        jobs_stopped,
        "movement",
        "Jobs that are no longer configured are not counted; evening out a new worker stops some.",
    ),
    ConnectMetric(
        "jobs_moved",
        "jobs",
        "lower",
        "Jobs that are taken from a present worker that ran them: another worker runs them, or none yet.",
        jobs_moved,
        "movement",
        "Jobs whose worker is gone are not counted; evening out a new worker moves some.",
    ),
    ConnectMetric(
        "jobs_per_worker_range",
        "jobs",
        "lower",
        "Difference between the busiest and the idlest worker in jobs (connector instances and tasks).",
        jobs_per_worker_range,
        "balance",
        "One job, where the jobs do not divide evenly among the workers.",
    ),
    ConnectMetric(
        "jobs_above_even_share",
        "jobs",
        "lower",
        "How far the busiest worker is above an even share of the jobs.",
        jobs_above_even_share,
        "balance",
        "None: an even share is rounded up to whole jobs.",
    ),
    ConnectMetric(
        "tasks_of_connector_per_worker_range",
        "tasks",
        "lower",
        "Difference between the workers with the most and the fewest tasks of one connector, for the worst connector.",
        tasks_of_connector_per_worker_range,
        "balance",
        "One task, where the tasks of a connector do not divide evenly among the workers.",
    ),
    ConnectMetric(
        "jobs_unassigned",
        "jobs",
        "lower",
        "Configured jobs without a worker after this rebalance.",
        jobs_unassigned,
        "coverage",
        "Jobs that change their worker in an incremental group wait for the next rebalance.",
    ),
    ConnectMetric(
        "rebalances",
        "rebalances",
        "lower",
        "1 if the answer makes a further rebalance follow, at once or after its delay, else 0.",
        rebalances,
        "life cycle",
        "One, where a running job of an incremental group is to change its worker.",
    ),
    ConnectMetric(
        "rounds_to_stable",
        "rebalances",
        "lower",
        "Rebalances until the group is at rest if nothing else happens, this one included.",
        rounds_to_stable,
        "life cycle",
        "One: the rebalance itself.",
    ),
)


def _figure_of(key: str) -> Callable[[PlayedConnectEpisode], float | None]:
    return lambda played: episode_figures(played)[key][0]


def episode_jobs_moved(played: PlayedConnectEpisode) -> int:
    """Number of starts of a job on another worker than its previous one."""
    return jobs_taken_over(played.history)


EPISODE_METRICS: tuple[ConnectMetric[PlayedConnectEpisode], ...] = (
    ConnectMetric(
        "unavailable_task_seconds",
        "task-seconds",
        "lower",
        "Time that configured tasks did not run, summed over the tasks, each from its first start on.",
        _figure_of("unavailable task-seconds"),
        "life cycle",
        "The tasks of a worker that stops or fails are down until another worker has started them.",
    ),
    ConnectMetric(
        "worst_task_unavailable_seconds",
        "s",
        "lower",
        "Time that the worst task did not run, from its first start on.",
        _figure_of("worst task unavailable"),
        "life cycle",
        "The tasks of a worker that stops or fails are down until another worker has started them.",
    ),
    ConnectMetric(
        "episode_jobs_stopped",
        "jobs",
        "lower",
        "How often a running job ended during the episode, crashes included.",
        _figure_of("jobs stopped"),
        "movement",
        "The jobs of a worker that stops or fails, and those that are deleted.",
    ),
    ConnectMetric(
        "episode_jobs_moved",
        "jobs",
        "lower",
        "How often a job started on another worker than the one that ran it before.",
        episode_jobs_moved,
        "movement",
        "The jobs of a worker that stops or fails and does not come back in time; some for a new worker.",
    ),
    ConnectMetric(
        "episode_rebalances",
        "rebalances",
        "lower",
        "Rebalances during the episode, without the one that formed the group.",
        _figure_of("rebalances"),
        "life cycle",
        "One for each worker that joins or leaves apart from others.",
    ),
    ConnectMetric(
        "episode_rounds_to_stable",
        "rebalances",
        "lower",
        "Rebalances until everything is calm; no figure if the episode ends before that.",
        _figure_of("rounds to stable"),
        "life cycle",
        "One for each worker that joins or leaves apart from others.",
    ),
    ConnectMetric(
        "final_tasks_per_worker_range",
        "tasks",
        "lower",
        "Difference between the busiest and the idlest worker in tasks, at the end of the episode.",
        _figure_of("task imbalance between workers"),
        "balance",
        "One task, where the tasks do not divide evenly among the workers.",
    ),
    ConnectMetric(
        "final_tasks_of_connector_per_worker_range",
        "tasks",
        "lower",
        "The same for the tasks of one connector, for the worst connector.",
        _figure_of("task imbalance of the worst connector"),
        "balance",
        "One task, where the tasks of a connector do not divide evenly among the workers.",
    ),
    ConnectMetric(
        "final_jobs_unassigned",
        "jobs",
        "lower",
        "Configured jobs without a worker at the end of the episode.",
        _figure_of("jobs without an owner"),
        "coverage",
        "Those of a worker that failed, while the group still waits for it.",
    ),
)


def described_metric(metric: ConnectMetric[Any]) -> MetricPlugin:
    """The metric in the form of summary and report; its ``compute`` is not for use."""
    return MetricPlugin(
        metric.name,
        metric.unit,
        metric.direction,
        metric.summary,
        _not_to_be_called,
        metric.group,
        metric.unavoidable,
        kind="connect",
    )


def _not_to_be_called(*_state: object) -> NoReturn:
    raise TypeError("the lab computes its own figures of Connect groups from more than one answer")
