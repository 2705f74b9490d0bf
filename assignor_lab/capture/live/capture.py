"""Capturing: groups of a running Kafka, of any kind, as scenarios."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.live.classic import GroupSurroundings, classic_document
from assignor_lab.capture.live.classic import unsettled as classic_unsettled
from assignor_lab.capture.live.cluster import ConnectedCluster, ListedGroup
from assignor_lab.capture.live.errors import GroupUnusableError, LiveClusterError, NotAuthorizedError
from assignor_lab.capture.live.listing import OTHER, is_streams, list_groups
from assignor_lab.capture.live.plain_consumers import (
    classic_consumer_document,
    partition_group_document,
    subscribed_topics,
    unsettled_classic,
    unsettled_group,
)
from assignor_lab.capture.live.streams_group import streams_group_document
from assignor_lab.capture.live.streams_group import unsettled as streams_unsettled
from assignor_lab.capture.logs.topology_file import described_topology
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, TopicPartition, group_answers
from assignor_lab.capture.recorded.connect.answers import connect_rounds
from assignor_lab.capture.recorded.connect.histories import CONFIGURED_UNKNOWN, SeenRound, histories
from assignor_lab.capture.recorded.connect.rest_states import configured_jobs
from assignor_lab.capture.recorded.consumer_members import consumer_answer
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_records import CONSUMERS
from assignor_lab.capture.topology.reported_subtopologies import ReportedSubTopology, conflicts_with_reported
from assignor_lab.connect.remote import RemoteConnector
from assignor_lab.kafka.wire import STREAMS_ASSIGNOR
from assignor_lab.kafka.wire.connect import PROTOCOL_TYPE
from assignor_lab.scenarios.settings import with_brokers_release

__all__ = ["Capturing", "LeftOut", "capturable", "put_configured"]

_POLL_S = 0.5
_GONE = "Dead"
_EMPTY = "Empty"
#: Types of groups (KIP-848, KIP-932) that DescribeGroups does not find.
_CONSUMER, _SHARE = "consumer", "share"


@attrs.frozen
class LeftOut:
    """A group without a capture."""

    group: str
    reason: str

    def __str__(self) -> str:
        return self.reason


def capturable(cluster: ConnectedCluster) -> list[str]:
    return [each.id for each in list_groups(cluster) if each.kind != OTHER and each.members != 0]


@attrs.frozen
class Capturing:
    """Facts and limits of a capture.

    Args:
        config: Layers of ``--config`` and ``-c``, the lowest first.
        max_delay_ms: ``scheduled.rebalance.max.delay.ms`` of Connect.
        connectors: Reads Connect's REST API; ``None``: no REST requests.
        optimized: True if tables read their source topics back.
        on_waiting: Called once for each group that must settle.
    """

    cluster: ConnectedCluster
    config: Sequence[ConfigLayer] = ()
    max_delay_ms: int | None = None
    topology: Path | None = None
    wait_s: float = 60.0
    on_waiting: Callable[[str], None] = print
    connectors: Callable[[], Sequence[RemoteConnector]] | None = None
    optimized: bool | None = None

    def documents(self, groups: Iterable[str], on_left_out: Callable[[LeftOut], None]) -> Iterator[dict[str, Any]]:
        listed = {each.id: each for each in self.cluster.groups()}
        for name in groups:
            try:
                yield self._document(name, listed.get(name))
            except (GroupUnusableError, NotAuthorizedError) as error:
                prefix = f"group {name}: "
                on_left_out(LeftOut(name, prefix + str(error).removeprefix(prefix)))

    def _document(self, name: str, listed: ListedGroup | None) -> dict[str, Any]:
        kind = "" if listed is None else (listed.type or "").lower()
        end, is_noted = time.monotonic() + self.wait_s, False
        while True:
            found = self._found(name, kind, listed)
            if not isinstance(found, str):
                return found
            if time.monotonic() >= end:
                raise GroupUnusableError(
                    f"group {name}: {found}, and did not settle within {self.wait_s:g} s: try again, or set "
                    "a longer --wait"
                )
            if not is_noted:
                is_noted = True
                self.on_waiting(f"group {name}: {found}: waiting up to {self.wait_s:g} s (--wait)")
            time.sleep(_POLL_S)

    def _found(self, name: str, kind: str, listed: ListedGroup | None) -> dict[str, Any] | str:
        if kind in (_CONSUMER, _SHARE):
            return self._partition_group(name, is_share=kind == _SHARE)
        return self._streams(name) if listed is not None and is_streams(listed) else self._classic(name)

    # --- kinds ------------------------------------------------------------------------------------------

    def _classic(self, name: str) -> dict[str, Any] | str:
        (raw,) = self.cluster.classic_groups([name])
        now = _now_ms()
        _check(name, raw.error_code, str(raw.group_state))
        if raw.protocol_type == PROTOCOL_TYPE:
            return self._connect(name, raw, now)
        if raw.group_state != "Stable":
            return f"it is in state {raw.group_state}"
        if raw.protocol_data != STREAMS_ASSIGNOR:
            return self._consumers(name, raw, now)
        (answer,) = group_answers([raw])
        if why := classic_unsettled(answer):
            return why
        around = GroupSurroundings(
            groups=frozenset(each.id for each in self.cluster.groups()), optimized=self.optimized
        )
        document = classic_document(
            answer, self.cluster.topics(), now, self._ends, self._sizes, self.config, self.topology, around
        )
        return with_brokers_release(document, self.cluster.release())

    def _consumers(self, name: str, raw: Any, now: int) -> dict[str, Any] | str:
        if raw.protocol_type != CONSUMERS:
            raise GroupUnusableError(
                f"group {name}: its protocol type is {raw.protocol_type!r:.60}, and not that of consumers or Connect: "
                "only its own software knows its assignments"
            )
        try:
            answer = consumer_answer(raw)
        except BrokerAnswerError as error:
            raise GroupUnusableError(f"group {name}: {error}") from error
        if why := unsettled_classic(answer):
            return why
        topics = self.cluster.topics(subscribed_topics(answer))
        return classic_consumer_document(answer, topics, now, self._lags(name, topics), self.config)

    def _partition_group(self, name: str, *, is_share: bool) -> dict[str, Any] | str:
        (group,) = (self.cluster.share_groups if is_share else self.cluster.consumer_groups)([name])
        now = _now_ms()
        _check(name, group.error_code, group.state)
        if why := unsettled_group(group):
            return why
        wanted = {topic for member in group.members for topic in member.topics} | set(group.names.values())
        topics = self.cluster.topics(sorted(wanted))
        lags = {} if is_share else self._lags(name, topics)
        return partition_group_document(group, topics, now, lags, self.config)

    def _lags(self, name: str, topics: ClusterAnswer) -> dict[TopicPartition, int]:
        """Records behind the committed offsets, of partitions with one."""
        committed = {
            each: offset
            for each, offset in self.cluster.committed_offsets(name).items()
            if each[1] in topics.topics.get(each[0], ())
        }
        ends = self._ends(committed)
        return {each: max(0, ends[each] - offset) for each, offset in committed.items() if each in ends}

    def _connect(self, name: str, raw: Any, now: int) -> dict[str, Any] | str:
        rounds = connect_rounds([raw])
        if not rounds:
            return f"it is in state {raw.group_state}"
        if rounds[0].is_mismatch:
            return "its leader reads the configuration"
        (document, _), *_ = histories([SeenRound(name, 0, now, rounds[0])], self.max_delay_ms)
        document["source"] = {"time_ms": now, "group": name}
        if self.connectors is not None:
            put_configured(document, self.connectors())
        return document

    def _streams(self, name: str) -> dict[str, Any] | str:
        (group,) = self.cluster.streams_groups([name])
        now = _now_ms()
        _check(name, group.error_code, group.state)
        if why := streams_unsettled(group):
            return why
        wanted = [topic for each in group.subtopologies for topic in (*each.sources, *each.changelogs)]
        topics = self.cluster.topics(wanted)
        changelogs = [
            (topic, number)
            for each in group.subtopologies
            for topic in each.changelogs
            for number in topics.topics.get(topic, ())
        ]
        ends, sizes = self._ends(changelogs), self._sizes(changelogs)
        settings = self.cluster.group_config(name)
        document = streams_group_document(group, topics, now, settings, self.config, ends, sizes)
        if self.topology is not None:
            subtopologies = [
                ReportedSubTopology(each.id, each.sources, each.changelogs) for each in group.subtopologies
            ]
            document["assumptions"] += conflicts_with_reported(described_topology(self.topology), name, subtopologies)
        return with_brokers_release(document, self.cluster.release())

    # --- what needs rights of its own ---------------------------------------------------------------------

    def _ends(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        try:
            return self.cluster.end_offsets(partitions)
        except NotAuthorizedError:
            return {}

    def _sizes(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        try:
            return self.cluster.log_sizes(partitions)
        except LiveClusterError:
            return {}


def put_configured(document: dict[str, Any], connectors: Sequence[RemoteConnector]) -> None:
    """Replaces inferred connectors, if the cluster is the same."""
    (answered_round,) = document["rounds"]
    assumptions: list[str] = []
    counts = configured_jobs(connectors, assumptions)
    if running := sorted(answered_round["connectors"].keys() - counts.keys()):
        document["assumptions"].append(
            f"the workers at --connect-url do not know connector {running[0]}, which the group has: they are of "
            "another group, or it has just been deleted; their answers are not used"
        )
        return
    answered_round["connectors"] = counts
    kept = [each for each in document["assumptions"] if each != CONFIGURED_UNKNOWN]
    document["assumptions"] = [*kept, *assumptions]


def _check(name: str, error_code: int, state: str) -> None:
    if error_code == 30:
        raise NotAuthorizedError(f"group {name}: may not be described: DESCRIBE on the group is needed")
    if error_code == 69 or state == _GONE:
        raise GroupUnusableError(f"group {name}: there is no such group: `assignor groups` lists those that are")
    if error_code:
        raise GroupUnusableError(f"group {name}: the coordinator answers with error {error_code}: try again")
    if state == _EMPTY:
        raise GroupUnusableError(f"group {name}: has no members: start the application, and try again")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
