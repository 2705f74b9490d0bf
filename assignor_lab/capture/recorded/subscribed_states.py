"""Scenarios of kinds ``consumer-group`` and ``share-group`` from recorded epochs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.recorded.subscribed_epochs import SubscribedEpoch
from assignor_lab.capture.recorded.subscribed_group_records import HeldPartitions
from assignor_lab.documents.wording import plural
from assignor_lab.scenarios.settings import Settings

__all__ = ["subscribed_document", "topic_names"]

_MOST_NAMED = 3
_UNIFORM, _SIMPLE = "uniform", "simple"
_NOT_KNOWN = (
    "the previous targets are in no record: the recording begins later than the group, and has no decision here"
)


def topic_names(group: str, epochs: Sequence[SubscribedEpoch], ids: Mapping[str, str]) -> dict[str, str]:
    """Topic id to name, of all epochs.

    Args:
        ids: Topic to its id, from the cluster.

    Raises:
        HistoryError: if a topic's name is in no source. Two unknown ones cannot be told apart.
    """
    found = {topic_id: name for name, topic_id in ids.items()}
    for epoch in epochs:
        found |= {topic.id: topic.name for topic in epoch.topics}
    held = {topic for epoch in epochs for each in epoch.members.values() for topic in each.target}
    unknown = sorted(held - found.keys())
    wanted = {name for epoch in epochs for name in _wanted(epoch)}
    nameless = sorted(wanted - set(found.values()))
    if len(unknown) == 1 and len(nameless) == 1:
        found[unknown[0]] = nameless[0]
    elif unknown:
        raise HistoryError(
            f"group {group}: records have ids of topics, and the names of {plural(len(unknown), 'id')} "
            f"({', '.join(unknown[:_MOST_NAMED])}) are in no file: record from brokers (--bootstrap-server), or put "
            "topic_ids into brokers.json beside the records"
        )
    return found


def subscribed_document(
    group: str,
    epoch: SubscribedEpoch,
    names: Mapping[str, str],
    source: Mapping[str, Any],
    settings: Settings | None = None,
) -> dict[str, Any]:
    """The coordinator's input and answer."""
    is_share = epoch.is_share
    assignor = _SIMPLE if is_share else _assignor(epoch)
    wanted = set(_wanted(epoch))
    counts = _counts(epoch)
    topics = [
        {"id": topic_id, "name": name, "partitions": counts.get(topic_id, 0)}
        for topic_id, name in sorted(names.items(), key=lambda pair: pair[1])
        if topic_id in counts and (name in wanted or topic_id in _held(epoch))
    ]
    document: dict[str, Any] = {
        "format": 1,
        "kind": "share-group" if is_share else "consumer-group",
        "id": f"{group}-epoch-{epoch.number}",
        "topics": topics,
        "members": [
            {
                "id": name,
                "client_id": each.record.client_id,
                "instance_id": each.record.instance_id,
                "rack": each.record.rack,
                "topics": list(each.record.topics),
                **({} if is_share else {"regex": each.record.regex}),
                "assigned": _lists(each.before),
            }
            for name, each in epoch.members.items()
        ],
    }
    if is_share and epoch.initialized is not None:
        document["assignable"] = _lists(epoch.initialized)
    used = {each.record.regex for each in epoch.members.values()}
    if expressions := {regex: list(of) for regex, of in sorted(epoch.expressions.items()) if regex in used}:
        document["regexes"] = expressions
    if settings:
        document["settings"] = dict(sorted(settings.items()))
    if epoch.is_known:
        document["observed"] = {
            "assignor": assignor,
            "members": {name: _lists(each.target) for name, each in epoch.members.items()},
        }
    document["source"] = {
        **source, "time_ms": epoch.time_ms, "group": group, "generation": epoch.number, "assignor": assignor,
    }  # fmt: skip
    document["assumptions"] = [] if epoch.is_known else [_NOT_KNOWN]
    return document


def _assignor(epoch: SubscribedEpoch) -> str:
    """The assignor that most members want; without a wish, the brokers' first one."""
    wanted = Counter(each.record.assignor for each in epoch.members.values() if each.record.assignor)
    return wanted.most_common(1)[0][0] or _UNIFORM if wanted else _UNIFORM


def _wanted(epoch: SubscribedEpoch) -> Iterable[str]:
    for each in epoch.members.values():
        yield from each.record.topics
        if each.record.regex is not None:
            yield from epoch.expressions.get(each.record.regex, ())


def _held(epoch: SubscribedEpoch) -> frozenset[str]:
    return frozenset(topic for each in epoch.members.values() for topic in (*each.target, *each.before))


def _counts(epoch: SubscribedEpoch) -> dict[str, int]:
    """Topic id to its number of partitions: of the records, else of the targets, which hold all partitions."""
    found: dict[str, int] = {}
    for each in epoch.members.values():
        for topic, numbers in each.target.items():
            found[topic] = max(found.get(topic, 0), max(numbers, default=-1) + 1)
    return found | {topic.id: topic.partitions for topic in epoch.topics}


def _lists(held: HeldPartitions) -> dict[str, list[int]]:
    return {topic: list(numbers) for topic, numbers in held.items()}
