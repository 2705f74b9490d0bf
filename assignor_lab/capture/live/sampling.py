"""Samples of ends and sizes of the topics of recorded groups, so that lags and workload of their past are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

import attrs

from assignor_lab.capture.live.cluster import Cluster
from assignor_lab.capture.live.errors import LiveClusterError
from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.capture.recorded.broker_answers import TopicPartition

__all__ = ["Sampler"]

#: Between two samples however fast generations come.
_LEAST_S = 1.0


@attrs.define
class Sampler:
    """Takes samples of groups' topics while they are followed.

    Topics of a group are those that its members subscribe or that its topology names, and internal ones of its name.

    Args:
        cluster: Whom to ask.
        groups: The groups; others may come to them.
        every_s: Seconds between two samples.
        on_trouble: Told once why nothing can be sampled; the recording goes on.
    """

    cluster: Cluster
    groups: Mapping[str, GroupRecording]
    every_s: float
    on_trouble: Callable[[str], None] = lambda _: None
    #: Number of samples.
    taken: int = 0
    _latest: float = -float("inf")
    _in_trouble: bool = False

    def sample_if_due(self, *, has_news: bool = False) -> None:
        """Takes a sample if it is time, or if a generation has come: its leader has just asked for the same ends.

        Raises:
            OutputFileError: if it cannot be written.
        """
        now = time.monotonic()
        if now - self._latest < (_LEAST_S if has_news else self.every_s):
            return
        self._latest = now
        try:
            self._sample()
            self._in_trouble = False
        except LiveClusterError as error:
            if not self._in_trouble:
                self.on_trouble(f"no sample: {error}")
            self._in_trouble = True

    def _sample(self) -> None:
        topics = self.cluster.topics().topics
        groups = {each.id for each in self.cluster.groups()} | {each.original for each in self.groups.values()}
        of_groups = {name: recording.topics_among(topics, groups) for name, recording in self.groups.items()}
        partitions = [
            (topic, number)
            for topic in sorted({topic for names in of_groups.values() for topic in names})
            for number in topics[topic]
        ]
        told_ms = time.time_ns() // 1_000_000
        ends = self.cluster.end_offsets(partitions)
        sizes = self._sizes(partitions)
        self.taken += 1
        for name, names in of_groups.items():
            if names:
                sample = {"t": told_ms, "ends": _nested(ends, names), "bytes": _nested(sizes, names)}
                self.groups[name].add_sample(sample)

    def _sizes(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        try:
            return self.cluster.log_sizes(partitions)
        except LiveClusterError:
            # They need a right of their own.
            return {}


def _nested(numbers: Mapping[TopicPartition, int], topics: Iterable[str]) -> dict[str, dict[str, int]]:
    wanted = frozenset(topics)
    nested: dict[str, dict[str, int]] = {}
    for (topic, partition), number in sorted(numbers.items()):
        if topic in wanted:
            nested.setdefault(topic, {})[str(partition)] = number
    return nested
