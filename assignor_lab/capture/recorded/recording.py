"""Recorded exchanges with brokers, as JSON lines.

A line is ``{"t": epoch ms, "api_key": ..., "api_version": ..., "response_hex": ...}`` for DescribeGroups (15),
StreamsGroupDescribe (89) or Metadata (3). ``response_hex`` has the header, but not the size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.capture.recorded.broker_answers import (
    ClusterAnswer,
    DescribedGroup,
    read_cluster_answer,
    read_group_answer,
)
from assignor_lab.capture.recorded.errors import garbled_at
from assignor_lab.capture.recorded.streams_group_answers import DescribedStreamsGroup, read_streams_group_answer
from assignor_lab.capture.topology.evidence import Brokers
from assignor_lab.capture.topology.group_topology import Topic
from assignor_lab.documents.json_lines import json_lines
from assignor_lab.documents.shapes import LONG_MAX, at, faults_at, hexadecimal, open_record, text, whole

__all__ = ["RecordedResponses", "Seen", "read_recording"]

_DESCRIBE_GROUPS, _METADATA, _DESCRIBE_STREAMS_GROUP = 15, 3, 89
_short = whole(0, 32_767)
_EXCHANGE = open_record(
    {"t": whole(0, LONG_MAX), "api_key": _short, "api_version": _short, "response_hex": text},
    hint="is this a recording?",
)


@attrs.frozen
class Seen:
    """A broker's description of a group."""

    file: str
    line: int
    time_ms: int
    answer: DescribedGroup


@attrs.frozen
class RecordedResponses:
    """Responses of brokers, in the order of time."""

    groups: Sequence[Seen]
    clusters: Sequence[tuple[int, ClusterAnswer]]
    streams_groups: Sequence[tuple[int, DescribedStreamsGroup]] = ()

    def stable(self) -> Iterator[Seen]:
        """Without repetitions. Only these hold subscriptions, the input of the assignment beside them."""
        latest: dict[str, DescribedGroup] = {}
        for seen in self.groups:
            plain = _without_instances(seen.answer)
            if seen.answer.state == "Stable" and latest.get(seen.answer.group) != plain:
                latest[seen.answer.group] = plain
                yield seen

    def topic(self, name: str, at_ms: int) -> Topic | None:
        """As known at ``at_ms``, or else as first known.

        Internal topics appear only after the leader has created them.
        """
        with_topic = [(time, answer) for time, answer in self.clusters if name in answer.topics]
        if not with_topic:
            return None
        earlier = [answer for time, answer in with_topic if time <= at_ms]
        answer = earlier[-1] if earlier else with_topic[0][1]
        return Topic({number: _racks(nodes, answer.racks) for number, nodes in sorted(answer.topics[name].items())})

    def brokers(self, at_ms: int) -> Brokers:
        """As known at ``at_ms``, or else as first known."""
        names = frozenset(name for _, answer in self.clusters for name in answer.topics)
        groups = frozenset(seen.answer.group for seen in self.groups)
        return Brokers(lambda name: self.topic(name, at_ms), names, groups)


def _without_instances(answer: DescribedGroup) -> DescribedGroup:
    # Responses before version 4 lack them.
    return attrs.evolve(answer, members=tuple(attrs.evolve(member, instance_id=None) for member in answer.members))


def _racks(nodes: Iterable[int], racks: Mapping[int, str | None]) -> tuple[str, ...]:
    # One replica without a rack makes all racks useless to Kafka.
    found = [racks.get(node) for node in nodes]
    return tuple(dict.fromkeys(rack for rack in found if rack is not None)) if None not in found else ()


def read_recording(files: Sequence[str | Path]) -> RecordedResponses:
    groups: list[Seen] = []
    clusters: list[tuple[int, ClusterAnswer]] = []
    streams: list[tuple[int, DescribedStreamsGroup]] = []
    for file in files:
        for place, line in json_lines(file):
            with faults_at(place), garbled_at(place):
                exchange = _EXCHANGE(line)
                time_ms, version = exchange["t"], exchange["api_version"]
                if exchange["api_key"] == _DESCRIBE_GROUPS:
                    answers = read_group_answer(_bytes(exchange), version)
                    groups += [Seen(place.file, place.line or 0, time_ms, answer) for answer in answers]
                elif exchange["api_key"] == _METADATA:
                    clusters.append((time_ms, read_cluster_answer(_bytes(exchange), version)))
                elif exchange["api_key"] == _DESCRIBE_STREAMS_GROUP and version == 0:
                    streams += [
                        (time_ms, answer)
                        for answer in read_streams_group_answer(_bytes(exchange), exchange["api_version"])
                    ]
    return RecordedResponses(
        sorted(groups, key=lambda seen: seen.time_ms),
        sorted(clusters, key=lambda timed: timed[0]),
        sorted(streams, key=lambda timed: timed[0]),
    )


def _bytes(exchange: Mapping[str, Any]) -> bytes:
    return at(hexadecimal, exchange["response_hex"], "response_hex")
