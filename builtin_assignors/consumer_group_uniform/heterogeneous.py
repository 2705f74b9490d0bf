"""Members with unequal subscriptions (Kafka: ``UniformHeterogeneousAssignmentBuilder``).

Cost for n members and T topics with P partitions: 16 (P log P + T n log n) at most.
"""

from __future__ import annotations

from assignment_api.consumer import PartitionOutOfRangeError
from builtin_assignors._broker_consumer_steps import (
    BrokerProblem,
    MemberTarget,
    Targets,
    partitions_of,
    sized_capacity,
)
from builtin_assignors.consumer_group_uniform.homogeneous import NO_METADATA
from builtin_assignors.consumer_group_uniform.levels import LoadLevels

__all__ = ["assigned"]

_MOST_ROUNDS = 16
_NO_OWNER = -1


def assigned(problem: BrokerProblem) -> Targets | None:
    """Members keep partitions; free ones go to the least loaded, then topics are balanced. ``None`` without topics."""
    subscribers: dict[int, list[int]] = {}
    for member, topics in enumerate(problem.subscriptions):
        for topic in topics:
            partitions_of(problem, topic, NO_METADATA)
            subscribers.setdefault(topic, []).append(member)
    if not subscribers:
        return None
    placement = _Placement(problem, subscribers)
    placement.keep()
    placement.place_free()
    placement.balance()
    return placement.targets()


class _Placement:
    def __init__(self, problem: BrokerProblem, subscribers: dict[int, list[int]]) -> None:
        self._problem = problem
        self._previous = problem.previous()
        self._subscribers = subscribers
        self._sizes = [0] * len(problem.ids)
        #: By topic, the owner of each partition.
        self._owners = {topic: [_NO_OWNER] * problem.partitions[topic] for topic in subscribers}
        self._changed: dict[int, MemberTarget] = {}
        self._capacities = {
            topic: sized_capacity(-(-problem.partitions[topic] // len(members)))
            for topic, members in subscribers.items()
        }
        self._order = sorted(subscribers, key=self._rank)

    def _rank(self, topic: int) -> tuple[float, int, tuple[int, int]]:
        members = len(self._subscribers[topic])
        return -self._problem.partitions[topic] / members, members, self._problem.keys.sort_keys[topic]

    def keep(self) -> None:
        """Partitions of subscribed topics stay; of two owners of a partition the later one counts."""
        for member, previous in enumerate(self._previous):
            topics = frozenset(self._problem.subscriptions[member])
            for topic, partitions in previous:
                if topic not in topics:
                    self._target(member).drop(topic)
                    continue
                owners = self._owners[topic]
                if partitions and not 0 <= min(partitions) <= max(partitions) < len(owners):
                    raise PartitionOutOfRangeError(
                        f"{self._problem.ids[member]!r:.80} had partitions of {self._problem.topic_ids[topic]} beyond "
                        f"its {len(owners)}: Kafka fails; correct the previous target"
                    )
                self._sizes[member] += len(partitions)
                for partition in partitions:
                    owners[partition] = member

    def place_free(self) -> None:
        """Topics in their order, partitions ascending."""
        for topic in self._order:
            owners = self._owners[topic]
            if _NO_OWNER in owners:
                levels = LoadLevels(self._subscribers[topic], self._sizes)
                for partition, owner in enumerate(owners):
                    if owner == _NO_OWNER:
                        self._give(topic, partition, levels.least_loaded())

    def balance(self) -> None:
        """Rounds over the shared topics, until one round changed nothing."""
        topics = [topic for topic in self._order if len(self._subscribers[topic]) > 1]
        last = None
        for _ in range(_MOST_ROUNDS):
            for topic in topics:
                if topic == last:
                    return
                if self._balance(topic) or last is None:
                    last = topic

    def _balance(self, topic: int) -> bool:
        levels = LoadLevels(self._subscribers[topic], self._sizes)
        if levels.difference <= 1:
            return False
        owners = self._owners[topic]
        held: dict[int, list[int]] = {}
        for partition, owner in enumerate(owners):
            held.setdefault(owner, []).append(partition)
        changed = False
        while not levels.is_balanced():
            giver = levels.most_loaded()
            while giver is not None and not held.get(giver):
                levels.leave_out()
                giver = levels.most_loaded()
            if giver is None:
                break
            partition = held[giver].pop()
            taker = levels.least_loaded()
            if levels.is_balanced():
                break
            self._take(topic, partition, owners[partition])
            self._give(topic, partition, taker)
            changed = True
        return changed

    def targets(self) -> Targets:
        return [
            self._changed[member].in_order()
            if member in self._changed
            else [(topic, partitions) for topic, partitions in previous if partitions]
            for member, previous in enumerate(self._previous)
        ]

    def _give(self, topic: int, partition: int, member: int) -> None:
        self._target(member).add(topic, (partition,), self._capacities[topic])
        self._owners[topic][partition] = member
        self._sizes[member] += 1

    def _take(self, topic: int, partition: int, member: int) -> None:
        target = self._target(member)
        held = target.partitions(topic)
        if held is not None:
            held.remove(partition)
            if not held:
                target.drop(topic)
        self._owners[topic][partition] = _NO_OWNER
        self._sizes[member] -= 1

    def _target(self, member: int) -> MemberTarget:
        found = self._changed.get(member)
        if found is None:
            found = self._changed[member] = MemberTarget(self._previous[member], self._problem.keys)
        return found
