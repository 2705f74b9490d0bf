"""Traffic costs of tasks on racks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assignment_api.errors import IllegalAssignmentStateError
from assignment_api.utils.rack_aware.task_racks import NO_COST

__all__ = ["costs_of", "numbered_racks"]


def numbered_racks(racks: Iterable[str | None]) -> tuple[list[str | None], list[int]]:
    """Distinct racks in order of appearance, and each client's rack number."""
    numbers: dict[str | None, int] = {}
    numbered = [numbers.setdefault(rack, len(numbers)) for rack in racks]
    return list(numbers), numbered


def costs_of(counted: Sequence[Sequence[int]], tasks: Sequence[int], traffic_cost: int) -> list[list[int]]:
    """Traffic cost of ``tasks`` on each rack.

    Raises:
        IllegalAssignmentStateError: if a task has no partition (``NO_COST``).
    """
    if counted and NO_COST in [counted[0][task] for task in tasks]:
        raise IllegalAssignmentStateError("a task that reads or logs nothing has no TopicPartitions, thus no cost")
    return [[traffic_cost * row[task] for task in tasks] for row in counted]
