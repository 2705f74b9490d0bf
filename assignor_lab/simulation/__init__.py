"""Kafka Connect groups on a virtual clock: life cycle, episodes, the blog's benchmark, plans of static workers."""

from assignor_lab.simulation.benchmark import benchmark
from assignor_lab.simulation.client import Client, Operation
from assignor_lab.simulation.cluster import AssignorFactory, Cluster
from assignor_lab.simulation.connect_metrics import (
    connector_imbalance,
    episode_figures,
    jobs_stopped,
    rebalances,
    rounds_to_stable,
    unassigned_jobs,
    unavailable_task_seconds,
    worker_imbalance,
)
from assignor_lab.simulation.episode_format import ConnectEpisode, Event, read_episode, read_episodes
from assignor_lab.simulation.event_log import Entry, EventLog
from assignor_lab.simulation.job_runs import JobRuns, Overlap, Run
from assignor_lab.simulation.named_episodes import EPISODES, NamedEpisode
from assignor_lab.simulation.simulate import Played, assignors_from, simulate
from assignor_lab.simulation.small_benchmark import small_benchmark
from assignor_lab.simulation.static_plan import (
    ConnectorDemand,
    PlannedWorker,
    StaticPlan,
    StaticPlanError,
    WorkerOffer,
    plan_static,
    read_plan_input,
)
from assignor_lab.simulation.timeline import timeline
from assignor_lab.simulation.timings import DEFAULT_TIMINGS, Timings
from assignor_lab.simulation.worker_settings import WorkerSettings

__all__ = [
    "DEFAULT_TIMINGS",
    "EPISODES",
    "AssignorFactory",
    "Client",
    "ConnectorDemand",
    "PlannedWorker",
    "StaticPlan",
    "StaticPlanError",
    "WorkerOffer",
    "benchmark",
    "plan_static",
    "read_plan_input",
    "small_benchmark",
    "Cluster",
    "ConnectEpisode",
    "Entry",
    "Event",
    "EventLog",
    "JobRuns",
    "NamedEpisode",
    "Operation",
    "Overlap",
    "Played",
    "Run",
    "Timings",
    "WorkerSettings",
    "assignors_from",
    "connector_imbalance",
    "episode_figures",
    "jobs_stopped",
    "read_episode",
    "read_episodes",
    "rebalances",
    "rounds_to_stable",
    "simulate",
    "timeline",
    "unassigned_jobs",
    "unavailable_task_seconds",
    "worker_imbalance",
]
