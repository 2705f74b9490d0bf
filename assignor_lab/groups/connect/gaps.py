"""Gaps of a rebalance of a Connect group: jobs on workers of one thread each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from assignment_api.connect import Jobs
from assignment_api.optimum import Problem
from assignor_lab.groups.connect.metrics import ConnectDecision
from assignor_lab.groups.metrics.gaps import Gaps, gap_metrics, gaps_by_kind

__all__ = ["GAP_METRICS", "gaps_of"]


def gaps_of(decision: ConnectDecision) -> Gaps | None:
    """The gaps, keyed by goal; ``None`` if a job waits for another rebalance."""
    number = {member: index for index, member in enumerate(sorted(decision.after))}
    before = _places(decision.before, number)
    after = _places(decision.after, number)
    configured = [
        *decision.configured.task_counts,
        *((name, task) for name, count in decision.configured.task_counts.items() for task in range(count)),
    ]
    owners = [after.get(job, (-1,))[0] for job in configured]
    jobs = [before.get(job, ()) for job in configured]
    return gaps_by_kind(Problem([1] * len(number), jobs, [()] * len(jobs)), owners, "connect")


def _places(held: Mapping[str, Jobs], number: Mapping[str, int]) -> dict[Hashable, tuple[int, ...]]:
    places: dict[Hashable, tuple[int, ...]] = {}
    for member, jobs in held.items():
        if member in number:
            for job in (*jobs.connectors, *((task.connector, task.task) for task in jobs.tasks)):
                places[job] = (*places.get(job, ()), number[member])
    return places


GAP_METRICS = gap_metrics("connect", gaps_of)
