"""The flight recorder: a group's past from its coordinator's topic, and what follows, kept as it comes.

Reads one partition of ``__consumer_offsets`` with a consumer that is in no group and commits nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from assignment_api.java import string_hash
from assignor_lab.capture.live.access import Access
from assignor_lab.capture.live.cluster import Cluster, client_settings, translated
from assignor_lab.capture.live.errors import GroupUnusableError, NotAuthorizedError
from assignor_lab.capture.live.record_file import RecordFile
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_history import GroupHistory, GroupRecord
from assignor_lab.capture.recorded.group_records import read_group_key
from assignor_lab.documents.writer import write_lines

__all__ = ["HISTORY", "RECORDS", "Recorded", "record_group"]

TOPIC = "__consumer_offsets"
#: Files of a recording.
RECORDS, HISTORY = "records.jsonl", "history.jsonl"

_POLL_MS = 500
_AT_ONCE = 5_000
_FETCH_BYTES = 4 * 1024 * 1024
#: So much is read at most between two writes.
_SETTLE_S = 1.0


@attrs.frozen
class Recorded:
    """What has been recorded.

    Args:
        history: Generations and epochs.
        read: Number of records of the topic that were read now.
        kept: Number of records of the group.
        read_to: Everything before this offset has been read.
    """

    history: GroupHistory
    read: int
    kept: int
    read_to: int


def record_group(
    cluster: Cluster,
    access: Access,
    group: str,
    folder: Path,
    *,
    resume: bool,
    follow_s: float | None,
    on_generation: Callable[[dict[str, Any]], None],
) -> Recorded:
    """Records a group into a folder: its past, and then what comes.

    Args:
        cluster: The cluster.
        access: How to reach it.
        group: The group's id.
        folder: Where to; made if need be.
        resume: Go on with the recording that is there.
        follow_s: How long to go on when the past has been read, in seconds; ``None``: not at all. Ctrl-C ends it.
        on_generation: Told of each generation or epoch that comes.

    Raises:
        GroupUnusableError: if there is a recording and ``resume`` is false, or none and it is true; or if no record is
            about the group: then no file is left.
        NotAuthorizedError: if the topic may not be read.
        OutputFileError: if something cannot be written.
    """
    partition = _partition(cluster, group)
    file = RecordFile(folder / RECORDS, group, partition)
    history, begin = GroupHistory(group), None
    if resume:
        if not file.path.is_file():
            raise GroupUnusableError(f"{file.path}: there is no recording to go on with: leave --resume out")
        kept, begin = file.read()
        for each in kept:
            history.take(each)
    else:
        if file.path.exists():
            raise GroupUnusableError(f"{file.path}: there is a recording already: go on with --resume, or name another")
        folder.mkdir(parents=True, exist_ok=True)
        file.create()
    with translated(access):
        recorded = _Recording(access, file, history, on_generation).run(partition, begin, follow_s)
    if not resume and not recorded.kept:
        for name in (RECORDS, HISTORY):
            (folder / name).unlink(missing_ok=True)
        raise GroupUnusableError(
            f"group {group}: none of the {recorded.read} records in its partition of {TOPIC} is about it: `assignor "
            "groups --all` lists the groups that are there"
        )
    return recorded


def _partition(cluster: Cluster, group: str) -> int:
    """The partition that holds a group's records. Kafka: ``GroupCoordinator#partitionFor``."""
    partitions = cluster.topics([TOPIC]).topics.get(TOPIC)
    if not partitions:
        raise NotAuthorizedError(
            f"topic {TOPIC} is not there, or may not be seen: READ and DESCRIBE on it are needed to record; without "
            "them `assignor capture` shows the group as it is now"
        )
    number = string_hash(group)
    return (0 if number == -(2**31) else abs(number)) % (max(partitions) + 1)


@attrs.define
class _Recording:
    access: Access
    file: RecordFile
    history: GroupHistory
    on_generation: Callable[[dict[str, Any]], None]
    read: int = 0
    kept: int = 0

    def run(self, number: int, begin: int | None, follow_s: float | None) -> Recorded:
        from kafka import KafkaConsumer, TopicPartition

        partition = TopicPartition(TOPIC, number)
        consumer = KafkaConsumer(
            **client_settings(self.access),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_poll_records=_AT_ONCE,
            max_partition_fetch_bytes=_FETCH_BYTES,
            fetch_max_bytes=_FETCH_BYTES,
        )
        try:
            consumer.assign([partition])
            first = consumer.beginning_offsets([partition])[partition]
            position = max(first, begin or 0)
            consumer.seek(partition, position)
            past = consumer.end_offsets([partition])[partition]
            position = self._read(consumer, partition, position, lambda at: at < past)
            self._write_history()
            if follow_s is not None:
                end = time.monotonic() + follow_s
                position = self._read(consumer, partition, position, lambda _: time.monotonic() < end)
        finally:
            consumer.close()
        self._write_history()
        return Recorded(self.history, self.read, self.kept, position)

    def _read(self, consumer: Any, partition: Any, position: int, goes_on: Callable[[int], bool]) -> int:
        """Reads on, and writes at least once a second; Ctrl-C is a way to end."""
        settled = time.monotonic()
        try:
            while goes_on(position):
                changed = False
                for each in consumer.poll(timeout_ms=_POLL_MS).get(partition, ()):
                    self.read += 1
                    changed |= self._take(GroupRecord(each.offset, each.timestamp, each.key or b"", each.value))
                # What transactions leave has offsets of its own, which no record shows.
                position = consumer.position(partition)
                if changed or time.monotonic() - settled > _SETTLE_S:
                    self.file.settle(position)
                    settled = time.monotonic()
        except KeyboardInterrupt:
            pass
        self.file.settle(position)
        return position

    def _take(self, each: GroupRecord) -> bool:
        if not self._is_ours(each):
            return False
        self.kept += 1
        self.file.add(each)
        if self.history.take(each):
            self.on_generation(self.history.generations[-1])
            return True
        return False

    def _is_ours(self, each: GroupRecord) -> bool:
        try:
            key = read_group_key(each.key)
        except BrokerAnswerError:
            # A record of an unknown form is somebody else's as far as can be told.
            return False
        return key is not None and key.group == self.history.group

    def _write_history(self) -> None:
        write_lines(self.file.path.with_name(HISTORY), self.history.generations)
