"""Contiguous ranges of each topic (Kafka: ``coordinator.group.assignor.RangeAssignor``).

Cost for n members and T topics with P partitions: n log n + n T + P.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.java import fits_plain, iteration_order
from assignment_api.streams.ids import utf16_key
from builtin_assignors._broker_consumer_steps import BrokerProblem, Previous, Targets, partitions_of, sized_capacity

__all__ = ["assigned"]

_NO_METADATA = "Member is subscribed to a non-existent topic"


def assigned(problem: BrokerProblem) -> Targets:
    """Contiguous ranges; static members first, by instance id, then the others by member id."""
    members = _sorted_members(problem)
    targets: list[Previous] = [()] * len(members)
    if problem.is_homogeneous:
        topics = problem.subscriptions[members[0]]
        slots = sized_capacity(len(topics))
        if fits_plain([problem.keys.hashes[topic] for topic in topics], slots):
            # Then the order of a map does not depend on the topics that a member lacks.
            topics = _map_order(problem, topics, slots)
            slots = 0
        columns = [_ranges(problem, topic, len(members)) for topic in topics]
        for place, member in enumerate(members):
            targets[member] = _taken(problem, topics, [column[place] for column in columns], slots)
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
        targets[member] = _taken(problem, topics, [next(ranges[topic]) for topic in topics], slots)
    return targets


def _sorted_members(problem: BrokerProblem) -> list[int]:
    instances, ids = problem.instance_ids, problem.ids

    def key(member: int) -> tuple[bool, bytes]:
        instance = instances[member]
        return instance is None, utf16_key(ids[member] if instance is None else instance)

    # Members with one instance id keep the order of the coordinator's map.
    return sorted(range(len(ids)), key=key)


def _ranges(problem: BrokerProblem, topic: int, members: int) -> list[range]:
    """The ranges of the topic's subscribers; the first ones have one more."""
    quota, extra = divmod(partitions_of(problem, topic, _NO_METADATA), members)
    bounds = [quota * member + min(member, extra) for member in range(members + 1)]
    return list(map(range, bounds, bounds[1:]))


def _taken(problem: BrokerProblem, topics: Sequence[int], ranges: Sequence[range], slots: int) -> Previous:
    """Topics with their ranges, in the order of a map of ``slots``; 0: as they are."""
    found = {topic: numbers for topic, numbers in zip(topics, ranges, strict=True) if numbers}
    if not slots or len(found) <= 1:
        return [*found.items()]
    return [(topic, found[topic]) for topic in _map_order(problem, [*found], slots)]


def _map_order(problem: BrokerProblem, topics: Sequence[int], slots: int) -> list[int]:
    keys = problem.keys
    return iteration_order(topics, [keys.hashes[topic] for topic in topics], slots, keys.sort_keys.__getitem__)
