"""Placing jobs: level by level on the least loaded members, or dealt in turn."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["deal", "deal_up_to", "place"]


def place(jobs: Sequence[int], members: Sequence[int], sizes: Sequence[int], ranks: Sequence[int]) -> list[int]:
    """Fill up the least loaded members, level by level (3.7).

    Members are sorted once, by load and id. That order decides inside a level, so an initially lighter member is served
    first. Complexity: O(jobs + members log members).
    """
    order = sorted(members, key=lambda member: (sizes[member], ranks[member]))
    loads = [sizes[member] for member in order]
    level = loads[0]
    takers: list[int] = []
    reached = 0
    while len(takers) < len(jobs):
        while reached < len(order) and loads[reached] <= level:
            reached += 1
        takers.extend(order[:reached])
        level += 1
    return takers[: len(jobs)]


def deal(jobs: Sequence[int], members: Sequence[int]) -> list[int]:
    """The member of each job when jobs are dealt in turn, starting with the first member."""
    return [members[position % len(members)] for position in range(len(jobs))]


def deal_up_to(
    jobs: Sequence[int], members: Sequence[int], rooms: Sequence[int]
) -> tuple[list[tuple[int, int]], list[int]]:
    """Deal in turn, and skip members that are full.

    Returns:
        Pairs of job and member, and the jobs that did not fit.
    """
    left = list(rooms)
    dealt: list[tuple[int, int]] = []
    position = 0
    for job in jobs:
        if sum(left) == 0:
            break
        while left[position % len(members)] == 0:
            position += 1
        turn = position % len(members)
        dealt.append((job, members[turn]))
        left[turn] -= 1
        position += 1
    return dealt, list(jobs[len(dealt) :])
