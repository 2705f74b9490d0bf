"""The flight recorder: the past of groups from their coordinators' topic, and what follows, kept as it comes.

Reads partitions of ``__consumer_offsets`` with a consumer that is in no group and commits nothing, or copies of the
topic's log segments without any broker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignment_api.java import string_hash
from assignor_lab.capture.live.access import Access
from assignor_lab.capture.live.cluster import Cluster, client_settings, translated
from assignor_lab.capture.live.cluster_files import ClusterFiles
from assignor_lab.capture.live.errors import GroupUnusableError, NotAuthorizedError
from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.capture.live.one_recorder import alone_in
from assignor_lab.capture.live.recordings import ManyGroups, OneGroupAlone, OnGeneration, Recordings
from assignor_lab.capture.live.sampling import Sampler
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.capture.recorded.log_segments import Segment, SegmentFault, find_segments, read_segment
from assignor_lab.scenarios.anonymous import Pseudonyms

__all__ = ["Recorded", "Recording", "record_groups", "record_segments"]

TOPIC = "__consumer_offsets"

_POLL_MS = 500
_AT_ONCE = 5_000
_FETCH_BYTES = 4 * 1024 * 1024
#: So much is read at most between two writes; ten times as long as a write takes, where that is more.
_SETTLE_S = 1.0
_OTHERS_PER_WRITE = 10


@attrs.frozen
class Recorded:
    """What has been recorded.

    Args:
        groups: The groups, by id.
        read: Number of records that were read now.
        read_to: Partition of the topic to the offset before which everything has been read.
        faults: Parts of segments that could not be read.
    """

    groups: Mapping[str, GroupRecording]
    read: int
    read_to: Mapping[int, int]
    faults: Sequence[SegmentFault] = ()

    @property
    def kept(self) -> int:
        """Number of records of the groups that were read now."""
        return sum(each.kept for each in self.groups.values())


@attrs.frozen
class Recording:
    """What is to be recorded, and where to.

    Args:
        folder: Where to; made if need be.
        group: The group's id; ``None``: all groups of Streams and Connect, each in a folder of its own.
        resume: Go on with the recording that is there.
        on_generation: Told of each generation or epoch when it is on disk, those of the past, too.
        on_trouble: Told what of the cluster cannot be read for a while, and why.
        on_moved: Told that another broker leads a partition of the topic.
        names: Pseudonyms for all that is written, or ``None``: names stay.
        is_stopped: Whether to end now, with what has come so far; asked twice a second.
    """

    folder: Path
    group: str | None
    resume: bool = False
    on_generation: OnGeneration = lambda _group, _told: None
    on_trouble: Callable[[str], None] = lambda _: None
    names: Pseudonyms | None = None
    is_stopped: Callable[[], bool] = lambda: False
    on_moved: Callable[[str], None] = lambda _: None

    def opened(self, partition: int) -> Recordings:
        """The recording, begun or gone on with.

        Args:
            partition: That of the one group.

        Raises:
            GroupUnusableError: if there is a recording and ``resume`` is false, or none and it is true.
            DocumentFormatError: if what is there is another one, or garbled.
        """
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

    def check_something_was_kept(self, recorded: Recorded) -> None:
        """Takes the files of one group away if there is nothing about it.

        Raises:
            GroupUnusableError: then.
        """
        if self.group is None or self.resume or recorded.kept:
            return
        for each in recorded.groups.values():
            each.remove()
        raise GroupUnusableError(
            f"group {self.group}: none of the {recorded.read} records in its partition of {TOPIC} is about it: "
            "`assignor groups --all` lists the groups that are there"
        )


def record_groups(
    cluster: Cluster, access: Access, wanted: Recording, *, follow_s: float | None, sample_every_s: float | None = None
) -> Recorded:
    """Records groups of a running Kafka into a folder: their past, and then what comes.

    Args:
        cluster: The cluster.
        access: How to reach it.
        wanted: What, and where to.
        follow_s: How long to go on when the past has been read, in seconds; ``None``: not at all.
        sample_every_s: Seconds between two samples of ends and sizes of the groups' topics; ``None``: none.

    Raises:
        GroupUnusableError: as :meth:`Recording.opened`; or if no record is about the one group: then no file is left.
        NotAuthorizedError: if the topic may not be read.
        OutputFileError: if something cannot be written.
    """
    with alone_in(wanted.folder):
        return _record_groups(cluster, access, wanted, follow_s, sample_every_s)


def _record_groups(
    cluster: Cluster, access: Access, wanted: Recording, follow_s: float | None, sample_every_s: float | None
) -> Recorded:
    count = _number_of_partitions(cluster)
    partitions = tuple(range(count)) if wanted.group is None else (partition_of(wanted.group, count),)
    recordings = wanted.opened(partitions[0])
    sampler = None if sample_every_s is None else Sampler(cluster, recordings.groups, sample_every_s, wanted.on_trouble)
    files = ClusterFiles(cluster, recordings.groups, wanted.on_trouble)
    with translated(access):
        reading = _LiveReading(access, recordings, sampler, files, wanted.is_stopped, wanted.on_moved)
        recorded = reading.run(partitions, follow_s)
    wanted.check_something_was_kept(recorded)
    files.write()
    return recorded


def record_segments(paths: Sequence[Path], wanted: Recording) -> Recorded:
    """Records groups into a folder from copies of log segments; a record that several copies have counts once.

    Args:
        paths: Segments, or folders of partitions.
        wanted: What, and where to.

    Raises:
        GroupUnusableError: as :func:`record_groups`.
        DocumentFormatError: if a file is no segment.
        OutputFileError: if something cannot be written.
    """
    segments = find_segments(paths)
    with alone_in(wanted.folder):
        return _record_segments(segments, wanted)


def _record_segments(segments: Sequence[Segment], wanted: Recording) -> Recorded:
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
    recorded = Recorded(recordings.groups, read, read_to, faults)
    wanted.check_something_was_kept(recorded)
    return recorded


def partition_of(group: str, count: int) -> int:
    """The partition that holds a group's records. Kafka: ``GroupCoordinator#partitionFor``."""
    number = string_hash(group)
    return (0 if number == -(2**31) else abs(number)) % count


