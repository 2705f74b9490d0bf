"""Leader of a classic group: the first member, and after it left, the first one of a hash map.

Kafka: ``ClassicGroup.add``, ``remove``, ``replaceStaticMember`` and ``maybeElectNewJoinedLeader``. Members are in a
``HashMap`` by member id. An id ends with a random UUID, so any member can be the next leader.
"""

from __future__ import annotations

from collections.abc import Container

from assignment_api.java import JavaHashTable, string_hash
from assignment_api.streams.ids import utf16_key

__all__ = ["LeaderElection"]


class LeaderElection:
    """The present leader among the members, joined or not."""

    def __init__(self) -> None:
        self.leader_id: str | None = None
        self._members: JavaHashTable[str, None] = JavaHashTable(string_hash, utf16_key)

    def add(self, member_id: str) -> None:
        self._members.put(member_id, None)
        if self.leader_id is None:
            self.leader_id = member_id

    def remove(self, member_id: str) -> None:
        self._members.remove(member_id)
        if self.leader_id == member_id:
            self.leader_id = next(iter(self._members), None)

    def replace(self, old: str, new: str) -> None:
        """A static member is back under another id."""
        self._members.remove(old)
        self._members.put(new, None)
        if self.leader_id == old:
            self.leader_id = new

    def elect_joined(self, joined: Container[str]) -> None:
        """At the end of a join phase: a leader that did not join loses its office, unless no member has joined."""
        if self.leader_id not in joined:
            self.leader_id = next((each for each in self._members if each in joined), self.leader_id)
