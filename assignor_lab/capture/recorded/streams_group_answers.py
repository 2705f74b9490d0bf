"""Responses to StreamsGroupDescribe (KIP-1071), as values.

Needs the extra ``kafka``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignor_lab.capture.recorded.errors import BrokerAnswerError, readable

__all__ = [
    "DescribedMember",
    "DescribedStreamsGroup",
    "DescribedSubtopology",
    "HeldTasks",
    "read_streams_group_answer",
    "streams_group_answers",
    "streams_group_messages",
]

#: 1 is of Kafka 4.4.
_VERSIONS = (0, 1)
_WHAT = "StreamsGroupDescribe answer"


@attrs.frozen
class DescribedSubtopology:
    """One sub-topology of a streams group.

    Args:
        sources: With repartition topics.
        repartition_sources: The ``sources`` that the application itself writes.
        internal_partitions: Requested numbers of partitions; 0 if the sources decide.
        stores: Also those without a changelog; only in a topology that members pushed to the brokers.
    """

    id: str
    sources: tuple[str, ...]
    changelogs: tuple[str, ...]
    repartition_sources: tuple[str, ...]
    internal_partitions: Mapping[str, int] = attrs.field(factory=dict)
    stores: tuple[str, ...] = ()


@attrs.frozen
class HeldTasks:
    """Tasks of a member: sub-topology to partitions in the order of the response."""

    active: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)
    standby: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)
    warmup: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)


@attrs.frozen
class DescribedMember:
    """One member of a streams group.

    Args:
        task_offsets: Sub-topology to partition to offset sum; empty from clients before 4.4.
        is_classic: True if it still has the classic protocol.
    """

    id: str
    client_id: str
    process_id: str
    instance_id: str | None = None
    rack: str | None = None
    tags: Mapping[str, str] = attrs.field(factory=dict)
    epoch: int = 0
    topology_epoch: int = 0
    assignment: HeldTasks = attrs.field(factory=HeldTasks)
    target: HeldTasks = attrs.field(factory=HeldTasks)
    task_offsets: Mapping[str, Mapping[int, int]] = attrs.field(factory=dict)
    task_end_offsets: Mapping[str, Mapping[int, int]] = attrs.field(factory=dict)
    is_classic: bool = False


@attrs.frozen
class DescribedStreamsGroup:
    """One group of a response.

    Args:
        assignor: Of the next decision; ``None`` from brokers before 4.4.
        error_code: 0, or the reason for a missing description.
        has_pushed_topology: Its members pushed their topology to the brokers (KIP-1331).
    """

    group: str
    state: str
    subtopologies: tuple[DescribedSubtopology, ...]
    members: tuple[DescribedMember, ...]
    epoch: int = 0
    assignment_epoch: int = 0
    assignor: str | None = None
    error_code: int = 0
    has_pushed_topology: bool = False


def read_streams_group_answer(data: bytes, version: int = 0) -> list[DescribedStreamsGroup]:
    """Leaves out groups with an error."""
    if version not in _VERSIONS:
        raise BrokerAnswerError(_WHAT, f"version {version} is not known here, 0 and 1 are")
    with readable(_WHAT):
        message = streams_group_messages()[1].decode(data, version=version, header=True)
    return [each for each in streams_group_answers(message) if not each.error_code]


def streams_group_answers(message: Any) -> list[DescribedStreamsGroup]:
    """Includes groups with an error."""
    with readable(_WHAT):
        return [_group(each) for each in message.groups]


def streams_group_messages() -> tuple[Any, Any]:
    """kafka-python lacks these."""
    if not _LAYOUTS:
        from kafka.protocol.api_message import ApiMessage

        # kafka-python derives the layout from the class name, and the response's class from the key.
        class StreamsGroupDescribeRequest(ApiMessage, load_json=f"{__package__}.schemas"):  # type: ignore[misc, call-arg]
            """The request."""

        class StreamsGroupDescribeResponse(ApiMessage, load_json=f"{__package__}.schemas"):  # type: ignore[misc, call-arg]
            """The answer."""

        _LAYOUTS.append((StreamsGroupDescribeRequest, StreamsGroupDescribeResponse))
    return _LAYOUTS[0]


_LAYOUTS: list[tuple[Any, Any]] = []


def _group(group: Any) -> DescribedStreamsGroup:
    topology = () if group.topology is None else group.topology.subtopologies or ()
    pushed = getattr(group, "topology_description", None)
    stores = {
        str(each.subtopology_id): tuple(sorted({str(name) for node in each.nodes for name in node.stores}))
        for each in ([] if pushed is None else pushed.subtopologies)
    }
    return DescribedStreamsGroup(
        str(group.group_id),
        str(group.group_state),
        tuple(_subtopology(each, stores.get(str(each.subtopology_id), ())) for each in topology),
        tuple(_member(each) for each in group.members),
        int(group.group_epoch),
        int(group.assignment_epoch),
        getattr(group, "assignor_name", None) or None,
        int(group.error_code),
        pushed is not None,
    )


def _member(member: Any) -> DescribedMember:
    return DescribedMember(
        str(member.member_id),
        str(member.client_id),
        str(member.process_id),
        member.instance_id,
        member.rack_id,
        {str(tag.key): str(tag.value) for tag in member.client_tags},
        int(member.member_epoch),
        int(member.topology_epoch),
        _held(member.assignment),
        _held(member.target_assignment),
        _offsets(member.task_offsets),
        _offsets(member.task_end_offsets),
        bool(member.is_classic),
    )


def _held(assignment: Any) -> HeldTasks:
    return HeldTasks(_tasks(assignment.active_tasks), _tasks(assignment.standby_tasks), _tasks(assignment.warmup_tasks))


def _tasks(listed: Iterable[Any]) -> dict[str, tuple[int, ...]]:
    return {str(each.subtopology_id): tuple(int(number) for number in each.partitions) for each in listed}


def _offsets(listed: Iterable[Any]) -> dict[str, dict[int, int]]:
    offsets: dict[str, dict[int, int]] = {}
    for each in listed:
        offsets.setdefault(str(each.subtopology_id), {})[int(each.partition)] = int(each.offset)
    return offsets


def _subtopology(subtopology: Any, stores: tuple[str, ...]) -> DescribedSubtopology:
    own = tuple(str(each.name) for each in subtopology.repartition_source_topics)
    internal = (*subtopology.repartition_source_topics, *subtopology.state_changelog_topics)
    return DescribedSubtopology(
        str(subtopology.subtopology_id),
        (*map(str, subtopology.source_topics), *own),
        tuple(str(each.name) for each in subtopology.state_changelog_topics),
        own,
        {str(each.name): int(each.partitions) for each in internal},
        stores,
    )
