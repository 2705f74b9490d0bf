"""Round robin over two lists, one after the other."""

from __future__ import annotations

__all__ = ["deal"]


def deal(connectors: int, tasks: int, members: int) -> list[tuple[range, range]]:
    """Deal numbered connectors, then numbered tasks, to numbered members in turn.

    Job ``k`` of both lists together goes to member ``k mod members``.
    """
    return [
        (range(member, connectors, members), range((member - connectors) % members, tasks, members))
        for member in range(members)
    ]
