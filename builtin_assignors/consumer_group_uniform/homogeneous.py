"""Members with equal subscriptions (Kafka: ``UniformHomogeneousAssignmentBuilder``).

Cost for n members and P partitions: P + n.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.consumer import PartitionAssignorError
from assignment_api.java import DEFAULT_JDK, iteration_order
from builtin_assignors._broker_consumer_steps import (
    BrokerProblem,
    MemberTarget,
    Previous,
    Targets,
    partitions_of,
)

__all__ = ["NO_METADATA", "assigned"]

NO_METADATA = "Members are subscribed to topic {topic} which doesn't exist in the topic metadata."


def assigned(problem: BrokerProblem) -> Targets | None:
    """Even shares; members keep as much as their share permits. ``None`` without topics."""
    topics = _topics(problem)
    if not topics:
        return None
    free = _Free()
    total = 0
    previous = problem.previous()
    held = _held(previous)
    for topic in topics:
        count = partitions_of(problem, topic, NO_METADATA)
        total += count
        taken = held.get(topic)
        free.add(topic, [each for each in range(count) if each not in taken] if taken else range(count))
    return _Sharing(problem, previous, frozenset(topics), free, total).assigned()


def _topics(problem: BrokerProblem) -> list[int]:
    topics = problem.subscriptions[0]
    keys = problem.keys
    capacity = DEFAULT_JDK.set_copy_capacity(problem.subscribed_sizes[0])
    return iteration_order(topics, [keys.hashes[topic] for topic in topics], capacity, keys.sort_keys.__getitem__)


def _held(previous: Sequence[Previous]) -> dict[int, set[int]]:
    held: dict[int, set[int]] = {}
    for topics in previous:
        for topic, partitions in topics:
            held.setdefault(topic, set()).update(partitions)
    return held


class _Free:
    """Partitions without a member, in the order in which members get them: topics with some partitions of each."""

    __slots__ = ("_first", "_pieces", "_start")

    def __init__(self) -> None:
        self._pieces: list[tuple[int, list[int] | range]] = []
        self._first = 0
        self._start = 0

    def add(self, topic: int, partitions: Sequence[int]) -> None:
        if partitions:
            self._pieces.append((topic, partitions if isinstance(partitions, range) else list(partitions)))

    def take(self, count: int) -> list[tuple[int, Sequence[int]]]:
        """At most ``count`` partitions from the front."""
        taken: list[tuple[int, Sequence[int]]] = []
        while count and self._first < len(self._pieces):
            topic, partitions = self._pieces[self._first]
            piece = partitions[self._start : self._start + count]
            count -= len(piece)
            self._start += len(piece)
            taken.append((topic, piece))
            if self._start == len(partitions):
                self._first += 1
                self._start = 0
        return taken

    def __bool__(self) -> bool:
        return self._first < len(self._pieces)


class _Sharing:
    """Shares of the members."""

    def __init__(
        self, problem: BrokerProblem, previous: Sequence[Previous], topics: frozenset[int], free: _Free, total: int
    ) -> None:
        self._keys = problem.keys
        self._previous = previous
        self._topics = topics
        self._free = free
        self._members = len(problem.ids)
        self._low, self._extra = divmod(total, self._members)
        self._changed: dict[int, MemberTarget] = {}
        #: Members that wait for partitions, and their number.
        self._waiting: list[tuple[int, int]] = []

    def assigned(self) -> Targets:
        """The targets.

        Raises:
            PartitionAssignorError: if a previous target has a partition twice or out of range, so that some are left.
        """
        for member in range(self._members):
            self._keep(member)
        for member, quota in self._waiting:
            target = self._target(member)
            for topic, partitions in self._free.take(quota):
                target.add(topic, partitions)
        if self._free:
            raise PartitionAssignorError("Partitions were left unassigned")
        previous = self._previous
        return [
            self._changed[member].in_order() if member in self._changed else _without_empty(previous[member])
            for member in range(self._members)
        ]

    def _keep(self, member: int) -> None:
        has_extra = self._extra > 0
        quota = self._low + has_extra
        for topic, partitions in self._previous[member]:
            if topic not in self._topics:
                self._target(member).drop(topic)
            elif len(partitions) <= quota:
                quota -= len(partitions)
            else:
                self._revoke(member, topic, partitions[quota:])
                quota = 0
        if quota > 0 and has_extra and self._members - member > self._extra:
            # Later members need not wait for their odd partition.
            quota -= 1
            has_extra = False
        if quota > 0:
            self._waiting.append((member, quota))
        self._extra -= has_extra

    def _revoke(self, member: int, topic: int, partitions: Sequence[int]) -> None:
        target = self._target(member)
        held = target.partitions(topic)
        assert held is not None
        for partition in partitions:
            held.remove(partition)
        if not held:
            target.drop(topic)
        self._free.add(topic, partitions)

    def _target(self, member: int) -> MemberTarget:
        found = self._changed.get(member)
        if found is None:
            found = self._changed[member] = MemberTarget(self._previous[member], self._keys)
        return found


def _without_empty(previous: Previous) -> Previous:
    return [(topic, partitions) for topic, partitions in previous if partitions]
