"""Listing: the groups of a cluster, with kind, state, members and tasks."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import attrs

from assignment_api.connect import NO_JOBS
from assignor_lab.capture.live.cluster import ConnectedCluster, ListedGroup
from assignor_lab.capture.live.errors import NotAuthorizedError, TooOldBrokerError
from assignor_lab.capture.live.stopped_groups import StoppedGroups
from assignor_lab.capture.recorded.broker_answers import DescribedGroup, group_answers
from assignor_lab.capture.recorded.connect.answers import connect_rounds
from assignor_lab.capture.recorded.consumer_members import consumer_answer
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.streams_group_answers import DescribedStreamsGroup
from assignor_lab.kafka.streams_group import PROTOCOL
from assignor_lab.kafka.wire import STREAMS_ASSIGNOR
from assignor_lab.kafka.wire.connect import PROTOCOL_TYPE

__all__ = [
    "CLASSIC", "CLASSIC_CONSUMER", "CONNECT", "CONSUMER", "OTHER", "SHARE", "STREAMS", "GroupSummary", "is_streams",
    "list_groups",
]  # fmt: skip

CLASSIC, STREAMS, CONNECT, OTHER = "streams (classic)", "streams", "connect", "other"
CLASSIC_CONSUMER, CONSUMER, SHARE = "consumer (classic)", "consumer", "share"
#: Kafka: ``StreamThread``, ``ClientUtils``.
_THREAD = re.compile(r"-StreamThread-\d+-consumer\Z")
_STABLE = "Stable"
_NOT_PERMITTED = 30
#: Protocol type of plain consumers and of classic Streams groups, in answers of brokers.
_CONSUMERS = "consumer"
_NO_RIGHT = "may not be described: DESCRIBE on the group is needed"


@attrs.frozen
class GroupSummary:
    """One group.

    Args:
        members: ``None`` without authorization.
        tasks: Active tasks, connectors not counted.
        note: Reason for unknown figures.
    """

    id: str
    kind: str
    state: str
    members: int | None = None
    processes: int | None = None
    tasks: int | None = None
    generation: int | None = None
    note: str = ""

    @property
    def is_refused(self) -> bool:
        return self.note == _NO_RIGHT


def list_groups(cluster: ConnectedCluster) -> list[GroupSummary]:
    """All visible groups, by id.

    A classic group without members has no protocol. It counts as a Streams group if Streams committed its offsets, or
    else if internal topics have its name.
    """
    listed = cluster.groups()
    streams = [group for group in listed if is_streams(group)]
    classic = [group for group in listed if not is_streams(group) and group.type in (None, "", "classic", "Classic")]
    classic = [group for group in classic if group.protocol_type in (_CONSUMERS, PROTOCOL_TYPE, "")]
    found = {each.id: each for each in _classic(cluster, classic, [group.id for group in listed])}
    found |= {each.id: each for each in _streams(cluster, streams)}
    found |= {each.id: each for each in _partition_groups(cluster, listed)}
    return [found.get(group.id) or GroupSummary(group.id, OTHER, group.state or "?") for group in listed]


def is_streams(group: ListedGroup) -> bool:
    return PROTOCOL in ((group.type or "").lower(), group.protocol_type)


def _classic(
    cluster: ConnectedCluster, listed: Sequence[ListedGroup], groups: Collection[str]
) -> Iterable[GroupSummary]:
    if not listed:
        return
    described = {}
    with contextlib.suppress(NotAuthorizedError):
        described = {str(each.group_id): each for each in cluster.classic_groups([group.id for group in listed])}
    empty = [name for name, raw in described.items() if not (raw.members or raw.error_code or _is_connect(raw))]
    stopped = StoppedGroups(cluster, groups, empty)
    for group in listed:
        raw = described.get(group.id)
        if raw is None or raw.error_code:
            yield GroupSummary(group.id, _listed_kind(group), group.state or "?", note=_refused(raw))
        elif _is_connect(raw):
            yield _connect(raw)
        elif raw.protocol_data == STREAMS_ASSIGNOR or (not raw.protocol_data and _are_streams_threads(raw.members)):
            yield _classic_streams(raw)
        else:
            note = "" if raw.members else stopped.note(group.id)
            yield (
                GroupSummary(group.id, CLASSIC, str(raw.group_state), len(raw.members), note=note)
                if note
                else _classic_consumers(raw)
            )


def _are_streams_threads(members: Sequence[Any]) -> bool:
    """During a rebalance there is no other sign than the members' names."""
    return bool(members) and all(_THREAD.search(str(member.client_id)) for member in members)


