"""Findings: faults of a cluster that its REST interface shows.

Kafka: ``KafkaStatusBackingStore``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from assignor_lab.connect.remote.state import ClusterState, RemoteConnector, RemoteWorker
from assignor_lab.connect.remote.urls import without_address
from assignor_lab.documents.wording import plural
from assignor_lab.kafka.herder.statuses import InstanceStatus, JobState

__all__ = ["FINDINGS", "ClusterFinding", "find", "loads", "trace_head"]

FINDINGS: Mapping[str, str] = {
    "failed": "the instance failed, and stays so until it is restarted",
    "unassigned": "the instance is stopped, and no worker has taken it over yet",
    "missing": "the connector or task is configured, but has no state: it was not started, or no worker can start it",
    "stale": "the state was written by a worker that takes no connection, or is that of a task that is not configured",
    "restarting": "the instance is being restarted, or its worker ended while it was",
    "unknown": "Apache Kafka has no such state: a managed service or a later release wrote it",
    "no-address": "a worker advertises no address that others can reach, so requests cannot be forwarded to it",
    "no-tasks": "the connector runs, but has no task: nothing is copied",
    "imbalance": "one worker runs at least two connectors or tasks more than another",
    "uneven": "one worker runs at least two tasks of a connector more than an even spread has",
    "clusters": "the answers come from more than one Connect cluster",
    "unreachable": "a given URL does not answer, or belongs to another Kafka cluster",
}

_HEAD = 200
_MOST_NAMED = 6
_KNOWN = frozenset(JobState)
_CAUSE = "Caused by: "
#: Also the line between a cause and its error.
_PYTHON_TRACE = "Traceback (most recent call last):"
_DIRECT_CAUSE = "The above exception was the direct cause of the following exception:"


@attrs.frozen
class ClusterFinding:
    """One finding.

    Args:
        jobs: The concerned jobs, if they are several; then ``connector`` and ``task`` are ``None``.
    """

    kind: str
    connector: str | None
    task: int | None
    worker: str | None
    detail: str
    jobs: tuple[str, ...] = ()

    @property
    def job(self) -> str:
        if self.connector is None:
            return plural(len(self.jobs), "job") if self.jobs else ""
        return self.connector if self.task is None else f"{self.connector}-{self.task}"


def find(state: ClusterState, max_delay_ms: int | None = None) -> list[ClusterFinding]:
    """Findings in the order of :data:`FINDINGS`.

    Args:
        max_delay_ms: ``scheduled.rebalance.max.delay.ms``, which REST does not report; ``None``: unknown.
    """
    found = [*_of_connectors(state), *_waiting(state, max_delay_ms), *_addresses(state)]
    found += [*_imbalances(state), *_uneven(state)]
    found += [ClusterFinding("clusters", None, None, url, reason) for url, reason in state.other_clusters.items()]
    found += [ClusterFinding("unreachable", None, None, url, reason) for url, reason in state.unanswered.items()]
    order = list(FINDINGS)
    return sorted(found, key=lambda finding: order.index(finding.kind))


def loads(state: ClusterState) -> dict[str, tuple[list[str], list[tuple[str, InstanceStatus]]]]:
    held: dict[str, tuple[list[str], list[tuple[str, InstanceStatus]]]] = {
        worker.worker_id: ([], []) for worker in state.workers
    }
    for each in state.connectors:
        for instance in each.instances():
            # An unassigned job has no owner: the state's worker is the previous one.
            if instance.state == JobState.UNASSIGNED:
                continue
            connectors, tasks = held[instance.worker_id]
            if instance.number is None:
                connectors.append(each.name)
            else:
                tasks.append((each.name, instance))
    return held


def trace_head(trace: str | None) -> str:
    """The error of a stack trace of Java or Python, and its innermost cause."""
    lines = [line for line in (trace or "").splitlines() if line.strip()]
    if not lines:
        return "no trace"
    raised = _raised(lines)
    if raised:
        # Python prints the cause first and the error last.
        causes = [f"{_CAUSE}{raised[0]}"] if len(raised) > 1 and _DIRECT_CAUSE in lines else []
        shown = raised[-1]
    else:
        causes = [line.strip() for line in lines[1:] if line.strip().startswith(_CAUSE)]
        shown = lines[0].strip()
    return f"{shown[:_HEAD]}; {causes[-1][:_HEAD]}" if causes else shown[:_HEAD]


def _raised(lines: Sequence[str]) -> list[str]:
    """The first unindented line after each start."""
    found: list[str] = []
    is_open = False
    for line in lines:
        if line.rstrip() == _PYTHON_TRACE:
            is_open = True
        elif is_open and not line[0].isspace():
            found.append(line.strip())
            is_open = False
    # A trace that was cut off ends among its frames.
    return [*found, lines[-1].strip()] if is_open else found


def _of_connectors(state: ClusterState) -> Iterator[ClusterFinding]:
    dead = {worker.worker_id: worker for worker in state.workers if worker.answers is False}
    for connector in state.connectors:
        if connector.status is None:
            yield ClusterFinding("missing", connector.name, None, None, "the connector has no state")
        for instance in connector.instances():
            yield from _of_instance(connector, instance, dead)
        if _runs_without_tasks(connector):
            yield ClusterFinding(
                "no-tasks", connector.name, None, None,
                "the connector runs, but has no task: nothing is copied; its taskConfigs gave none or failed: search "
                '"Failed to reconfigure connector\'s tasks" in the logs of its worker and of the leader',
            )  # fmt: skip
        numbers = {instance.number for instance in connector.instances()}
        for task in connector.tasks or ():
            if task not in numbers:
                yield ClusterFinding("missing", connector.name, task, None, "the task is configured, but has no state")


def _of_instance(
    connector: RemoteConnector, instance: InstanceStatus, dead: Mapping[str, RemoteWorker]
) -> Iterator[ClusterFinding]:
    def finding(kind: str, detail: str) -> ClusterFinding:
        return ClusterFinding(kind, connector.name, instance.number, instance.worker_id, detail)

    if _is_not_configured(connector, instance):
        yield finding("stale", f"{instance.state}, but the connector has {plural(len(connector.tasks or ()), 'task')}")
        return
    if instance.state == JobState.FAILED:
        yield finding("failed", trace_head(instance.trace))
    elif instance.state == JobState.RESTARTING:
        yield finding("restarting", "RESTARTING")
    elif instance.state not in _KNOWN:
        yield finding(
            "unknown", f"{instance.state} is no state of Apache Kafka: its meaning is in the manual of the service"
        )
    if instance.worker_id in dead and instance.state != JobState.UNASSIGNED:
        yield finding("stale", f"{instance.state} on a worker that {dead[instance.worker_id].reason}")


def _is_not_configured(connector: RemoteConnector, instance: InstanceStatus) -> bool:
    return instance.number is not None and connector.tasks is not None and instance.number not in connector.tasks


def _runs_without_tasks(connector: RemoteConnector) -> bool:
    if connector.status is None or connector.status.connector.state != JobState.RUNNING:
        return False
    return not connector.tasks and (connector.tasks is not None or not connector.status.tasks)


def _waiting(state: ClusterState, max_delay_ms: int | None) -> Iterator[ClusterFinding]:
    """One finding for all UNASSIGNED jobs of a worker: the worker of such a state is the last owner."""
    waiting: dict[str, list[tuple[str, int | None]]] = {}
    for connector in state.connectors:
        for instance in connector.instances():
            if instance.state == JobState.UNASSIGNED and not _is_not_configured(connector, instance):
                waiting.setdefault(instance.worker_id, []).append((connector.name, instance.number))
    workers = {worker.worker_id: worker for worker in state.workers}
    busy = {name for name, (connectors, tasks) in loads(state).items() if connectors or tasks}
    longest = "5 minutes by default" if max_delay_ms is None else f"{max_delay_ms / 1000:g} s"
    for worker, jobs in waiting.items():
        names = tuple(name if task is None else f"{name}-{task}" for name, task in jobs)
        name, task = jobs[0] if len(jobs) == 1 else (None, None)
        detail = f"{_shown(names)}: {_reason(workers[worker], longest, is_busy=worker in busy)}"
        yield ClusterFinding("unassigned", name, task, worker, detail, names if len(jobs) > 1 else ())


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (f" and {len(names) - _MOST_NAMED} more" if names[_MOST_NAMED:] else "")


def _reason(worker: RemoteWorker, longest: str, *, is_busy: bool) -> str:
    if worker.answers or (is_busy and worker.answers is None):
        return (
            "the last worker lives: a rebalance took them away and gives them out within seconds; if they stay so, "
            "the state is stale (KAFKA-12525) or rebalances do not end"
        )
    gone = f" (it {worker.reason})" if worker.answers is False else " (not tried, or not reachable from here)"
    return (
        f"the worker {worker.worker_id} left and is gone{gone}; its jobs wait for its return, at most "
        f"scheduled.rebalance.max.delay.ms ({longest}) from its departure, then other workers get them; if they are "
        "UNASSIGNED for longer, the state is stale (KAFKA-12525) or rebalances do not end; wait (--watch follows it), "
        "or set a smaller delay"
    )


def _addresses(state: ClusterState) -> Iterator[ClusterFinding]:
    for worker in state.workers:
        fault = without_address(worker.worker_id)
        if fault:
            yield ClusterFinding(
                "no-address", None, None, worker.worker_id,
                f"{fault}: workers cannot forward requests to it (restart, create and delete through another worker "
                "fail), and several workers may hide behind one id; set rest.advertised.host.name and "
                "rest.advertised.port of each worker (or listeners and rest.advertised.listener)",
            )  # fmt: skip


def _imbalances(state: ClusterState) -> Iterator[ClusterFinding]:
    alive = [worker.worker_id for worker in state.workers if worker.answers is not False]
    held = loads(state)
    counts: Sequence[tuple[str, Callable[[str], int]]] = (
        ("connectors", lambda worker: len(held[worker][0])),
        ("tasks", lambda worker: len(held[worker][1])),
    )
    for counted, count in counts:
        if len(alive) < 2:
            return
        most, least = max(alive, key=count), min(alive, key=count)
        if count(most) - count(least) > 1:
            yield ClusterFinding(
                "imbalance", None, None, most, f"{count(most)} {counted}, while {least} has {count(least)}"
            )


def _uneven(state: ClusterState) -> Iterator[ClusterFinding]:
    """Tasks of a connector on few workers (KAFKA-17049); the assignor only balances the sum of all connectors."""
    alive = [worker.worker_id for worker in state.workers if worker.answers is not False]
    with_tasks = [each for each in state.connectors if any(task.number is not None for task in each.instances())]
    if len(alive) < 2 or len(with_tasks) < 2:
        return  # The finding on all tasks of the workers shows it.
    for connector in with_tasks:
        counts = dict.fromkeys(alive, 0)
        for instance in connector.instances():
            if instance.number is None or instance.state == JobState.UNASSIGNED or instance.worker_id not in counts:
                continue
            counts[instance.worker_id] += not _is_not_configured(connector, instance)
        most = max(alive, key=counts.__getitem__)
        if counts[most] - math.ceil(sum(counts.values()) / len(alive)) > 1:
            spread = "/".join(str(count) for count in sorted(counts.values(), reverse=True)[:_MOST_NAMED])
            yield ClusterFinding(
                "uneven", connector.name, None, most,
                f"its tasks are spread {spread}: Connect balances the sum of all connectors only (KAFKA-17049)",
            )  # fmt: skip
