"""Giving out jobs: to the least loaded, to whom was waited for, to whom lists them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["deal", "deal_up_to", "place"]


def place(jobs: Sequence[int], members: Sequence[int], sizes: Sequence[int], ranks: Sequence[int]) -> list[int]:
    """Fills up the least loaded members, level by level (3.7).

    Members are sorted once, by load and id; inside a level that order decides, so a member that began lighter is
    served first.

    Args:
        jobs: What is to be placed, in order.
        members: Who may get something, by number; at least one.
        sizes: Load of every member, by its number.
        ranks: Place of every member in the order of ids.

    Returns:
        The member that gets each job. O(jobs + members log members).
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
    """The member that gets each job when they are dealt in turn, starting with the first member."""
    return [members[position % len(members)] for position in range(len(jobs))]


def deal_up_to(
    jobs: Sequence[int], members: Sequence[int], rooms: Sequence[int]
) -> tuple[list[tuple[int, int]], list[int]]:
    """Deals in turn, and leaves out members that have got as many jobs as there was room for.

    Returns:
        Pairs of job and member, and the jobs for which there was no room.
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
