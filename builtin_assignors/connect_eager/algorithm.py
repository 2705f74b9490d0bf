"""Round robin over two lists, one after the other."""

from __future__ import annotations

__all__ = ["deal"]


def deal(connectors: int, tasks: int, members: int) -> list[tuple[range, range]]:
    """Deals numbered connectors, then numbered tasks, to numbered members in turn.

    Job ``k`` of both lists together goes to member ``k mod members``.

    Args:
        connectors: How many connectors there are.
        tasks: How many tasks there are.
        members: How many members there are, at least 1.

    Returns:
        For each member the numbers of its connectors and of its tasks.
    """
    return [
        (range(member, connectors, members), range((member - connectors) % members, tasks, members))
        for member in range(members)
    ]
