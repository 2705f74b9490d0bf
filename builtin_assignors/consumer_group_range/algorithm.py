"""Contiguous ranges of each topic (Kafka: ``coordinator.group.assignor.RangeAssignor``).

Cost for n members and T topics with P partitions: n log n + n T + P.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.java import fits_plain, iteration_order
from assignment_api.streams.ids import utf16_key
from builtin_assignors._broker_consumer_steps import BrokerProblem, Target, Targets, partitions_of, sized_capacity

__all__ = ["assigned"]

_NO_METADATA = "Member is subscribed to a non-existent topic"


def assigned(problem: BrokerProblem) -> Targets:
    """Contiguous ranges; static members first, by instance id, then the others by member id."""
    members = _sorted_members(problem)
    targets: list[Target] = [()] * len(members)
    if problem.is_homogeneous:
        topics = problem.subscriptions[members[0]]
        slots = sized_capacity(len(topics))
        if fits_plain([problem.keys.hashes[topic] for topic in topics], slots):
            # Then the order of a map does not depend on the topics that a member lacks.
            topics = _map_order(problem, topics, slots)
            slots = 0
        rows = zip(*[_ranges(problem, topic, len(members)) for topic in topics], strict=True)
        for member, row in zip(members, rows, strict=False):
            taken = dict(zip(topics, row, strict=True))
            if not all(row):
                taken = {topic: numbers for topic, numbers in taken.items() if numbers}
            targets[member] = _in_map_order(problem, taken, slots) if slots else taken.items()
        return targets
    counts: dict[int, int] = {}
    for member in members:
        for topic in problem.subscriptions[member]:
            counts[topic] = counts.get(topic, 0) + 1
    ranges = {topic: iter(_ranges(problem, topic, count)) for topic, count in counts.items()}
    for member in members:
        topics = problem.subscriptions[member]
        # Kafka creates the map for the subscribed names, unknown ones included.
        slots = sized_capacity(problem.subscribed_sizes[member])
        taken = {topic: numbers for topic in topics if (numbers := next(ranges[topic]))}
        targets[member] = _in_map_order(problem, taken, slots)
    return targets


def _sorted_members(problem: BrokerProblem) -> list[int]:
    instances, ids = problem.instance_ids, problem.ids

    def key(member: int) -> tuple[bool, bytes]:
        instance = instances[member]
        return instance is None, utf16_key(ids[member] if instance is None else instance)

    # Members with one instance id keep the order of the coordinator's map.
    return sorted(range(len(ids)), key=key)


def _ranges(problem: BrokerProblem, topic: int, members: int) -> list[tuple[int, ...]]:
    """The partitions of each of the topic's subscribers; the first ones have one more."""
    count = partitions_of(problem, topic, _NO_METADATA)
    numbers = tuple(range(count))
    quota, extra = divmod(count, members)
    longer = extra * (quota + 1)
    return [
        *[numbers[first : first + quota + 1] for first in range(0, longer, quota + 1)],
        *([numbers[first : first + quota] for first in range(longer, count, quota)] if quota else ()),
        *([()] * (members - extra) if not quota else ()),
    ]


def _in_map_order(problem: BrokerProblem, taken: dict[int, tuple[int, ...]], slots: int) -> Target:
    if len(taken) <= 1:
        return taken.items()
    return [(topic, taken[topic]) for topic in _map_order(problem, [*taken], slots)]


def _map_order(problem: BrokerProblem, topics: Sequence[int], slots: int) -> list[int]:
    keys = problem.keys
    return iteration_order(topics, [keys.hashes[topic] for topic in topics], slots, keys.sort_keys.__getitem__)
