"""The flight recorder: records of groups in ``__consumer_offsets``, past and new.

Its consumer joins no group and commits nothing. Copies of log segments need no broker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignment_api.java import string_hash
from assignor_lab.capture.live.access import BrokerAccess
from assignor_lab.capture.live.cluster import ConnectedCluster, client_settings, translated
from assignor_lab.capture.live.cluster_files import ClusterFiles
from assignor_lab.capture.live.errors import GroupUnusableError, NotAuthorizedError
from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.capture.live.one_recorder import alone_in
from assignor_lab.capture.live.recordings import ManyGroups, OneGroupAlone, OnGeneration, Recordings
from assignor_lab.capture.live.sampling import Sampler
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.capture.recorded.log_segments import Segment, SegmentFault, find_segments, read_segment
from assignor_lab.documents.wording import plural
from assignor_lab.scenarios.anonymous import Pseudonyms

__all__ = ["RecordingOutcome", "RecordingSettings", "record_groups", "record_segments"]

TOPIC = "__consumer_offsets"

_POLL_MS = 500
_AT_ONCE = 5_000
_FETCH_BYTES = 4 * 1024 * 1024
#: Longest time between two writes, or ten times the duration of a write if that is longer.
_SETTLE_S = 1.0
_OTHERS_PER_WRITE = 10
#: Shortest time between two writes of histories while following.
_HISTORIES_S = 5.0
#: Time between two looks for a topic that is not there yet.
_WAIT_S = 1.0


@attrs.frozen
class RecordingOutcome:
    """A recording's outcome.

    Args:
        read_to: Partition to the offset before which everything has been read.
    """

    groups: Mapping[str, GroupRecording]
    read: int
    read_to: Mapping[int, int]
    faults: Sequence[SegmentFault] = ()

    @property
    def kept(self) -> int:
        return sum(each.kept for each in self.groups.values())


@attrs.frozen
class RecordingSettings:
    """Settings of a recording.

    Args:
        group: ``None``: all groups of Streams and Connect, each in a folder of its own.
        on_generation: Receives each generation or epoch that is on disk, old ones included.
        on_moved: Called if another broker leads a partition of the topic.
        names: ``None``: original names.
        is_stopped: Checked twice a second.
        on_read: Called after each reading; True if a broker is connected.
    """

    folder: Path
    group: str | None
    resume: bool = False
    on_generation: OnGeneration = lambda _group, _generation: None
    on_trouble: Callable[[str], None] = lambda _: None
    names: Pseudonyms | None = None
    is_stopped: Callable[[], bool] = lambda: False
    on_moved: Callable[[str], None] = lambda _: None
    on_read: Callable[[bool], None] = lambda _: None

    def opened(self, partition: int) -> Recordings:
        if self.group is None:
            many = ManyGroups(self.folder, self.on_generation, self.names)
            many.open(resume=self.resume)
            return many
        shown = self.group if self.names is None else self.names.group(self.group)
        recording = GroupRecording(self.folder, shown, partition, self.names)
        recording.original = self.group
        one = OneGroupAlone(recording, self.on_generation)
        one.open(resume=self.resume)
        return one

    def check_something_was_kept(self, recorded: RecordingOutcome) -> None:
        """Deletes the files of one group without records."""
        if self.group is None or self.resume or recorded.kept:
            return
        for each in recorded.groups.values():
            each.remove()
        raise GroupUnusableError(
            f"group {self.group}: none of {plural(recorded.read, 'record')} in its partition of {TOPIC} is about it: "
            "`assignor groups --all` lists the groups that are there"
        )


def record_groups(
    cluster: ConnectedCluster,
    access: BrokerAccess,
    wanted: RecordingSettings,
    *,
    follow_s: float | None,
    sample_every_s: float | None = None,
) -> RecordingOutcome:
    """Records the past of groups, and then new records.

    Args:
        follow_s: Time to continue after the past; ``None``: stop there.
    """
    with alone_in(wanted.folder):
        return _record_groups(cluster, access, wanted, follow_s, sample_every_s)


def _record_groups(
    cluster: ConnectedCluster,
    access: BrokerAccess,
    wanted: RecordingSettings,
    follow_s: float | None,
    sample_every_s: float | None,
) -> RecordingOutcome:
    count = _number_of_partitions(cluster, wanted, follow_s)
    partitions = tuple(range(count)) if wanted.group is None else (partition_of(wanted.group, count),)
    recordings = wanted.opened(partitions[0])
    sampler = None if sample_every_s is None else Sampler(cluster, recordings.groups, sample_every_s, wanted.on_trouble)
    files = ClusterFiles(cluster, recordings.groups, wanted.on_trouble)
    with translated(access):
        reading = _LiveReading(access, recordings, sampler, files, wanted.is_stopped, wanted.on_moved, wanted.on_read)
        recorded = reading.run(partitions, follow_s)
    wanted.check_something_was_kept(recorded)
    files.write()
    return recorded


def record_segments(paths: Sequence[Path], wanted: RecordingSettings) -> RecordingOutcome:
    """A record in several copies counts once."""
    segments = find_segments(paths)
    with alone_in(wanted.folder):
        return _record_segments(segments, wanted)


def _record_segments(segments: Sequence[Segment], wanted: RecordingSettings) -> RecordingOutcome:
    number = {each.partition for each in segments}
    recordings = wanted.opened(min(number))
    faults: list[SegmentFault] = []
    read_to: dict[int, int] = {}
    read = 0
    for segment in segments:
        for batch in read_segment(segment.path, faults.append):
            for each in batch:
                read += 1
                if each.offset >= read_to.get(segment.partition, 0):
                    recordings.take(segment.partition, each)
                    read_to[segment.partition] = each.offset + 1
    recordings.settle({partition: read_to.get(partition, 0) for partition in number})
    recordings.write_histories()
    recorded = RecordingOutcome(recordings.groups, read, read_to, faults)
    wanted.check_something_was_kept(recorded)
    return recorded


def partition_of(group: str, count: int) -> int:
    """Kafka: ``GroupCoordinator#partitionFor``."""
    number = string_hash(group)
    return (0 if number == -(2**31) else abs(number)) % count


