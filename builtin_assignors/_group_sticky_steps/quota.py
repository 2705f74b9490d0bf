"""Quotas: the number of tasks that each member should get at most (Kafka: the brokers' ``StickyTaskAssignor``)."""

from __future__ import annotations

__all__ = ["Quota"]


class Quota:
    """The share of a member, which shrinks as members fill up.

    Args:
        tasks: Number of tasks to share out.
        members: Number of members that share them.
    """

    __slots__ = ("_members", "_tasks", "each")

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks = tasks
        self._members = members
        #: The quota of a member, 0 once nobody is left.
        self.each = -(-tasks // members) if members else 0

    @classmethod
    def none(cls) -> Quota:
        """A quota that nobody reaches, where none is asked for."""
        return cls(0, 0)

    def reached(self) -> int:
        """A member has just got as many tasks as its quota: the others share what is left; answers their quota."""
        self._members -= 1
        self._tasks -= self.each
        self.each = -(-self._tasks // self._members) if self._members else 0
        return self.each
