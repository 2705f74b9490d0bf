"""Weights of tasks from ends and sizes of their topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

import attrs

from assignor_lab.capture.recorded.broker_answers import TopicPartition
from assignor_lab.capture.recorded.kept_records import Sample

__all__ = ["SampledTopics", "subtopology_weights"]


class RecordedSubtopology(Protocol):
    """A sub-topology with its topics."""

    @property
    def id(self) -> str: ...

    @property
    def sources(self) -> Sequence[str]: ...

    @property
    def changelogs(self) -> Sequence[str]: ...


#: A shorter time gives no rate.
_SHORTEST_MS = 1_000


@attrs.frozen
class SampledTopics:
    """Samples of topics, by time."""

    samples: Sequence[Sample]

    def ends(self, time_ms: int) -> Callable[[Iterable[TopicPartition]], Mapping[TopicPartition, int]]:
        """Linear interpolation between two samples."""

        def of(partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
            found = {}
            for partition in partitions:
                points = [
                    (sample.time_ms, sample.ends[partition]) for sample in self.samples if partition in sample.ends
                ]
                if points:
                    found[partition] = _end_at(points, time_ms)
            return found

        return of

    def sizes(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        """From the latest sample with sizes."""
        latest = next((sample.sizes for sample in reversed(self.samples) if sample.sizes), {})
        return {partition: latest[partition] for partition in partitions if partition in latest}

    def rates(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, float]:
        """Bytes per second; intervals with a shrinking partition (retention) are left out."""
        found = {}
        for partition in partitions:
            points = [(sample.time_ms, sample.sizes[partition]) for sample in self.samples if partition in sample.sizes]
            grown = [(now - then, more - less) for (then, less), (now, more) in pairwise(points) if more >= less]
            lasted_ms = sum(milliseconds for milliseconds, _ in grown)
            if lasted_ms >= _SHORTEST_MS:
                found[partition] = round(1000 * sum(size for _, size in grown) / lasted_ms, 3)
        return found


def _end_at(points: Sequence[tuple[int, int]], time_ms: int) -> int:
    if len(points) == 1:
        return points[0][1]
    pairs = list(pairwise(points))
    (from_ms, low), (to_ms, high) = next(((a, b) for a, b in pairs if time_ms <= b[0]), pairs[-1])
    if to_ms == from_ms:
        return high
    return max(0, round(low + (high - low) * (time_ms - from_ms) / (to_ms - from_ms)))


def subtopology_weights(
    subtopologies: Sequence[RecordedSubtopology],
    counts: Mapping[str, int],
    ends: Mapping[TopicPartition, int],
    sizes: Mapping[TopicPartition, int],
    rates: Mapping[TopicPartition, float],
) -> dict[str, dict[str, Any]]:
    """Leaves out facts that a topic lacks."""
    found: dict[str, dict[str, Any]] = {}
    last: dict[str, int] = {}
    for topic, number in rates:
        last[topic] = max(last.get(topic, -1), number)
    for each in subtopologies:
        for number in range(counts.get(each.id, 0)):
            changelogs = [(topic, number) for topic in each.changelogs]
            # A source with fewer partitions has none for the last tasks.
            sources = [(topic, number) for topic in each.sources if number <= last.get(topic, number)]
            weight: dict[str, Any] = {}
            if changelogs and all(partition in sizes for partition in changelogs):
                weight["state_bytes"] = sum(sizes[partition] for partition in changelogs)
            if changelogs and all(partition in ends for partition in changelogs):
                weight["state_records"] = sum(ends[partition] for partition in changelogs)
            if sources and all(partition in rates for partition in sources):
                weight["input_bytes_per_s"] = round(sum(rates[partition] for partition in sources), 3)
            if weight:
                found[f"{each.id}_{number}"] = weight
    return found
