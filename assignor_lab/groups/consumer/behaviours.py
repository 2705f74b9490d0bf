"""Behaviours of Kafka that an answer to a consumer group shows, as remarks (docs, "Known behaviours of Kafka")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from assignor_lab.documents.wording import plural
from assignor_lab.groups.consumer.placement import PartitionPlacement, placement_of
from assignor_lab.groups.consumer.rounds import AppliedAssignment

__all__ = ["remarks_of"]

_STICKY = ("consumer_sticky", "consumer_cooperative_sticky")
_MOST_NAMED = 3
#: Members times partitions from which unequal subscriptions are slow: Java needs 20 s for 1,000 x 100,000.
_MANY = 1_000_000


def remarks_of(answer: AppliedAssignment) -> list[str]:
    """Sentences on an answer; none for a recorded one."""
    return [] if answer.state is None else list(_remarks(answer, placement_of(answer.state, answer)))


def _uneven(answer: AppliedAssignment, placement: PartitionPlacement) -> Iterator[str]:
    """Topics with uneven shares, though each member has as many partitions in all as any other."""
    state = placement.state
    if answer.assignor not in _STICKY or state.is_shared or placement.any_waits:
        return
    if len(set(state.subscribers)) != 1 or max(placement.held) - min(placement.held) > 1:
        return
    shares = Counter(
        (state.topic_of[partition], member) for partition, owners in enumerate(placement.owners) for member in owners
    )
    most: dict[int, int] = {}
    least: dict[int, int] = {}
    having = Counter(topic for topic, _ in shares)
    for (topic, _), count in shares.items():
        most[topic] = max(most.get(topic, 0), count)
        least[topic] = min(least.get(topic, count), count)
    found: list[tuple[int, str]] = []
    for topic, high in most.items():
        low = least[topic] if having[topic] == len(state.subscribers[topic]) else 0
        if high - low > 1:
            found.append((low - high, f"{state.names[topic]} ({low} to {high})"))
    if found:
        named = ", ".join(name for _, name in sorted(found)[:_MOST_NAMED])
        yield (
            f"{plural(len(found), 'topic')} with uneven shares of members: {named}: the sticky strategies balance the "
            "sum over topics, not each topic"
        )


def _remarks(answer: AppliedAssignment, placement: PartitionPlacement) -> Iterator[str]:
    state = placement.state
    if placement.not_subscribed:
        yield (
            f"{plural(placement.not_subscribed, 'partition')} with a member that does not subscribe the topic: "
            "it joins again at once"
        )
    gone = sum(
        not 0 <= number < (state.group.topics[key].partitions or 0)
        for held in answer.assignment.members.values()
        for key, numbers in held.items()
        if key in state.group.topics
        for number in numbers
    )
    if gone:
        yield f"{plural(gone, 'partition')} that no longer exist stay assigned; others may have two owners or none"
    shared = [] if state.is_shared else [each for each in placement.owners if len(each) > 1]
    if shared:
        yield f"{plural(len(shared), 'partition')} with two owners: records are processed twice"
    racks = state.racks
    if answer.assignor in _STICKY and racks is not None and any(state.rack):
        far = sum(
            state.rack[member] is not None and state.rack[member] not in racks[partition]
            for partition, owners in enumerate(placement.owners)
            for member in owners
        )
        if far:
            yield (
                f"{plural(far, 'partition')} with a member in another rack: the sticky assignors take them away in "
                "every rebalance"
            )
    yield from _uneven(answer, placement)
    if answer.assignor in _STICKY and len(set(state.subscribers)) > 1:
        work = len(state.members) * state.partitions
        if work >= _MANY:
            yield (
                f"members differ in their topics: sticky compares every pair of {plural(len(state.members), 'member')} "
                f"over {plural(state.partitions, 'partition')}, which can take longer than the rebalance timeout"
            )
    subscribed = frozenset[int]().union(*state.subscribers)
    silent = [name for number, name in enumerate(state.members) if number not in subscribed]
    if silent:
        yield f"{plural(len(silent), 'member')} without a subscribed topic that exists: {', '.join(silent)[:120]}"
