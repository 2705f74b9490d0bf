"""Homogeneous and heterogeneous share groups (Kafka: ``coordinator.group.assignor.SimpleAssignor``).

Cost for n members, T topics and P partitions: P + n, with unequal subscriptions P + n T. Members beyond 65,536 may come
in another order than in Kafka.
"""

from __future__ import annotations

from assignment_api.java import int32, iteration_order
from builtin_assignors._broker_consumer_steps import BrokerProblem, Previous, Targets, new_table_capacity, partitions_of
from builtin_assignors.share_simple.sharing import ChangedTargets, Partition, Sharing, shares

__all__ = ["assigned"]

_NO_METADATA = "Members are subscribed to topic {topic} which doesn't exist in the topic metadata."


def assigned(problem: BrokerProblem) -> Targets | None:
    """Even shares, with partitions shared by members if there are more members; ``None`` without topics."""
    return _of_equal_members(problem) if problem.is_homogeneous else _of_unequal_members(problem)


def _of_equal_members(problem: BrokerProblem) -> Targets | None:
    topics = problem.subscriptions[0]
    partitions = [partition for topic in topics for partition in _assignable(problem, topic)]
    if not problem.subscribed_sizes[0]:
        return None
    hashes = [31 * code for code in problem.keys.hashes]
    members = range(len(problem.ids))
    sharing, wanted = shares(members, len(partitions))
    targets = ChangedTargets(problem)
    state = Sharing(
        targets,
        lambda partition: int32(hashes[partition[0]] + partition[1]),
        sharing,
        wanted,
        new_table_capacity(len(partitions)),
    )
    subscribed = frozenset(topics)
    for member, previous in enumerate(targets.previous):
        noted = 0
        for topic, numbers in previous:
            if topic in subscribed:
                state.note(topic, numbers, member)
                noted += len(numbers)
            else:
                targets.of(member).drop(topic)
        if noted and noted >= wanted[member]:
            # Kafka copies the target of a member that reaches its number, and with it the order of its sets.
            targets.of(member)
    unfilled = {member for member in members if state.lacks(member)}
    state.drop_surplus()
    unfilled |= state.drop_sharers()
    state.add(partitions)
    state.fill(sorted(unfilled))
    return targets.in_order()


def _of_unequal_members(problem: BrokerProblem) -> Targets | None:
    subscribers: dict[int, list[int]] = {}
    for member, topics in enumerate(problem.subscriptions):
        for topic in topics:
            subscribers.setdefault(topic, []).append(member)
    if not subscribers:
        return None
    found = list(subscribers)
    keys = problem.keys
    order = iteration_order(found, [keys.hashes[topic] for topic in found], sort_key=keys.sort_keys.__getitem__)
    partitions = {topic: _assignable(problem, topic) for topic in order}
    targets = ChangedTargets(problem)
    held = _holders(targets.previous)
    for topic in order:
        members = subscribers[topic]
        sharing, wanted = shares(members, len(partitions[topic]))
        slots = new_table_capacity(len(partitions[topic]))
        state = Sharing(targets, lambda partition: partition[1], sharing, wanted, slots)
        for member, numbers in held.get(topic, ()):
            state.note(topic, numbers, member)
        state.drop_surplus()
        state.drop_sharers()
        state.add(partitions[topic])
        state.fill([member for member in members if state.lacks(member)])
    return targets.in_order()


def _holders(previous: list[Previous]) -> dict[int, list[tuple[int, list[int]]]]:
    held: dict[int, list[tuple[int, list[int]]]] = {}
    for member, topics in enumerate(previous):
        for topic, numbers in topics:
            held.setdefault(topic, []).append((member, [*numbers]))
    return held


def _assignable(problem: BrokerProblem, topic: int) -> list[Partition]:
    numbers = range(partitions_of(problem, topic, _NO_METADATA))
    if problem.assignable is None:
        return [(topic, number) for number in numbers]
    initialised = problem.assignable.get(topic, frozenset())
    return [(topic, number) for number in numbers if number in initialised]
