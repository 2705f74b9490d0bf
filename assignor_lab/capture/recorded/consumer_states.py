"""Scenarios of kind ``consumer`` from the bytes of a generation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.capture.recorded.consumer_members import ConsumerAnswer, ConsumerMember
from assignor_lab.documents.wording import plural
from assignor_lab.scenarios.settings import Settings

__all__ = ["COOPERATIVE", "RACKS_OF_TOPICS", "TopicFacts", "consumer_document", "known_partitions", "lag_weights"]

_MOST_NAMED = 3
#: Kafka's strategies under which members keep partitions during a rebalance.
COOPERATIVE = ("cooperative-sticky",)
RACKS_OF_TOPICS = (
    "members have racks, and the racks of the topics' replicas are unknown: range and the sticky assignors decide as "
    "without racks (give them with --racks)"
)


@attrs.frozen
class TopicFacts:
    """Facts about topics that no member reports.

    Args:
        partitions: Topic to its number of partitions.
        racks: Topic to the racks of the replicas of each partition.
        is_complete: True if ``partitions`` has every topic that the reader may describe.
    """

    partitions: Mapping[str, int] = attrs.field(factory=dict)
    racks: Mapping[str, Sequence[Sequence[str | None]]] = attrs.field(factory=dict)
    is_complete: bool = False


def consumer_document(
    answer: ConsumerAnswer,
    identity: str,
    source: Mapping[str, Any],
    facts: TopicFacts,
    settings: Settings | None = None,
    notes: Iterable[str] = (),
    before: ConsumerAnswer | None = None,
) -> dict[str, Any]:
    """The leader's input and answer; its topics are those that the members subscribe or have.

    Args:
        before: The decision before, which shows the partitions that eager members ran until the rebalance.
    """
    assumptions = [*notes]
    topics = _topics(answer, facts, assumptions)
    has_racks = any(member.subscription.rack for member in answer.members)
    racks = {name: facts.racks[name] for name in topics if name in facts.racks}
    if has_racks and not racks:
        assumptions.append(RACKS_OF_TOPICS)
    ran = {} if before is None else _ran(answer, before)
    document: dict[str, Any] = {
        "format": 1,
        "kind": "consumer",
        "id": identity,
        "topics": [
            {"name": name, "partitions": count, "racks": _padded(racks.get(name), count)}
            for name, count in topics.items()
        ],
        "members": [{**_member(member), **ran.get(member.member_id, {})} for member in answer.members],
    }
    if settings:
        document["settings"] = dict(sorted(settings.items()))
    if all(member.assignment is not None for member in answer.members):
        document["observed"] = {
            "assignor": answer.strategy,
            "members": {member.member_id: _by_topic(_assigned(member)) for member in answer.members},
        }
    return {**document, "source": {**source, "assignor": answer.strategy}, "assumptions": assumptions}


def known_partitions(answers: Iterable[ConsumerAnswer]) -> dict[str, int]:
    """Topic to its number of partitions, as far as members have or report them."""
    found: dict[str, int] = {}
    for answer in answers:
        for member in answer.members:
            for topic, number in (*_assigned(member), *member.subscription.owned):
                found[topic] = max(found.get(topic, 0), number + 1)
    return found


def lag_weights(lags: Mapping[tuple[str, int], int]) -> dict[str, dict[str, dict[str, int]]]:
    """Lags of partitions as ``workload.partitions``."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for (topic, number), lag in sorted(lags.items()):
        found.setdefault(topic, {})[str(number)] = {"lag": max(0, lag)}
    return found


def _topics(answer: ConsumerAnswer, facts: TopicFacts, assumptions: list[str]) -> dict[str, int]:
    """Topics with partitions, by name. The leader may have seen fewer partitions than there are now."""
    subscribed = {topic for member in answer.members for topic in member.subscription.topics}
    assigned: dict[str, int] = {}
    for member in answer.members:
        for topic, number in _assigned(member):
            assigned[topic] = max(assigned.get(topic, 0), number + 1)
    shared = known_partitions([answer])
    hidden = sorted(topic for topic in subscribed - facts.partitions.keys() if topic in assigned)
    if facts.is_complete and hidden:
        assumptions.append(
            f"{plural(len(hidden), 'topic')} ({_some(hidden)}) may not be described (DESCRIBE on them is needed): "
            "their partitions are those that members have"
        )
    unknown = sorted(topic for topic in subscribed - facts.partitions.keys() if topic not in assigned)
    if unknown:
        assumptions.append(
            f"{plural(len(unknown), 'subscribed topic')} ({_some(unknown)}) had no partition with an owner: they do "
            "not exist, or they may not be described"
        )
    found: dict[str, int] = {}
    for topic in sorted(subscribed | assigned.keys()):
        there = facts.partitions.get(topic)
        if topic in assigned:
            found[topic] = min(shared[topic], there) if there is not None else shared[topic]
            found[topic] = max(found[topic], assigned[topic])
            if facts.is_complete and there is not None and there > found[topic]:
                assumptions.append(
                    f"topic {topic} has {there} partitions, and the leader shared {found[topic]} of them: it has not "
                    "seen the others yet"
                )
        elif there is not None and topic in subscribed and facts.is_complete:
            found[topic] = there
    return found


def _padded(racks: Sequence[Sequence[str | None]] | None, count: int) -> list[list[str | None]] | None:
    if racks is None:
        return None
    return [list(racks[number]) if number < len(racks) else [] for number in range(count)]


def _member(member: ConsumerMember) -> dict[str, Any]:
    subscription = member.subscription
    return {
        "id": member.member_id,
        "client_id": member.client_id,
        "instance_id": member.instance_id,
        "rack": subscription.rack,
        "topics": list(subscription.topics),
        "owned": _by_topic(subscription.owned),
        "generation": subscription.generation,
        "user_data": None if subscription.user_data is None else subscription.user_data.hex(),
    }


def _ran(answer: ConsumerAnswer, before: ConsumerAnswer) -> dict[str, dict[str, Any]]:
    """Eager members give up all partitions before they join, so they report none; cooperative ones report theirs."""
    if answer.strategy in COOPERATIVE or any(member.subscription.owned for member in answer.members):
        return {}
    held = {member.member_id: _by_topic(_assigned(member)) for member in before.members}
    return {member.member_id: {"ran": held.get(member.member_id, {})} for member in answer.members}


def _assigned(member: ConsumerMember) -> Sequence[tuple[str, int]]:
    return () if member.assignment is None else member.assignment.partitions


def _by_topic(partitions: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, number in partitions:
        found.setdefault(topic, []).append(number)
    return found


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
