"""Share of a process since Kafka 4.4 (``StickyTaskAssignor``, KAFKA-20198): its part of all tasks, rounded up."""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.java import int32
from builtin_assignors.sticky.share import ShareRule, UndividedShares, java_divided

__all__ = ["RULE"]


def _shares(tasks: int, threads: Sequence[int]) -> Sequence[int]:
    """Kafka divides for each test, so that without threads only a test fails. All numbers have 32 bits."""
    total = int32(sum(threads))
    if total == 0:
        return UndividedShares(len(threads))
    return [java_divided(int32(tasks * each + total - 1), total) for each in threads]


RULE = ShareRule(_shares, "its part of all tasks by threads, rounded up")
