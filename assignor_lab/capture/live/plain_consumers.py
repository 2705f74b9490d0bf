"""Running groups of plain consumers, and share groups, as scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, TopicPartition
from assignor_lab.capture.recorded.consumer_group_answers import DescribedPartitionGroup
from assignor_lab.capture.recorded.consumer_members import ConsumerAnswer
from assignor_lab.capture.recorded.consumer_states import TopicFacts, consumer_document, lag_weights
from assignor_lab.documents.wording import plural
from assignor_lab.scenarios.settings import given_settings

__all__ = [
    "classic_consumer_document",
    "partition_group_document",
    "subscribed_topics",
    "unsettled_classic",
    "unsettled_group",
]

_MOST_NAMED = 3
_TARGETS = (
    "the previous targets of members are unknown to their description: the present ones stand for them, so the "
    "decision repeats itself until something changes"
)
_SHARED = "a share group's description has no targets: the members' present partitions stand for them"
_REGEX = "expressions of members are resolved by the broker: the topics that members have stand for the result"


def unsettled_classic(answer: ConsumerAnswer) -> str | None:
    """The reason why a stable group shows no whole decision at the moment, or ``None``."""
    if any(member.assignment is None for member in answer.members):
        return "not every member has been given its partitions"
    owned = {each for member in answer.members for each in member.subscription.owned}
    given = {each for member in answer.members if member.assignment for each in member.assignment.partitions}
    subscribed = {topic for member in answer.members for topic in member.subscription.topics}
    if {each for each in owned - given if each[0] in subscribed}:
        return "the owners of moving partitions have not released them yet"
    return None


def subscribed_topics(answer: ConsumerAnswer) -> list[str]:
    return sorted({topic for member in answer.members for topic in member.subscription.topics})


def classic_consumer_document(
    answer: ConsumerAnswer,
    cluster: ClusterAnswer,
    time_ms: int,
    lags: Mapping[TopicPartition, int],
    layers: Iterable[ConfigLayer] = (),
) -> dict[str, Any]:
    """The leader's input and answer in a group that is not :func:`unsettled_classic`.

    The group is at rest, so its eager members run what they were given.
    """
    reported = [member.subscription.generation for member in answer.members]
    known = [generation for generation in reported if generation is not None]
    identity = f"{answer.group}-at-{time_ms}"
    source: dict[str, Any] = {"time_ms": time_ms, "group": answer.group}
    facts = TopicFacts(_counts(cluster), _racks(cluster), is_complete=True)
    document = consumer_document(answer, identity, source, facts, given_settings(layers), before=answer)
    if known and any(member.instance_id for member in answer.members):
        document["assumptions"].append(
            "static members may have joined again since the decision: their reports are then newer than the leader's"
        )
    return _with_lags(document, lags)


def unsettled_group(group: DescribedPartitionGroup) -> str | None:
    """The reason why a group does not run its target at the moment, or ``None``."""
    if group.state != "Stable":
        return f"it is in state {group.state}"
    if any(_held(member.assignment) != _held(member.target) for member in group.members):
        return "members have not got all their partitions yet"
    return None


def partition_group_document(
    group: DescribedPartitionGroup,
    cluster: ClusterAnswer,
    time_ms: int,
    lags: Mapping[TopicPartition, int],
    layers: Iterable[ConfigLayer] = (),
) -> dict[str, Any]:
    """The scenario of a group of KIP-848, or of a share group."""
    assumptions = [_SHARED if group.is_share else _TARGETS]
    topics = _topics(group, cluster, assumptions)
    members = [
        {
            "id": each.id,
            "client_id": each.client_id,
            "instance_id": each.instance_id,
            "rack": each.rack,
            "topics": list(each.topics),
            **({} if group.is_share else {"regex": each.regex}),
            "assigned": _lists(each.target),
        }
        for each in group.members
    ]
    document: dict[str, Any] = {
        "format": 1,
        "kind": "share-group" if group.is_share else "consumer-group",
        "id": f"{group.group}-epoch-{group.epoch}",
        "topics": topics,
        "members": members,
    }
    if regexes := _regexes(group):
        document["regexes"] = regexes
        assumptions.append(_REGEX)
    if settings := given_settings(layers):
        document["settings"] = dict(sorted(settings.items()))
    document["observed"] = {
        "assignor": group.assignor,
        "members": {each.id: _lists(each.target) for each in group.members},
    }
    document["source"] = {
        "time_ms": time_ms, "group": group.group, "generation": group.epoch, "assignor": group.assignor,
    }  # fmt: skip
    return _with_lags({**document, "assumptions": assumptions}, lags)


def _topics(
    group: DescribedPartitionGroup, cluster: ClusterAnswer, assumptions: list[str]
) -> Sequence[Mapping[str, Any]]:
    """Subscribed and held topics, by name. The number of a hidden topic is that of the held partitions."""
    ids = {name: topic_id for topic_id, name in group.names.items()}
    ids |= {name: topic_id for name, topic_id in cluster.ids.items() if name not in ids}
    held: dict[str, int] = {}
    for member in group.members:
        for topic_id, numbers in member.target.items():
            held[topic_id] = max(held.get(topic_id, 0), *(number + 1 for number in numbers), 0)
    wanted = {topic for member in group.members for topic in member.topics} | set(group.names.values())
    hidden = sorted(name for name in wanted if name not in cluster.topics and ids.get(name) in held)
    if hidden:
        assumptions.append(
            f"{plural(len(hidden), 'topic')} ({', '.join(hidden[:_MOST_NAMED])}) may not be described (DESCRIBE on "
            "them is needed): their partitions are those that members have"
        )
    unknown = sorted(name for name in wanted if name not in ids)
    if unknown:
        assumptions.append(
            f"{plural(len(unknown), 'subscribed topic')} ({', '.join(unknown[:_MOST_NAMED])}) do not exist, or may "
            "not be described"
        )
    counts = _counts(cluster)
    return [
        {"id": ids[name], "name": name, "partitions": counts.get(name, held.get(ids[name], 0))}
        for name in sorted(wanted)
        if name in ids
    ]


def _regexes(group: DescribedPartitionGroup) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for member in group.members:
        if member.regex is not None:
            found.setdefault(member.regex, set()).update(group.names[each] for each in member.target)
    return {regex: sorted(names) for regex, names in sorted(found.items())}


def _counts(cluster: ClusterAnswer) -> dict[str, int]:
    return {name: max(partitions, default=-1) + 1 for name, partitions in cluster.topics.items()}


def _racks(cluster: ClusterAnswer) -> dict[str, list[list[str | None]]]:
    """Topic to the racks of each partition; empty if no broker has a rack."""
    if not any(cluster.racks.values()):
        return {}
    return {
        name: [[cluster.racks.get(broker) for broker in partitions[number]] for number in sorted(partitions)]
        for name, partitions in cluster.topics.items()
    }


def _with_lags(document: dict[str, Any], lags: Mapping[TopicPartition, int]) -> dict[str, Any]:
    names = {topic["name"] for topic in document["topics"]}
    known = {each: lag for each, lag in lags.items() if each[0] in names}
    if not known:
        document["assumptions"].append("no offset is committed or visible: lags are unknown")
        return document
    document["workload"] = {"partitions": lag_weights(known)}
    return document


def _lists(held: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    return {topic: list(numbers) for topic, numbers in held.items()}


def _held(held: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    return {topic: sorted(numbers) for topic, numbers in held.items() if numbers}