def _number_of_partitions(cluster: Cluster) -> int:
    partitions = cluster.topics([TOPIC]).topics.get(TOPIC)
    if not partitions:
        raise NotAuthorizedError(
            f"topic {TOPIC} is not there, or may not be seen: READ and DESCRIBE on it are needed to record; without "
            "them `assignor capture` shows the group as it is now"
        )
    return max(partitions) + 1


@attrs.define
class _LiveReading:
    access: Access
    recordings: Recordings
    sampler: Sampler | None
    files: ClusterFiles
    is_stopped: Callable[[], bool]
    on_moved: Callable[[str], None] = lambda _: None
    read: int = 0
    _positions: dict[int, int] = attrs.field(factory=dict)

    def run(self, numbers: Sequence[int], follow_s: float | None) -> Recorded:
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
            # In Python a checksum costs more than all the rest, and brokers have looked at it.
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
        return Recorded(self.recordings.groups, self.read, dict(self._positions))

    def _tell_moved(self, before: Mapping[int, int | None], now: Mapping[int, int | None]) -> dict[int, int | None]:
        """Says which partitions another broker leads than before; one without a leader is told when it has one."""
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

    def _read(
        self,
        consumer: Any,
        partitions: Sequence[Any],
        goes_on: Callable[[], bool],
        *,
        is_following: bool,
    ) -> None:
        """Reads on, and writes about once a second."""
        settled, took = time.monotonic(), 0.0
        leaders: dict[int, int | None] = {}
        while goes_on() and not self.is_stopped():
            for partition, records in consumer.poll(timeout_ms=_POLL_MS).items():
                self.read += len(records)
                for each in records:
                    record = GroupRecord(each.offset, each.timestamp, each.key or b"", each.value)
                    self.recordings.take(partition.partition, record)
            # What transactions leave has offsets of its own, which no record shows.
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
                leaders = self._tell_moved(leaders, {each.partition: _leader(consumer, each) for each in partitions})
            if is_following and self.sampler is not None:
                self.sampler.sample_if_due(has_news=has_news)
        self.recordings.settle(self._positions)
        self.files.write_if_due(has_news=True)


def _leader(consumer: Any, partition: Any) -> int | None:
    """The broker that a consumer reads a partition from, as far as it knows."""
    leader = consumer._client.cluster.leader_for_partition(partition)
    return int(leader) if leader is not None and leader >= 0 else None
