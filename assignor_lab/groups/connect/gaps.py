"""Gaps of a rebalance of a Connect group: jobs on workers of one thread each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from assignment_api.connect import Jobs
from assignment_api.optimum import DEFAULT_GOALS, Gap, Problem, goals_of
from assignor_lab.groups.connect.metrics import ConnectDecision
from assignor_lab.groups.metrics.gaps import Gaps, gap_metrics, gaps_of_goals

__all__ = ["GAP_METRICS", "gaps_of"]


def gaps_of(decision: ConnectDecision) -> Gaps | None:
    """The gaps of tasks, keyed by goal, then those of connectors; ``None`` if a job waits for another rebalance.

    Kafka balances connectors and tasks apart, and so do the gaps.
    """
    number = {member: index for index, member in enumerate(sorted(decision.after))}
    before = _places(decision.before, number)
    after = _places(decision.after, number)
    connectors: list[Hashable] = list(decision.configured.task_counts)
    tasks: list[Hashable] = [
        (name, task) for name, count in decision.configured.task_counts.items() for task in range(count)
    ]
    found: dict[str, Gap] = {}
    for weight, jobs in (("tasks", tasks), ("connectors", connectors)):
        held = [before.get(job, ()) for job in jobs]
        problem = Problem([1] * len(number), held, [()] * len(jobs), {"connectors": [1] * len(jobs)})
        goals = [goal for goal in goals_of(DEFAULT_GOALS["connect"]) if goal.weight == weight]
        own = gaps_of_goals(problem, [after.get(job, (-1,))[0] for job in jobs], goals)
        if own is None:
            return None
        found |= own
    return found


def _places(held: Mapping[str, Jobs], number: Mapping[str, int]) -> dict[Hashable, tuple[int, ...]]:
    places: dict[Hashable, tuple[int, ...]] = {}
    for member, jobs in held.items():
        if member in number:
            for job in (*jobs.connectors, *((task.connector, task.task) for task in jobs.tasks)):
                places[job] = (*places.get(job, ()), number[member])
    return places


GAP_METRICS = gap_metrics("connect", gaps_of)
