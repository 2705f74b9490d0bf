"""A rebalance of a Connect group as bytes for a plugin's process, and the returned answer."""

from __future__ import annotations

import pickle
from typing import Any

from assignment_api.connect import (
    ConfiguredJobs,
    ConnectAssignment,
    ConnectorTaskId,
    ConnectProtocol,
    Jobs,
    Rebalance,
    StaticJobs,
    Worker,
    WorkerAssignment,
)
from assignor_lab.groups.streams.transfer import MAX_REMARKS
from assignor_lab.runtime.invocation import MESSAGE_LIMIT
from assignor_lab.runtime.isolation.errors import AnswerFormatError

__all__ = ["connect_answer_document", "connect_answer_of", "packed_rebalance", "unpacked_rebalance"]


def packed_rebalance(rebalance: Rebalance) -> bytes:
    before = rebalance.previous_protocol
    return pickle.dumps(
        (
            dict(rebalance.configured.task_counts),
            [
                (
                    worker.member_id,
                    _plain(worker.owned),
                    worker.static.connectors,
                    None
                    if worker.static.tasks is None
                    else [(task.connector, task.task) for task in worker.static.tasks],
                    worker.max_delay_ms,
                    worker.url,
                    dict(worker.labels),
                )
                for worker in rebalance.workers
            ],
            rebalance.protocol.value,
            rebalance.time_ms,
            rebalance.generation,
            rebalance.last_completed_generation,
            None if before is None else before.value,
        ),
        protocol=5,
    )


def unpacked_rebalance(content: bytes) -> Rebalance:
    counts, workers, protocol, time_ms, generation, completed, before = pickle.loads(content)  # noqa: S301 - by the lab
    return Rebalance(
        ConfiguredJobs(counts),
        [
            Worker(
                member,
                _jobs(owned),
                StaticJobs(connectors, None if tasks is None else [ConnectorTaskId(*task) for task in tasks]),
                max_delay_ms,
                url,
                labels,
            )
            for member, owned, connectors, tasks, max_delay_ms, url, labels in workers
        ],
        ConnectProtocol(protocol),
        time_ms,
        generation,
        completed,
        None if before is None else ConnectProtocol(before),
    )


def connect_answer_document(assignment: ConnectAssignment) -> dict[str, Any]:
    return {
        "workers": [
            [member, *_plain(share.assigned), *_plain(share.revoked)] for member, share in assignment.workers.items()
        ],
        "delay_ms": assignment.delay_ms,
        "rejoin": bool(assignment.rejoin),
        "remarks": [remark[:MESSAGE_LIMIT] for remark in assignment.remarks[:MAX_REMARKS]],
    }


def connect_answer_of(document: object) -> ConnectAssignment:
    """The answer in ``document``, which a plugin may have forged, so everything in it is checked.

    Raises:
        AnswerFormatError: if it is none.
    """
    if not isinstance(document, dict):
        raise AnswerFormatError("no JSON object")
    workers = {}
    for entry in _listed(document.get("workers")):
        member, *jobs = _listed(entry)
        if len(jobs) != 4 or type(member) is not str:
            raise AnswerFormatError("a worker that is none")
        workers[member] = WorkerAssignment(_checked_jobs(*jobs[:2]), _checked_jobs(*jobs[2:]))
    delay, rejoin, remarks = document.get("delay_ms"), document.get("rejoin"), _listed(document.get("remarks"))
    if type(delay) is not int or type(rejoin) is not bool or len(remarks) > MAX_REMARKS:
        raise AnswerFormatError("a delay, a wish to rejoin, or remarks that are none")
    return ConnectAssignment(workers, delay, rejoin, tuple(_text(remark)[:MESSAGE_LIMIT] for remark in remarks))


def _checked_jobs(connectors: object, tasks: object) -> Jobs:
    found = []
    for task in _listed(tasks):
        parts = _listed(task)
        if len(parts) != 2 or type(parts[1]) is not int:
            raise AnswerFormatError("a task that is none")
        found.append(ConnectorTaskId(_text(parts[0]), parts[1]))
    return Jobs([_text(name) for name in _listed(connectors)], found)


def _text(value: object) -> str:
    if type(value) is not str:
        raise AnswerFormatError("a name that is none")
    return value


def _listed(value: object) -> list[Any]:
    if type(value) is not list:
        raise AnswerFormatError("something else than a list")
    return value


def _plain(jobs: Jobs) -> tuple[tuple[str, ...], list[tuple[str, int]]]:
    return jobs.connectors, [(task.connector, task.task) for task in jobs.tasks]


def _jobs(plain: tuple[tuple[str, ...], list[tuple[str, int]]]) -> Jobs:
    return Jobs(plain[0], [ConnectorTaskId(*task) for task in plain[1]])
