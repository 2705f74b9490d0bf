"""Samples of ends and sizes of recorded groups' topics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from assignor_lab.capture.live.cluster import ConnectedCluster
from assignor_lab.capture.live.errors import LiveClusterError
from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.capture.recorded.broker_answers import TopicPartition
from assignor_lab.documents.errors import printable
from assignor_lab.documents.wording import listed

__all__ = ["Sampler"]

_LEAST_S = 1.0
_MOST_NAMED = 3


@attrs.define
class Sampler:
    """Samples the topics of groups: subscribed, of the topology, and internal ones.

    Args:
        on_trouble: Called once if there is no sample; the recording continues.
    """

    cluster: ConnectedCluster
    groups: Mapping[str, GroupRecording]
    every_s: float
    on_trouble: Callable[[str], None] = lambda _: None
    _latest: float = -float("inf")
    _in_trouble: bool = False

    def sample_if_due(self, *, has_news: bool = False) -> None:
        """Also after a new generation, whose leader has just requested the same ends."""
        now = time.monotonic()
        if now - self._latest < (_LEAST_S if has_news else self.every_s):
            return
        self._latest = now
        try:
            trouble = self._sample()
        except LiveClusterError as error:
            trouble = str(error)
        if trouble is not None and not self._in_trouble:
            self.on_trouble(f"no sample: {trouble}")
        self._in_trouble = trouble is not None

    def _sample(self) -> str | None:
        """Returns a sentence about the groups without visible topics."""
        topics = self.cluster.topics().topics
        groups = {each.id for each in self.cluster.groups()} | {each.original for each in self.groups.values()}
        # A group that has just appeared gets its folder with the next write.
        begun = {name: recording for name, recording in self.groups.items() if recording.is_there}
        of_groups = {name: recording.topics_among(topics, groups) for name, recording in begun.items()}
        partitions = [
            (topic, number)
            for topic in sorted({topic for names in of_groups.values() for topic in names})
            for number in topics[topic]
        ]
        told_ms = time.time_ns() // 1_000_000
        ends = self.cluster.end_offsets(partitions)
        sizes = self._sizes(partitions)
        hidden: list[str] = []
        for name, names in of_groups.items():
            recording = self.groups[name]
            if names:
                recording.add_sample({"t": told_ms, "ends": _nested(ends, names), "bytes": _nested(sizes, names)})
            elif recording.history.topics:
                hidden.append(recording.original)
        if not hidden:
            return None
        return (
            f"no topic of {listed(_shown(hidden))} is visible: DESCRIBE on the topics is needed, for records, lags and "
            "sizes of states"
        )

    def _sizes(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        try:
            return self.cluster.log_sizes(partitions)
        except LiveClusterError:
            # Sizes need an authorization of their own.
            return {}


def _shown(groups: Sequence[str]) -> list[str]:
    shown = [f"group {printable(name)}" for name in groups[:_MOST_NAMED]]
    return shown if len(groups) <= _MOST_NAMED else [*shown, f"{len(groups) - _MOST_NAMED} more"]


def _nested(numbers: Mapping[TopicPartition, int], topics: Iterable[str]) -> dict[str, dict[str, int]]:
    wanted = frozenset(topics)
    nested: dict[str, dict[str, int]] = {}
    for (topic, partition), number in sorted(numbers.items()):
        if topic in wanted:
            nested.setdefault(topic, {})[str(partition)] = number
    return nested
