"""Quota: the largest number of tasks of each member (Kafka: the brokers' ``StickyTaskAssignor``)."""

from __future__ import annotations

__all__ = ["Quota"]


class Quota:
    """The share of a member, which shrinks as members fill up."""

    __slots__ = ("_members", "_tasks", "each")

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks = tasks
        self._members = members
        #: The quota of a member, 0 when no member is left.
        self.each = -(-tasks // members) if members else 0

    @classmethod
    def none(cls) -> Quota:
        """A quota without effect."""
        return cls(0, 0)

    def reached(self) -> int:
        """Record that a member reached its quota; returns the quota of the others, which share the rest."""
        self._members -= 1
        self._tasks -= self.each
        self.each = -(-self._tasks // self._members) if self._members else 0
        return self.each
