"""A running streams group (KIP-1071) as a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.live.errors import GroupUnusableError
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, TopicPartition
from assignor_lab.capture.recorded.sampled_topics import subtopology_weights
from assignor_lab.capture.recorded.streams_group_answers import (
    DescribedMember,
    DescribedStreamsGroup,
    DescribedSubtopology,
    HeldTasks,
)
from assignor_lab.documents.wording import plural
from assignor_lab.scenarios.settings import group_settings, with_given

__all__ = ["streams_group_document", "unsettled"]

_STANDBYS = "num.standby.replicas"
_GROUP_STANDBYS = f"streams.{_STANDBYS}"


def unsettled(group: DescribedStreamsGroup) -> str | None:
    """The reason why a group does not run its target assignment at the moment."""
    if group.state != "Stable":
        return f"it is in state {group.state}"
    if any(member.assignment != member.target for member in group.members):
        return "members have not got all their tasks yet"
    return None


def streams_group_document(
    group: DescribedStreamsGroup,
    cluster: ClusterAnswer,
    time_ms: int,
    config: Mapping[str, str],
    layers: Iterable[ConfigLayer] = (),
    ends: Mapping[TopicPartition, int] | None = None,
    sizes: Mapping[TopicPartition, int] | None = None,
) -> dict[str, Any]:
    """The scenario of one group.

    Args:
        config: At brokers; empty if unknown.
        sizes: Bytes on the brokers' disks.
    """
    assumptions: list[str] = []
    document: dict[str, Any] = {
        "format": 1,
        "kind": "streams-group",
        "id": f"{group.group}-epoch-{group.epoch}",
        "config": _config(group, config, assumptions),
        "subtopologies": [_subtopology(group, each, cluster) for each in group.subtopologies],
        "members": [_member(member) for member in group.members],
        "observed": {"members": {member.id: _held(member.target) for member in group.members}},
        "source": {"time_ms": time_ms, "group": group.group, "generation": group.epoch},
        "assumptions": [*assumptions, *_say_what_is_missing(group)],
    }
    counts = {each["id"]: each["tasks"] for each in document["subtopologies"]}
    if weights := subtopology_weights(group.subtopologies, counts, ends or {}, sizes or {}, {}):
        document["workload"] = {"tasks": weights}
    return with_given(document, group_settings(config), layers)


def _config(group: DescribedStreamsGroup, settings: Mapping[str, str], assumptions: list[str]) -> dict[str, Any]:
    if settings.get(_GROUP_STANDBYS, "").isdecimal():
        return {_STANDBYS: int(settings[_GROUP_STANDBYS])}
    copies: dict[tuple[str, int], int] = {}
    for member in group.members:
        for subtopology, partitions in member.target.standby.items():
            for number in partitions:
                copies[subtopology, number] = copies.get((subtopology, number), 0) + 1
    most = max(copies.values(), default=0)
    assumptions.append(
        f"{_GROUP_STANDBYS} of the group is unknown (DESCRIBE_CONFIGS on the group is needed): taken as {most}, "
        "as many as tasks have"
    )
    return {_STANDBYS: most}


def _subtopology(group: DescribedStreamsGroup, each: DescribedSubtopology, cluster: ClusterAnswer) -> dict[str, Any]:
    missing = [name for name in each.sources if name not in cluster.topics]
    if missing:
        raise GroupUnusableError(
            f"group {group.group}: topic {missing[0]} is not there, or may not be seen (DESCRIBE on it is needed): "
            f"how many tasks sub-topology {each.id} has is unknown"
        )
    tasks = max((max(cluster.topics[name], default=-1) + 1 for name in each.sources), default=0)
    return {"id": each.id, "tasks": tasks, "stateful": bool(each.changelogs or each.stores)}


def _member(member: DescribedMember) -> dict[str, Any]:
    return {
        "id": member.id,
        "client_id": member.client_id,
        "instance_id": member.instance_id,
        "rack": member.rack,
        "process_id": member.process_id,
        "tags": dict(member.tags),
        **_held(member.assignment),
        "task_offsets": _by_text(member.task_offsets),
        "task_end_offsets": _by_text(member.task_end_offsets),
    }


def _held(held: HeldTasks) -> dict[str, dict[str, list[int]]]:
    kinds = {"active": held.active, "standby": held.standby, "warmup": held.warmup}
    return {
        kind: {subtopology: sorted(numbers) for subtopology, numbers in tasks.items() if numbers}
        for kind, tasks in kinds.items()
    }


def _by_text(offsets: Mapping[str, Mapping[int, int]]) -> dict[str, dict[str, int]]:
    return {key: {str(number): offset for number, offset in of.items()} for key, of in offsets.items()}


def _say_what_is_missing(group: DescribedStreamsGroup) -> list[str]:
    sentences = [
        "the previous tasks of members are unknown: their present tasks stand for them, as at the start of a rebalance"
    ]
    if not any(member.task_offsets for member in group.members):
        sentences.append("members report no offsets (clients before 4.4): how far standbys are is unknown")
    if group.has_pushed_topology:
        stores = sum(len(each.stores) for each in group.subtopologies)
        sentences.append(
            f"the topology is that of the members, which pushed it to the brokers (KIP-1331): {plural(stores, 'store')}"
        )
    if group.assignor is not None:
        sentences.append(f"the brokers' assignor is {group.assignor}")
    return sentences
