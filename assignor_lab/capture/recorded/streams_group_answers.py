"""Brokers' answers to StreamsGroupDescribe (KIP-1071), as values. Needs the extra ``kafka``."""

from __future__ import annotations

import struct
from typing import Any

import attrs

from assignor_lab.capture.recorded.errors import BrokerAnswerError

__all__ = ["DescribedMember", "DescribedStreamsGroup", "DescribedSubtopology", "read_streams_group_answer"]

#: What kafka-python raises for bytes that are no message.
_UNREADABLE = (AttributeError, ValueError, IndexError, KeyError, TypeError, OverflowError, MemoryError, struct.error)


@attrs.frozen
class DescribedSubtopology:
    """One sub-topology of a streams group.

    Args:
        id: Its id.
        sources: Topics that it reads from, repartition topics included.
        changelogs: Its changelogs.
        repartition_sources: Those of ``sources`` that the application itself writes.
    """

    id: str
    sources: tuple[str, ...]
    changelogs: tuple[str, ...]
    repartition_sources: tuple[str, ...]


@attrs.frozen
class DescribedMember:
    """One member of a streams group: its id, its client's, and its process."""

    id: str
    client_id: str
    process_id: str


@attrs.frozen
class DescribedStreamsGroup:
    """One group of an answer.

    Args:
        group: Its id.
        state: ``Empty``, ``NotReady``, ``Assigning``, ``Reconciling``, ``Stable`` or ``Dead``.
        subtopologies: Its topology; empty if the answer has none.
        members: Its members.
    """

    group: str
    state: str
    subtopologies: tuple[DescribedSubtopology, ...]
    members: tuple[DescribedMember, ...]


def read_streams_group_answer(data: bytes) -> list[DescribedStreamsGroup]:
    """Reads an answer of version 0; groups with an error are left out.

    Args:
        data: The answer with its header, without the size before it.

    Raises:
        BrokerAnswerError: if the bytes are no such answer.
    """
    try:
        groups = _layout().decode(data, version=0, header=True).groups
        return [_group(each) for each in groups if not each.error_code]
    except _UNREADABLE as error:
        reason = f"cannot be read ({type(error).__name__}: {error})"
        raise BrokerAnswerError("StreamsGroupDescribe answer", reason) from error


def _layout() -> Any:
    if not _LAYOUTS:
        from kafka.protocol.api_message import ApiMessage

        # kafka-python finds the layout by the name of the class.
        class StreamsGroupDescribeResponse(ApiMessage, load_json=f"{__package__}.schemas"):  # type: ignore[misc, call-arg]
            """The answer."""

        _LAYOUTS.append(StreamsGroupDescribeResponse)
    return _LAYOUTS[0]


_LAYOUTS: list[Any] = []


def _group(group: Any) -> DescribedStreamsGroup:
    topology = () if group.topology is None else group.topology.subtopologies or ()
    return DescribedStreamsGroup(
        str(group.group_id),
        str(group.group_state),
        tuple(_subtopology(each) for each in topology),
        tuple(DescribedMember(str(m.member_id), str(m.client_id), str(m.process_id)) for m in group.members),
    )


def _subtopology(subtopology: Any) -> DescribedSubtopology:
    own = tuple(str(each.name) for each in subtopology.repartition_source_topics)
    return DescribedSubtopology(
        str(subtopology.subtopology_id),
        (*map(str, subtopology.source_topics), *own),
        tuple(str(each.name) for each in subtopology.state_changelog_topics),
        own,
    )
