"""Promises of the assignment strategies, and their violations by one answer.

A difference from Java's answer is no fault. A violation counts only if Java's strategy keeps the promise for the same
group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from assignment_api.consumer import ConsumerGroupState, PartitionAssignment

__all__ = ["KEEPS_OWNERS", "PROMISES", "READS_JAVA", "STATIC", "STICKY", "Placed", "broken_promises"]

#: Members' partitions, as topic and number.
Placed = Mapping[str, frozenset[tuple[str, int]]]

STICKY = ("sticky", "cooperative-sticky")
KEEPS_OWNERS = "keeps owners"
READS_JAVA = "reads Java's members"
STATIC = "static"

#: Name of each promise, with a sentence about its violation.
PROMISES: Mapping[str, str] = {
    "answers": "The strategy fails with an exception.",
    "complete": "A partition with subscribers has no owner, and no member must give it up first.",
    "one owner": "A partition has two owners.",
    "subscribed": "A member owns a partition of a topic that it does not subscribe.",
    "even": "A member has at least two partitions less than another one, and could own some of them.",
    KEEPS_OWNERS: "More partitions leave their former owners than in Java's answer, which is as even.",
    READS_JAVA: "The same, only if the other members are Java's.",
    STATIC: "A static member returns with a new member id, and partitions move.",
}


def broken_promises(
    strategy: str,
    group: ConsumerGroupState,
    answer: PartitionAssignment | None,
    restarted: PartitionAssignment | None,
    java: PartitionAssignment,
    former: Placed,
) -> list[str]:
    """Names of the promises that an answer breaks and Java's answer keeps.

    Args:
        answer: ``None``: the strategy failed.
        restarted: The answer if all static members return under new ids, with the old ids; ``None``: not asked.
        java: Java's answer to ``group``.
        former: Former owners.
    """
    if answer is None:
        return ["answers"]
    placed, expected = _placed(answer), _placed(java)
    broken = [
        name
        for name, breaks in _CHECKS.items()
        if breaks(strategy, group, placed) and not breaks(strategy, group, expected)
    ]
    if strategy in STICKY and not broken and _kept(former, placed) < _kept(former, expected):
        broken.append(KEEPS_OWNERS)
    if restarted is not None and _placed(restarted) != placed:
        broken.append(STATIC)
    return broken


def _placed(answer: PartitionAssignment) -> Placed:
    return {
        member: frozenset([(topic, number) for topic, numbers in held.items() for number in numbers])
        for member, held in answer.members.items()
    }


def _kept(former: Placed, placed: Placed) -> int:
    return sum(len(held & placed.get(member, frozenset())) for member, held in former.items())


def _is_incomplete(strategy: str, group: ConsumerGroupState, placed: Placed) -> bool:
    owned = frozenset().union(*placed.values())
    held: set[tuple[str, int]] = set()
    if strategy == "cooperative-sticky":
        held = {
            (topic, each) for member in group.members.values() for topic, all_ in member.owned.items() for each in all_
        }
    subscribed = {topic for member in group.members.values() for topic in member.topics}
    return any(
        (name, number) not in owned and (name, number) not in held
        for name, topic in group.topics.items()
        if name in subscribed
        for number in range(topic.partitions)
    )


def _has_two_owners(_strategy: str, _group: ConsumerGroupState, placed: Placed) -> bool:
    owners = Counter(partition for held in placed.values() for partition in held)
    return any(count > 1 for count in owners.values())


def _is_unsubscribed(_strategy: str, group: ConsumerGroupState, placed: Placed) -> bool:
    return any(
        topic not in group.members[member].topics
        for member, held in placed.items()
        if member in group.members
        for topic, _ in held
    )


def _is_uneven(strategy: str, group: ConsumerGroupState, placed: Placed) -> bool:
    if strategy == "range":
        return any(_is_topic_uneven(group, placed, topic) for topic in group.topics)
    if strategy == "roundrobin" and len({frozenset(member.topics) for member in group.members.values()}) > 1:
        return False
    if strategy == "cooperative-sticky" and _is_incomplete("sticky", group, placed):
        # Partitions that move have no owner in this round.
        return False
    sizes = {member: len(placed.get(member, ())) for member in group.members}
    return any(
        sizes[poor] + 2 <= len(held) and any(topic in group.members[poor].topics for topic, _ in held)
        for poor in sizes
        for held in placed.values()
    )


def _is_topic_uneven(group: ConsumerGroupState, placed: Placed, topic: str) -> bool:
    sizes = [
        sum(name == topic for name, _ in placed.get(member, ()))
        for member, held in group.members.items()
        if topic in held.topics
    ]
    return bool(sizes) and max(sizes) - min(sizes) > 1


_CHECKS: Mapping[str, Callable[[str, ConsumerGroupState, Placed], bool]] = {
    "complete": _is_incomplete,
    "one owner": _has_two_owners,
    "subscribed": _is_unsubscribed,
    "even": _is_uneven,
}
