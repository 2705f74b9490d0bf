"""Rules that explain the places of partitions in an answer for plain consumers, from the state and the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from assignment_api.consumer import ConsumerGroupState, PartitionAssignment, SubscribedGroup
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._rule_texts import RULE_TEXTS

__all__ = ["traced_deal", "traced_keeping", "traced_ranges", "traced_targets"]

_Group = ConsumerGroupState | SubscribedGroup
#: Member to topic (as in answers) to partitions.
_Held = Mapping[str, Mapping[str, Sequence[int]]]


def traced_ranges(
    group: _Group, answer: PartitionAssignment, racks: Mapping[str, Sequence[Sequence[str | None]]] | None = None
) -> Traced[PartitionAssignment]:
    """Contiguous ranges.

    Args:
        racks: Of the replicas, by topic and partition, if they decide.
    """
    steps = []
    subscribers = Counter(topic for each in group.members for topic in dict.fromkeys(_listed(group, each)))
    for topic, number, member in _places(answer):
        count = group.topics[topic].partitions or 0
        members = subscribers[topic]
        each, extra = divmod(count, max(1, members))
        rack = group.members[member].rack_id
        task = f"{_name(group, topic)}-{number}"
        if racks is not None and rack and topic in racks and rack in racks[topic][number]:
            text = f"{{0}} is in rack {rack} of a replica; a member gets {each} or {each + 1} of {count} partitions"
            steps.append(RuleStep("cr-rack", task, text, (member,)))
            continue
        shares = f"the first {extra} of {members} members get {each + 1}" if extra else f"each of {members} gets {each}"
        text = f"{count} partitions are cut into ranges in the order of the members: {shares}; it falls to {{0}}"
        steps.append(RuleStep("cr-range", task, text, (member,)))
    return Traced(answer, steps, RULE_TEXTS)


def traced_deal(group: _Group, answer: PartitionAssignment) -> Traced[PartitionAssignment]:
    """Round robin."""
    text = (
        "the partitions of all topics are dealt in turn to the members that subscribe them, in the order of the "
        "members, regardless of former owners: it falls to {0}"
    )
    steps = [
        RuleStep("rr-deal", f"{_name(group, topic)}-{number}", text, (member,))
        for topic, number, member in _places(answer)
    ]
    return Traced(answer, steps, RULE_TEXTS)


def traced_targets(group: SubscribedGroup, answer: PartitionAssignment) -> Traced[PartitionAssignment]:
    """Broker side: former owners are those of the previous targets."""
    return traced_keeping(group, answer, {member: held.assigned for member, held in group.members.items()})


def traced_keeping(
    group: _Group, answer: PartitionAssignment, before: _Held, *, is_cooperative: bool = False
) -> Traced[PartitionAssignment]:
    """Strategies that keep former owners.

    Args:
        before: As members report it, by member.
    """
    had: dict[tuple[str, int], list[str]] = {}
    for member, held in before.items():
        for topic, numbers in held.items():
            for number in dict.fromkeys(numbers):
                had.setdefault((topic, number), []).append(member)
    sizes = {member: sum(map(len, held.values())) for member, held in answer.members.items()}
    steps = []
    placed = set()
    for topic, number, member in _places(answer):
        placed.add((topic, number))
        task, owners = f"{_name(group, topic)}-{number}", had.get((topic, number), [])
        if member in owners:
            text = f"{{0}} had it and keeps it; it has {sizes[member]} partitions now"
            steps.append(RuleStep("cs-keep", task, text, (member,)))
        elif owners:
            text = f"{{1}} had it, and has {sizes.get(owners[0], 0)} partitions now; {{0}} had room and gets it"
            steps.append(RuleStep("cs-move", task, text, (member, owners[0])))
        else:
            text = "no present member had it; {0} had room and gets it"
            steps.append(RuleStep("cs-fill", task, text, (member,)))
    for (topic, number), owners in had.items() if is_cooperative else ():
        if topic in group.topics and (topic, number) not in placed and number < (group.topics[topic].partitions or 0):
            text = "{0} had it and must release it first: the next rebalance places it"
            steps.append(RuleStep("cs-wait", f"{_name(group, topic)}-{number}", text, (owners[0],)))
    return Traced(answer, steps, RULE_TEXTS)


def _places(answer: PartitionAssignment) -> Iterator[tuple[str, int, str]]:
    for member, held in answer.members.items():
        for topic, numbers in held.items():
            yield from ((topic, number, member) for number in numbers)


def _name(group: _Group, topic: str) -> str:
    return group.topics[topic].name if topic in group.topics else topic


def _listed(group: _Group, member: str) -> Sequence[str]:
    if isinstance(group, SubscribedGroup):
        return group.subscribed_topic_ids(group.members[member])
    return group.members[member].topics
