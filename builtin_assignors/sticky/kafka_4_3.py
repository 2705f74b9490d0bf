"""Share of a process in Kafka 3.8 to 4.3 (``StickyTaskAssignor``): its threads times the whole tasks of a thread."""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.errors import NoCapacityError
from assignment_api.java import int32
from builtin_assignors.sticky.share import NO_THREADS, ShareRule, java_divided

__all__ = ["RULE"]


def _shares(tasks: int, threads: Sequence[int]) -> Sequence[int]:
    """Kafka divides before it looks at any task.

    Raises:
        NoCapacityError: if there are no threads.
    """
    total = int32(sum(threads))
    if total == 0:
        raise NoCapacityError(NO_THREADS)
    per_thread = java_divided(tasks, total)
    return [int32(each * per_thread) for each in threads]


RULE = ShareRule(_shares, "an even share for each thread, rounded down")
