"""Balance of a classic group by counts: members as a process spreads its tasks over them, then processes.

A process spreads its tasks evenly over its threads (Kafka: ``StreamsPartitionAssignor.assignTasksToThreads``), so a
process with ``n`` tasks and ``t`` threads has members with ``floor(n / t)`` and ``ceil(n / t)`` tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import floordiv, neg

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.metrics.balance import ON_PROCESSES, OnMembers, per_member, stateless_of, total_of
from assignor_lab.groups.metrics.definition import derived, plugins_of
from assignor_lab.groups.streams.placement import StreamsPlacement, placement_of

__all__ = ["BALANCE_METRICS"]


def _spread(counts: Callable[[StreamsPlacement], Sequence[int]]) -> Callable[[StreamsPlacement], OnMembers]:
    @derived
    def loads(placement: StreamsPlacement) -> OnMembers:
        held, state = counts(placement), placement.state
        if not held:
            return OnMembers()
        most, fewest = -min(map(floordiv, map(neg, held), state.threads)), min(map(floordiv, held, state.threads))
        return OnMembers(most, fewest, sum(held), state.members)

    return loads


BALANCE_METRICS: tuple[MetricPlugin, ...] = (
    *plugins_of(
        per_member(
            {
                "active": ("active tasks", _spread(lambda placement: placement.active)),
                "stateful": ("active tasks with state", _spread(lambda placement: placement.stateful)),
                "stateless": ("active tasks without state", _spread(stateless_of)),
                "total": ("tasks, standbys included", _spread(total_of)),
            }
        ),
        placement_of,
        "streams",
    ),
    *plugins_of(ON_PROCESSES, placement_of, "streams"),
)
