"""Layout of a group: members and processes as dense numbers, in Kafka's order of iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from assignment_api.group import GroupSpec
from assignment_api.java import DEFAULT_CAPACITY, MAX_CHAIN, iteration_order_of_spreads, spread, string_hash
from assignment_api.streams.ids import utf16_key

__all__ = ["GroupLayout", "layout_of", "spreads_of"]

#: Size of the cache of layouts: many calls have the same members, but other standbys, topologies or assignors.
_KNOWN_GROUPS = 4
#: Size of the cache of spread hash codes. Java, too, keeps the hash code in each string.
_KNOWN_IDS = 1 << 16
_FIRST_SLOTS = DEFAULT_CAPACITY - 1


class _Spreads(dict[str, int]):
    __slots__ = ()

    def __missing__(self, text: str) -> int:
        if len(self) >= _KNOWN_IDS:
            self.clear()
        self[text] = found = spread(string_hash(text))
        return found


_spreads = _Spreads()


def spreads_of(texts: Sequence[str]) -> list[int]:
    """Each text's hash code as Java's hash map spreads it."""
    return list(map(_spreads.__getitem__, texts))


class GroupLayout:
    """Values that depend only on the ids; shared and read-only."""

    __slots__ = ("_orders", "_queues", "_spreads", "ids", "members_of", "process_of", "processes", "visits")

    def __init__(self, ids: Sequence[str], process_ids: Sequence[str]) -> None:
        spreads = spreads_of(ids)
        #: Indices of the members in the input, in the order of Kafka's visits: the coordinator passes a hash map. These
        #: visits give the numbers used below.
        self.visits = iteration_order_of_spreads(spreads, sort_key=lambda place: utf16_key(ids[place]))
        self._spreads = [spreads[place] for place in self.visits]
        self.ids = [ids[place] for place in self.visits]
        numbers: dict[str, int] = {}
        self.process_of = [numbers.setdefault(process_ids[place], len(numbers)) for place in self.visits]
        self.processes = list(numbers)
        #: Members of each process.
        self.members_of: list[list[int]] = [[] for _ in numbers]
        for member, process in enumerate(self.process_of):
            self.members_of[process].append(member)
        self._queues: dict[int, Sequence[int]] = {}
        self._orders: dict[Callable[[GroupLayout], Sequence[int]], Sequence[int]] = {}

    def process_order(self, rule: Callable[[GroupLayout], Sequence[int]]) -> Sequence[int]:
        """The processes in the order in which Kafka fills a queue with them, under a release's ``rule``."""
        found = self._orders.get(rule)
        if found is None:
            found = self._orders[rule] = rule(self)
        return found

    def queue_order(self, process: int) -> Sequence[int]:
        """The members of a process in the order of Kafka's map of them, in which Kafka fills a queue."""
        found = self._queues.get(process)
        if found is None:
            found = self._queues[process] = self._map_order(self.members_of[process])
        return found

    def _map_order(self, members: Sequence[int]) -> Sequence[int]:
        spreads = self._spreads
        if len(members) == 2:
            first, second = members
            return members if spreads[first] & _FIRST_SLOTS <= spreads[second] & _FIRST_SLOTS else (second, first)
        if len(members) <= MAX_CHAIN:
            return sorted(members, key=lambda member: spreads[member] & _FIRST_SLOTS)  # the map does not grow
        ids = self.ids
        order = iteration_order_of_spreads(
            [spreads[member] for member in members], sort_key=lambda place: utf16_key(ids[members[place]])
        )
        return [members[place] for place in order]


def layout_of(group: GroupSpec) -> GroupLayout:
    members = group.members
    return _known_layout(tuple(members), tuple([member.metadata.process_id for member in members.values()]))


_known_layout = lru_cache(maxsize=_KNOWN_GROUPS)(GroupLayout)
