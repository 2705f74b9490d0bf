"""The small experiment, recorded on real Kafka Connect 4.3.1, on the simulator.

Three workers, 30 connectors of 10 tasks, created one after the other; then a worker is killed and started again; then
all are deleted. Figures have the recording's names and meaning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from statistics import median
from typing import Any

import attrs

from assignment_api.connect import ConnectorTaskId, ConnectProtocol
from assignor_lab.simulation.connect.client import ClientOperation, SimulatedClient
from assignor_lab.simulation.connect.cluster import AssignorFactory, SimulatedCluster
from assignor_lab.simulation.connect.timings import ConnectTimings
from assignor_lab.simulation.connect.worker_settings import WorkerSettings
from calibration.connect.small_constants import small_timings

__all__ = ["Setup", "recorded_small", "run_small", "setup_of"]


@attrs.frozen
class Setup:
    """One run of the experiment.

    Args:
        restarted_ms: Time from the kill until it is started again.
    """

    protocol: ConnectProtocol
    leader: str
    victim: str
    noticed_ms: int
    restarted_ms: int


@cache
def recorded_small() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    text = resources.files("calibration.connect").joinpath("recordings/blog_small.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def setup_of(protocol: ConnectProtocol) -> Setup:
    """Leader, victim, and the time of its detection in the recorded run."""
    kill = recorded_small()[protocol.value][1]
    return Setup(protocol, kill["leader"], kill["worker"], kill["noticed_ms"], kill["restarted_ms"])


def run_small(
    setup: Setup, assignors: AssignorFactory, timings: ConnectTimings | None = None, seed: int = 0
) -> list[dict[str, Any]]:
    """The phases create, kill, delete and all, with the recording's figures.

    Raises:
        RuntimeError: if a phase does not come to rest within an hour.
    """
    cluster = SimulatedCluster(assignors, timings or small_timings(setup.protocol.value), seed=seed, keep_log=False)
    names = ("w1", "w2", "w3")
    settings = WorkerSettings(setup.protocol, 30_000)
    # The first member to join is the leader.
    cluster.start_worker(setup.leader, settings)
    cluster.run_until(cluster.now + 1_000)
    for name in names:
        cluster.start_worker(name, settings)
    _until_calm(cluster)
    cluster.run_until(cluster.now + 2_000)
    connectors = [f"b{number:02}" for number in range(30)]
    create = _phase(cluster, [ClientOperation("create", name, 10) for name in connectors])
    kill = _kill(cluster, setup, settings)
    delete = _phase(cluster, [ClientOperation("delete", name) for name in connectors])
    whole = {
        "phase": "all",
        "rebalances": sum(phase["rebalances"] for phase in (create, kill, delete)),
        "task_seconds_stopped": round(
            create["task_seconds_stopped_after_first_start"]
            + kill["task_seconds_stopped"]
            + delete["task_seconds_stopped_before_own_delete"],
            1,
        ),
    }
    return [create, kill, delete, whole]


def _until_calm(cluster: SimulatedCluster) -> None:
    if not cluster.run_until(cluster.now + 3_600_000, until_calm=True):
        raise RuntimeError("the simulated group did not come to rest within an hour")
    # The last started jobs do not run yet.
    cluster.run_until(cluster.now + max((cluster.timings.task_ready_ms, *cluster.timings.task_ready_drawn_ms)))


@attrs.frozen
class _Mark:
    time_ms: int
    rounds: int
    starts: int
    stops: int


def _mark(cluster: SimulatedCluster) -> _Mark:
    return _Mark(cluster.now, len(cluster.rounds), cluster.runs.starts, cluster.runs.stops)


def _phase(cluster: SimulatedCluster, operations: Sequence[ClientOperation]) -> dict[str, Any]:
    mark = _mark(cluster)
    client = cluster.request(operations, "w1")
    _until_calm(cluster)
    answers = [answered - sent for _, sent, answered in client.answered]
    creating = operations[0].kind == "create"
    figures: dict[str, Any] = {
        "phase": operations[0].kind,
        "requests": len(answers),
        "request_ms_median": float(median(answers)),
        "request_ms_max": max(answers),
        "all_answered_ms": client.answered[-1][2] - mark.time_ms,
    }
    if creating:
        figures["all_running_ms"] = _last_start(cluster) - mark.time_ms
    else:
        figures["empty_ms"] = _last_stop(cluster) - mark.time_ms
    figures.update(_counts(cluster, mark))
    figures.update(_created(cluster, client, mark) if creating else _deleted(cluster, client, mark))
    return figures


def _counts(cluster: SimulatedCluster, mark: _Mark) -> dict[str, Any]:
    now = _mark(cluster)
    runs = [run for job, each in cluster.runs.runs.items() if not isinstance(job, str) for run in each]
    return {
        "rebalances": now.rounds - mark.rounds,
        "task_starts": sum(mark.time_ms <= run.start_ms <= now.time_ms for run in runs),
        "task_stops": sum(run.end_ms is not None and mark.time_ms <= run.end_ms <= now.time_ms for run in runs),
    }


def _created(cluster: SimulatedCluster, client: SimulatedClient, mark: _Mark) -> dict[str, Any]:
    answered = {operation.connector: time for operation, _, time in client.answered}
    idle = waited = 0
    for task in _tasks(cluster):
        idle += cluster.runs.idle_ms(task, mark.time_ms, cluster.now)
        first = min((run.start_ms for run in _lives(cluster, task)), default=cluster.now)
        waited += max(0, first - answered[task.connector])
    return {
        "task_seconds_stopped_after_first_start": round(idle / 1000, 1),
        "task_seconds_from_answer_to_first_start": round(waited / 1000, 1),
    }


def _deleted(cluster: SimulatedCluster, client: SimulatedClient, mark: _Mark) -> dict[str, Any]:
    answered = {operation.connector: time for operation, _, time in client.answered}
    idle = after = 0
    for task in _tasks(cluster):
        idle += cluster.runs.idle_ms(task, mark.time_ms, _sent(client, task.connector))
        last = max((run.end_ms or cluster.now for run in _lives(cluster, task)), default=mark.time_ms)
        after += max(0, last - answered[task.connector])
    return {
        "task_seconds_stopped_before_own_delete": round(idle / 1000, 1),
        "task_seconds_running_after_the_answer": round(after / 1000, 1),
    }


def _sent(client: SimulatedClient, connector: str) -> int:
    return next(sent for operation, sent, _ in client.answered if operation.connector == connector)


def _kill(cluster: SimulatedCluster, setup: Setup, settings: WorkerSettings) -> dict[str, Any]:
    victim = cluster.worker(setup.victim)
    assert victim is not None
    number = victim.number
    cluster.run_until(cluster.now + 5_000)
    # The real death within the victim's heartbeat interval.
    since_beat = cluster.timings.session_timeout_ms - setup.noticed_ms
    cluster.run_until((cluster.last_heard_ms(setup.victim) or cluster.now) + 3_000 + max(0, since_beat))
    mark = _mark(cluster)
    own = [job for job in cluster.runs.running(number) if not isinstance(job, str)]
    cluster.crash(setup.victim)
    cluster.run_until(mark.time_ms + setup.restarted_ms)
    cluster.start_worker(setup.victim, settings)
    _until_calm(cluster)
    idle = {task: cluster.runs.idle_ms(task, mark.time_ms, cluster.now) for task in _tasks(cluster)}
    of_victim = sum(idle[task] for task in own)
    rounds = cluster.rounds[mark.rounds :]
    back = next((each for each in rounds if any(setup.victim in name for name in each.members)), None)
    return {
        "phase": "kill -9, back after 10 s",
        "tasks_on_it": len(own),
        "noticed_ms": rounds[0].prepared_ms - mark.time_ms,
        "back_in_group_ms": None if back is None else back.joined_ms - mark.time_ms,
        "all_running_ms": _last_start(cluster) - mark.time_ms,
        **_counts(cluster, mark),
        "delays_ms": [each.delay_ms for each in rounds],
        "task_seconds_stopped": round(sum(idle.values()) / 1000, 1),
        "of_tasks_on_the_killed_worker": round(of_victim / 1000, 1),
        "of_other_tasks": round((sum(idle.values()) - of_victim) / 1000, 1),
    }


def _tasks(cluster: SimulatedCluster) -> list[ConnectorTaskId]:
    return [job for job in cluster.runs.runs if isinstance(job, ConnectorTaskId)]


def _lives(cluster: SimulatedCluster, task: ConnectorTaskId) -> list[Any]:
    return [run for run in cluster.runs.runs[task] if run.end_ms is None or run.end_ms > run.start_ms]


def _last_start(cluster: SimulatedCluster) -> int:
    return max(run.start_ms for task in _tasks(cluster) for run in cluster.runs.runs[task])


def _last_stop(cluster: SimulatedCluster) -> int:
    return max(run.end_ms or 0 for task in _tasks(cluster) for run in cluster.runs.runs[task])