def _number_of_partitions(cluster: ConnectedCluster, wanted: RecordingSettings, follow_s: float | None) -> int:
    """Waits for the topic while following: the first group of a new cluster creates it."""
    end = time.monotonic() + (follow_s or 0)
    is_first = True
    while not (partitions := cluster.topics([TOPIC]).topics.get(TOPIC)):
        if time.monotonic() >= end or wanted.is_stopped():
            raise NotAuthorizedError(
                f"topic {TOPIC} is not there, or may not be seen: READ and DESCRIBE on it are needed to record; "
                "without them `assignor capture` shows the group as it is now"
            )
        if is_first:
            wanted.on_trouble(f"topic {TOPIC} is not there yet, or may not be seen: waiting for it")
            is_first = False
        time.sleep(_WAIT_S)
    return max(partitions) + 1


@attrs.define
class _LiveReading:
    access: BrokerAccess
    recordings: Recordings
    sampler: Sampler | None
    files: ClusterFiles
    is_stopped: Callable[[], bool]
    on_moved: Callable[[str], None] = lambda _: None
    on_read: Callable[[bool], None] = lambda _: None
    read: int = 0
    _positions: dict[int, int] = attrs.field(factory=dict)

    def run(self, numbers: Sequence[int], follow_s: float | None) -> RecordingOutcome:
        from kafka import KafkaConsumer, TopicPartition

        partitions = [TopicPartition(TOPIC, number) for number in numbers]
        consumer = KafkaConsumer(
            **client_settings(self.access),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_poll_records=_AT_ONCE,
            max_partition_fetch_bytes=_FETCH_BYTES,
            fetch_max_bytes=_FETCH_BYTES,
            # In Python, checksums cost more than all the rest; the brokers have checked them.
            check_crcs=False,
        )
        try:
            consumer.assign(partitions)
            first, past = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
            for each in partitions:
                self._positions[each.partition] = max(first[each], self.recordings.begin(each.partition))
                consumer.seek(each, self._positions[each.partition])
            ends = {each.partition: past[each] for each in partitions}
            self._read(
                consumer,
                partitions,
                lambda: any(self._positions[at] < end for at, end in ends.items()),
                is_following=False,
            )
            self.recordings.write_histories()
            if follow_s is not None:
                end = time.monotonic() + follow_s
                self._read(consumer, partitions, lambda: time.monotonic() < end, is_following=True)
        finally:
            consumer.close()
        self.recordings.write_histories()
        return RecordingOutcome(self.recordings.groups, self.read, dict(self._positions))

    def _tell_moved(self, before: Mapping[int, int | None], now: Mapping[int, int | None]) -> dict[int, int | None]:
        """A partition without a leader is reported when it has one."""
        leaders = {
            partition: leader if leader is not None else before.get(partition) for partition, leader in now.items()
        }
        for partition, leader in leaders.items():
            was = before.get(partition)
            if was is not None and leader != was:
                self.on_moved(
                    f"partition {partition} of {TOPIC} is led by broker {leader} now, and was by {was}: reading goes "
                    f"on at offset {self._positions[partition]}"
                )
        return leaders

    def _write_histories(self, wrote_s: float) -> float:
        """Writes changed histories, which takes at most a tenth of the time; returns the end of the pause."""
        begun = time.monotonic()
        if begun < wrote_s:
            return wrote_s
        self.recordings.write_histories()
        now = time.monotonic()
        return now + max(_HISTORIES_S, (now - begun) * _OTHERS_PER_WRITE)

    def _read(
        self,
        consumer: Any,
        partitions: Sequence[Any],
        goes_on: Callable[[], bool],
        *,
        is_following: bool,
    ) -> None:
        settled, took, wrote_s = time.monotonic(), 0.0, 0.0
        leaders: dict[int, int | None] = {}
        while goes_on() and not self.is_stopped():
            for partition, records in consumer.poll(timeout_ms=_POLL_MS).items():
                self.read += len(records)
                for each in records:
                    record = GroupRecord(each.offset, each.timestamp, each.key or b"", each.value)
                    self.recordings.take(partition.partition, record)
            # Markers of transactions have offsets, but are no visible records.
            for each in partitions:
                self._positions[each.partition] = consumer.position(each)
            has_news = is_following and self.recordings.has_news
            if has_news or time.monotonic() - settled > max(_SETTLE_S, took * _OTHERS_PER_WRITE):
                begun = time.monotonic()
                self.recordings.settle(self._positions)
                settled = time.monotonic()
                took = settled - begun
                self.files.write_if_due(has_news=has_news or not is_following)
            if is_following:
                wrote_s = self._write_histories(wrote_s)
                self.on_read(any(_is_connected(consumer, each) for each in partitions))
                leaders = self._tell_moved(leaders, {each.partition: _leader(consumer, each) for each in partitions})
            if is_following and self.sampler is not None:
                self.sampler.sample_if_due(has_news=has_news)
        self.recordings.settle(self._positions)
        self.files.write_if_due(has_news=True)


def _is_connected(consumer: Any, partition: Any) -> bool:
    leader = _leader(consumer, partition)
    return leader is not None and bool(consumer._client.connected(leader))


def _leader(consumer: Any, partition: Any) -> int | None:
    leader = consumer._client.cluster.leader_for_partition(partition)
    return int(leader) if leader is not None and leader >= 0 else None
