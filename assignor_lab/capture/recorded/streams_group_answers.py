"""Brokers' answers to StreamsGroupDescribe (KIP-1071), as values. Needs the extra ``kafka``."""

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

#: Versions of key 89 that are known here: 1 is of Kafka 4.4.
_VERSIONS = (0, 1)
_WHAT = "StreamsGroupDescribe answer"


@attrs.frozen
class DescribedSubtopology:
    """One sub-topology of a streams group.

    Args:
        id: Its id.
        sources: Topics that it reads from, repartition topics included.
        changelogs: Its changelogs.
        repartition_sources: Those of ``sources`` that the application itself writes.
        internal_partitions: Internal topics of it to their numbers of partitions, as the group asks for them; 0
            where the sources decide.
    """

    id: str
    sources: tuple[str, ...]
    changelogs: tuple[str, ...]
    repartition_sources: tuple[str, ...]
    internal_partitions: Mapping[str, int] = attrs.field(factory=dict)


@attrs.frozen
class HeldTasks:
    """Tasks of a member, sub-topology to partitions in the order of the answer."""

    active: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)
    standby: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)
    warmup: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)


@attrs.frozen
class DescribedMember:
    """One member of a streams group.

    Args:
        id: Its id.
        client_id: Its client's id.
        process_id: Its process.
        instance_id: ``group.instance.id`` of a static member, or ``None``.
        rack: Its ``client.rack``, or ``None``.
        tags: Its client tags.
        epoch: The epoch that it has reached.
        topology_epoch: Epoch of the topology that it runs.
        assignment: What it has now.
        target: What it is to have.
        task_offsets: Sub-topology to partition to offset sum, as reported; empty from clients before 4.4.
        task_end_offsets: Likewise, the ends.
        is_classic: Whether it still speaks the classic protocol.
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
    """One group of an answer.

    Args:
        group: Its id.
        state: ``Empty``, ``NotReady``, ``Assigning``, ``Reconciling``, ``Stable`` or ``Dead``.
        subtopologies: Its topology; empty if the answer has none.
        members: Its members.
        epoch: Epoch of the group.
        assignment_epoch: Epoch of the target assignment.
        assignor: Name of the assignor that is asked next; ``None`` from brokers before 4.4.
        error_code: 0, or why there is no description.
    """

    group: str
    state: str
    subtopologies: tuple[DescribedSubtopology, ...]
    members: tuple[DescribedMember, ...]
    epoch: int = 0
    assignment_epoch: int = 0
    assignor: str | None = None
    error_code: int = 0


def read_streams_group_answer(data: bytes, version: int = 0) -> list[DescribedStreamsGroup]:
    """Reads an answer; groups with an error are left out.

    Args:
        data: The answer with its header, without the size before it.
        version: Version of the request.

    Raises:
        BrokerAnswerError: if the bytes are no such answer, or of a version that is not known here.
    """
    if version not in _VERSIONS:
        raise BrokerAnswerError(_WHAT, f"version {version} is not known here, 0 and 1 are")
    with readable(_WHAT):
        message = streams_group_messages()[1].decode(data, version=version, header=True)
    return [each for each in streams_group_answers(message) if not each.error_code]


def streams_group_answers(message: Any) -> list[DescribedStreamsGroup]:
    """The groups of an answer that kafka-python has read, those with an error included.

    Raises:
        BrokerAnswerError: if a value in it is not what the protocol says.
    """
    with readable(_WHAT):
        return [_group(each) for each in message.groups]


def streams_group_messages() -> tuple[Any, Any]:
    """kafka-python's classes of the request and of the answer, which it does not bring along."""
    if not _LAYOUTS:
        from kafka.protocol.api_message import ApiMessage

        # kafka-python finds the layout by the name of the class, and the answer's class by the request's key.
        class StreamsGroupDescribeRequest(ApiMessage, load_json=f"{__package__}.schemas"):  # type: ignore[misc, call-arg]
            """The request."""

        class StreamsGroupDescribeResponse(ApiMessage, load_json=f"{__package__}.schemas"):  # type: ignore[misc, call-arg]
            """The answer."""

        _LAYOUTS.append((StreamsGroupDescribeRequest, StreamsGroupDescribeResponse))
    return _LAYOUTS[0]


_LAYOUTS: list[tuple[Any, Any]] = []


def _group(group: Any) -> DescribedStreamsGroup:
    topology = () if group.topology is None else group.topology.subtopologies or ()
    return DescribedStreamsGroup(
        str(group.group_id),
        str(group.group_state),
        tuple(_subtopology(each) for each in topology),
        tuple(_member(each) for each in group.members),
        int(group.group_epoch),
        int(group.assignment_epoch),
        getattr(group, "assignor_name", None) or None,
        int(group.error_code),
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


def _subtopology(subtopology: Any) -> DescribedSubtopology:
    own = tuple(str(each.name) for each in subtopology.repartition_source_topics)
    internal = (*subtopology.repartition_source_topics, *subtopology.state_changelog_topics)
    return DescribedSubtopology(
        str(subtopology.subtopology_id),
        (*map(str, subtopology.source_topics), *own),
        tuple(str(each.name) for each in subtopology.state_changelog_topics),
        own,
        {str(each.name): int(each.partitions) for each in internal},
    )
