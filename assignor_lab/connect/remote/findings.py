"""Findings: faults of a cluster that its REST interface shows.

Kafka: ``KafkaStatusBackingStore``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from assignor_lab.connect.remote.state import ClusterState, RemoteConnector, RemoteWorker
from assignor_lab.documents.wording import plural
from assignor_lab.kafka.herder.statuses import InstanceStatus, JobState

__all__ = ["FINDINGS", "ClusterFinding", "find", "loads", "trace_head"]

FINDINGS: Mapping[str, str] = {
    "failed": "the instance failed, and stays so until it is restarted",
    "unassigned": "the instance is stopped, and no worker has taken it over yet",
    "missing": "the connector or task is configured, but has no state: it was not started, or no worker can start it",
    "stale": "the state was written by a worker that takes no connection, or is that of a task that is not configured",
    "restarting": "the instance is being restarted, or its worker ended while it was",
    "imbalance": "one worker runs at least two connectors or tasks more than another",
    "unreachable": "a given URL does not answer, or belongs to another Kafka cluster",
}

_HEAD = 200
_CAUSE = "Caused by: "
#: Also the line between a cause and its error.
_PYTHON_TRACE = "Traceback (most recent call last):"
_DIRECT_CAUSE = "The above exception was the direct cause of the following exception:"


@attrs.frozen
class ClusterFinding:
    """One finding."""

    kind: str
    connector: str | None
    task: int | None
    worker: str | None
    detail: str

    @property
    def job(self) -> str:
        if self.connector is None:
            return ""
        return self.connector if self.task is None else f"{self.connector}-{self.task}"


def find(state: ClusterState) -> list[ClusterFinding]:
    found = [*_of_connectors(state), *_imbalances(state)]
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
        numbers = {instance.number for instance in connector.instances()}
        for task in connector.tasks or ():
            if task not in numbers:
                yield ClusterFinding("missing", connector.name, task, None, "the task is configured, but has no state")


def _of_instance(
    connector: RemoteConnector, instance: InstanceStatus, dead: Mapping[str, RemoteWorker]
) -> Iterator[ClusterFinding]:
    def finding(kind: str, detail: str) -> ClusterFinding:
        return ClusterFinding(kind, connector.name, instance.number, instance.worker_id, detail)

    if instance.number is not None and connector.tasks is not None and instance.number not in connector.tasks:
        yield finding("stale", f"{instance.state}, but the connector has {plural(len(connector.tasks), 'task')}")
        return
    if instance.state == JobState.FAILED:
        yield finding("failed", trace_head(instance.trace))
    elif instance.state == JobState.UNASSIGNED:
        yield finding("unassigned", "UNASSIGNED")
    elif instance.state == JobState.RESTARTING:
        yield finding("restarting", "RESTARTING")
    if instance.worker_id in dead and instance.state != JobState.UNASSIGNED:
        yield finding("stale", f"{instance.state} on a worker that {dead[instance.worker_id].reason}")


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
