"""The way of a group to static jobs (KIP-987): rounds of its assignor, and the jobs that move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from assignment_api.connect import ConfiguredJobs, ConnectProtocol, Jobs, Rebalance, StaticJobs, Worker
from assignor_lab.kafka.herder.assignors import assignor_configs
from assignor_lab.scenarios.connect_history import ConnectHistory
from assignor_lab.simulation.connect.cluster import AssignorFactory
from assignor_lab.simulation.connect.static_plan import ConnectorDemand, StaticPlanError, WorkerOffer, check_listable

__all__ = ["MovedJob", "StaticRound", "StaticRounds", "demands_of", "isolated", "offers_of", "static_rounds"]

#: Most rounds until a group is at rest: a revocation, its follow-up, and the end of a delay.
_MOST_ROUNDS = 10


@attrs.frozen
class MovedJob:
    """A job with another worker afterwards.

    Args:
        before: Empty: no worker ran it.
        after: Empty: no worker may run it.
    """

    job: str
    before: str
    after: str


@attrs.frozen
class StaticRound:
    """One rebalance.

    Args:
        stopped: Number of jobs that their workers stop.
        started: Number of jobs that workers start.
        delay_ms: Time until the next one; 0: none is due, or it follows at once.
    """

    number: int
    stopped: int
    started: int
    delay_ms: int


@attrs.frozen
class StaticRounds:
    """The rounds until the group is at rest, the moved jobs in Kafka's order, and the assignor's remarks."""

    rounds: tuple[StaticRound, ...]
    moved: tuple[MovedJob, ...]
    remarks: tuple[str, ...]


def demands_of(history: ConnectHistory, weights: Mapping[str, float]) -> list[ConnectorDemand]:
    """The connectors of a state's last round.

    Raises:
        StaticPlanError: if a weight names no connector.
    """
    counts = history.rounds[-1].configured.task_counts
    _check_names(weights, counts, "--weight", "connector")
    return [ConnectorDemand(name, tasks, task_weight=weights.get(name, 1.0)) for name, tasks in counts.items()]


def offers_of(
    history: ConnectHistory, demands: Iterable[ConnectorDemand], sizes: Mapping[str, float], wildcards: Iterable[str]
) -> list[WorkerOffer]:
    """The workers of a state's last round; a worker without a size can run all jobs.

    Raises:
        StaticPlanError: if a size or a wildcard names no worker.
    """
    names = [worker.member_id for worker in history.rounds[-1].workers]
    free = frozenset(wildcards)
    _check_names(sizes, names, "--size", "worker")
    _check_names(sorted(free), names, "--wildcard", "worker")
    every = sum(each.connector_weight + each.tasks * each.task_weight for each in demands)
    return [WorkerOffer(name, sizes.get(name, every), name in free) for name in names]


def isolated(history: ConnectHistory, pins: Mapping[str, Sequence[str]]) -> dict[str, StaticJobs]:
    """Worker to its static jobs: each connector of ``pins`` on its own workers alone.

    The connector's instance is on the first worker, and its tasks go around. Other workers are wildcards.

    Raises:
        StaticPlanError: if a name is unknown, or no worker is left for the other connectors.
    """
    last = history.rounds[-1]
    counts = last.configured.task_counts
    names = [worker.member_id for worker in last.workers]
    _check_names(pins, counts, "--isolate", "connector")
    connectors: dict[str, list[str]] = {}
    tasks: dict[str, list[str]] = {}
    for connector, workers in pins.items():
        check_listable(connector)
        _check_names(workers, names, "--isolate", "worker")
        if not workers:
            raise StaticPlanError(f"--isolate {connector} names no worker: give CONNECTOR=WORKER")
        for worker in workers:
            connectors.setdefault(worker, [])
            tasks.setdefault(worker, [])
        connectors[workers[0]].append(connector)
        for number in range(counts[connector]):
            tasks[workers[number % len(workers)]].append(f"{connector}-{number}")
    if len(connectors) == len(names) and len(pins) < len(counts):
        raise StaticPlanError(
            "--isolate names every worker, and the other connectors would not run: leave a worker out, which is a "
            "wildcard worker then"
        )
    return {
        worker: StaticJobs.from_config({"static.connectors": connectors[worker], "static.tasks": tasks[worker]})
        for worker in connectors
    }


def static_rounds(
    history: ConnectHistory, static: Mapping[str, StaticJobs], assignors: AssignorFactory
) -> StaticRounds:
    """Decide rounds from a state's last one on, as if all workers had protocol ``static`` and their jobs now."""
    last = history.rounds[-1]
    assignor = assignors(ConnectProtocol.STATIC)
    assignor.configure(assignor_configs(history.max_delay_ms, "kafka", {}))
    owned = {worker.member_id: worker.owned for worker in last.workers}
    before, time_ms = _owners(owned), last.time_ms
    rounds: list[StaticRound] = []
    remarks: tuple[str, ...] = ()
    while len(rounds) < _MOST_ROUNDS:
        workers = [
            Worker(each.member_id, owned[each.member_id], static.get(each.member_id, StaticJobs()), url=each.url)
            for each in last.workers
        ]
        number = len(rounds)
        rebalance = Rebalance(last.configured, workers, ConnectProtocol.STATIC, time_ms, number, number - 1)
        answer = assignor.assign(rebalance)
        remarks = answer.remarks
        stopped = sum(len(each.revoked) for each in answer.workers.values())
        started = sum(len(each.assigned) for each in answer.workers.values())
        rounds.append(StaticRound(number + 1, stopped, started, answer.delay_ms))
        owned = answer.owned_after(rebalance)
        if not stopped and not answer.delay_ms:
            break
        time_ms += 0 if stopped else answer.delay_ms
    return StaticRounds(tuple(rounds), tuple(_moved(last.configured, before, _owners(owned))), remarks)


def _owners(owned: Mapping[str, Jobs]) -> dict[str, str]:
    return {str(job): worker for worker, jobs in owned.items() for job in (*jobs.connectors, *jobs.tasks)}


def _moved(configured: ConfiguredJobs, before: Mapping[str, str], after: Mapping[str, str]) -> Iterable[MovedJob]:
    for job in (*configured.connectors(), *map(str, configured.tasks())):
        if before.get(job, "") != after.get(job, ""):
            yield MovedJob(job, before.get(job, ""), after.get(job, ""))


def _check_names(given: Iterable[str], known: Iterable[str], option: str, kind: str) -> None:
    there = list(known)
    for name in given:
        if name not in there:
            raise StaticPlanError(f"{option}: {name!r:.80} is no {kind} of the group: use one of {', '.join(there)}")