def _is_connect(raw: Any) -> bool:
    return bool(raw.protocol_type == PROTOCOL_TYPE)


def _listed_kind(group: ListedGroup) -> str:
    return CONNECT if group.protocol_type == PROTOCOL_TYPE else OTHER


def _refused(raw: Any) -> str:
    if raw is None or raw.error_code == _NOT_PERMITTED:
        return _NO_RIGHT
    return f"error {raw.error_code}"


def _connect(raw: Any) -> GroupSummary:
    state, members = str(raw.group_state), len(raw.members)
    try:
        rounds = connect_rounds([raw])
    except BrokerAnswerError as error:
        return GroupSummary(str(raw.group_id), CONNECT, state, members, members, note=str(error))
    tasks = None
    if rounds:
        jobs = NO_JOBS
        for member in rounds[0].members:
            jobs = jobs.plus(member.owned_after)
        tasks = len(jobs.tasks)
    return GroupSummary(str(raw.group_id), CONNECT, state, members, members, tasks)


def _classic_streams(raw: Any) -> GroupSummary:
    name, state, members = str(raw.group_id), str(raw.group_state), len(raw.members)
    try:
        (answer,) = group_answers([raw])
    except BrokerAnswerError as error:
        return GroupSummary(name, CLASSIC, state, members, note=str(error))
    if state != _STABLE:
        return GroupSummary(
            name, CLASSIC, state, members, note="rebalances: the members' reports are known when it is stable"
        )
    return GroupSummary(name, CLASSIC, state, members, _processes(answer), _active_tasks(answer), answer.generation)


def _classic_consumers(raw: Any) -> GroupSummary:
    """Plain consumers; a group with committed offsets alone has no protocol type."""
    name, state, members = str(raw.group_id), str(raw.group_state), len(raw.members)
    kind = CLASSIC_CONSUMER if raw.protocol_type in (_CONSUMERS, "") else OTHER
    if state != _STABLE or kind == OTHER:
        return GroupSummary(name, kind, state, members)
    try:
        answer = consumer_answer(raw)
    except BrokerAnswerError as error:
        return GroupSummary(name, kind, state, members, note=str(error))
    partitions = {each for member in answer.members if member.assignment for each in member.assignment.partitions}
    return GroupSummary(name, kind, state, members, tasks=len(partitions))


def _partition_groups(cluster: ConnectedCluster, listed: Sequence[ListedGroup]) -> Iterable[GroupSummary]:
    """Groups of KIP-848, and share groups."""
    for kind in (CONSUMER, SHARE):
        groups = [group for group in listed if (group.type or "").lower() == kind]
        if not groups:
            continue
        requested = cluster.share_groups if kind == SHARE else cluster.consumer_groups
        try:
            described = {each.group: each for each in requested([group.id for group in groups])}
        except NotAuthorizedError:
            described = {}
        for group in groups:
            found = described.get(group.id)
            if found is None or found.error_code:
                yield GroupSummary(group.id, kind, group.state or "?", note=_refused(found))
                continue
            partitions = {
                (topic, number)
                for member in found.members
                for topic, numbers in member.assignment.items()
                for number in numbers
            }
            yield GroupSummary(
                found.group, kind, found.state, len(found.members), tasks=len(partitions), generation=found.epoch
            )


def _processes(answer: DescribedGroup) -> int:
    return len({each.subscription.info.process_id for each in answer.members if each.subscription is not None})


def _active_tasks(answer: DescribedGroup) -> int:
    return len(
        {task for each in answer.members if each.assignment is not None for task in each.assignment.info.active_tasks}
    )


def _streams(cluster: ConnectedCluster, listed: Sequence[ListedGroup]) -> Iterable[GroupSummary]:
    if not listed:
        return
    try:
        described = {each.group: each for each in cluster.streams_groups([group.id for group in listed])}
    except (TooOldBrokerError, NotAuthorizedError) as error:
        described, note = {}, str(error)
    else:
        note = ""
    for group in listed:
        group_description = described.get(group.id)
        if group_description is None or group_description.error_code:
            yield GroupSummary(group.id, STREAMS, group.state or "?", note=note or _refused(group_description))
        else:
            yield _summary(group_description)


def _summary(group_description: DescribedStreamsGroup) -> GroupSummary:
    tasks = sum(len(numbers) for member in group_description.members for numbers in member.assignment.active.values())
    processes = {member.process_id for member in group_description.members}
    return GroupSummary(
        group_description.group,
        STREAMS,
        group_description.state,
        len(group_description.members),
        len(processes),
        tasks,
        group_description.epoch,
    )
