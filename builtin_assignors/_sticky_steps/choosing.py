"""Return of a task to a previous client (Kafka: ``LegacyStickyTaskAssignor``)."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_assignors._sticky_steps.placement import StickyPlacement

__all__ = ["choose_previous"]


def choose_previous(
    owner: int | None, standbys: Sequence[int], placement: StickyPlacement, unpaired: int
) -> int | None:
    """The previous client of a task, unless that client is overloaded.

    Args:
        unpaired: Bitset of the tasks that the task never met.

    Returns:
        The client, or None if the least loaded of all candidates should take the task.
    """
    if owner is not None and not placement.is_overloaded(owner):
        return owner
    standby = standbys[0] if len(standbys) == 1 else placement.least_loaded_of(standbys, unpaired)
    return None if standby is None or placement.is_overloaded(standby) else standby
