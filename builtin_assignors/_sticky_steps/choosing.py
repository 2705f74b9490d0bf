"""The client that a task would like to go back to (Kafka: ``LegacyStickyTaskAssignor``)."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_assignors._sticky_steps.placement import Placement

__all__ = ["choose_previous"]


def choose_previous(owner: int | None, standbys: Sequence[int], placement: Placement, unpaired: int) -> int | None:
    """The client that a task would like to go back to, unless that one is overloaded.

    Args:
        owner: Client that had the task as its active task, if it is a candidate.
        standbys: The candidates that had it as a standby, in the order in which they are looked at.
        placement: Whose loads count.
        unpaired: Bitset of the tasks that the task never met.

    Returns:
        The client, or None if the least loaded of all candidates should take the task.
    """
    if owner is not None and not placement.is_overloaded(owner):
        return owner
    standby = standbys[0] if len(standbys) == 1 else placement.least_loaded_of(standbys, unpaired)
    return None if standby is None or placement.is_overloaded(standby) else standby
