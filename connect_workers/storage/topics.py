"""Topics: records from sources to sinks, in partitions on disk.

Appending and reading are for tasks' threads. A partition is one file of frames, one for each append.
"""

from __future__ import annotations

import bisect
import json
import re
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assignment_api.connectors import SinkRecord, SourceRecord
from connect_workers.contract import BadRequestError
from connect_workers.storage.errors import LogCorruptError, StorageError
from connect_workers.storage.frames import FrameFile

__all__ = ["MOST_PARTITIONS", "Partition", "Topics", "check_topic"]

_NAME = re.compile(r"\A[a-zA-Z0-9._-]{1,249}\Z")

#: Partitions of one topic, at most.
MOST_PARTITIONS = 1024


def check_topic(name: str) -> str:
    """``name``, if a topic can be called so; Kafka's own rule.

    Raises:
        BadRequestError: if not.
    """
    if not _NAME.match(name) or name in (".", ".."):
        raise BadRequestError(
            f"{name!r:.120} is no name of a topic: up to 249 ASCII letters, digits, '.', '_' and '-', not . or .."
        )
    return name


class Partition:
    """One partition.

    All methods may be called by any thread.
    """

    def __init__(self, path: Path, topic: str, number: int) -> None:
        self._path, self._topic, self._number = path, topic, number
        self._lock, self._sync_lock = threading.Lock(), threading.Lock()
        #: First offset and place in the file of each frame.
        self._first_offsets: list[int] = []
        self._places: list[int] = []
        self.end = 0
        try:
            self._file = FrameFile(path, self._load)
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror or error}: check the data directory") from error

    def _load(self, place: int, payload: bytes) -> None:
        try:
            first, last = _check(json.loads(payload), self.end)
        except (ValueError, TypeError, IndexError, RecursionError) as error:
            raise LogCorruptError(f"{self._path}: the frame at byte {place} is none of ours: {error}") from error
        self._first_offsets.append(first)
        self._places.append(place)
        self.end = last + 1

    def append(self, records: Sequence[tuple[Any, Any]]) -> None:
        """Appends keys and values; they are safe after the next :meth:`sync`.

        Raises:
            StorageError: if they cannot be written.
            ValueError, TypeError: if one has no JSON form.
        """
        now = time.time_ns() // 1_000_000
        encoded = [json.dumps([key, value, now], separators=(",", ":"))[1:] for key, value in records]
        with self._lock:
            payload = ",".join(f"[{self.end + index},{text}" for index, text in enumerate(encoded))
            try:
                place = self._file.append(f"[{payload}]".encode())
            except OSError as error:
                raise StorageError(f"{self._path}: {error.strerror or error}") from error
            self._first_offsets.append(self.end)
            self._places.append(place)
            self.end += len(records)

    def sync(self) -> None:
        """Returns when everything appended so far is on disk.

        Raises:
            StorageError: if it could not be brought there; another call tries again.
        """
        with self._sync_lock:
            try:
                self._file.sync()
            except OSError as error:
                raise StorageError(f"{self._path}: {error.strerror or error}") from error

    def read(self, offset: int, most: int = 500) -> list[SinkRecord]:
        """Records from ``offset`` on, at most about so many; none at the end."""
        found: list[SinkRecord] = []
        while len(found) < most:
            with self._lock:
                index = bisect.bisect_right(self._first_offsets, max(offset, 0)) - 1
                if offset >= self.end or index < 0:
                    return found
                place = self._places[index]
                end = self._places[index + 1] if index + 1 < len(self._places) else self._file.size
            try:
                payload = self._file.read(place, end)
            except OSError as error:
                raise StorageError(f"{self._path}: {error.strerror or error}") from error
            for at, key, value, timestamp in json.loads(payload):
                if at >= offset:
                    found.append(SinkRecord(self._topic, self._number, at, key, value, timestamp))
            offset = found[-1].offset + 1
        return found

    def close(self) -> None:
        """Closes the file; later calls of a task that was given up fail."""
        with self._lock:
            self._file.close()


def _check(records: list[tuple[int, Any, Any, int]], first: int) -> tuple[int, int]:
    """Places of the first and last record of a frame, which have no gaps."""
    places = [place for place, _, _, timestamp in records if type(timestamp) is int]
    if not records or places != list(range(first, first + len(records))):
        raise TypeError("a record is a place, a key, a value and a time, and no place is missing")
    return places[0], places[-1]


class Topics:
    """All topics of a data directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._partitions: dict[tuple[str, int], Partition] = {}
        for topic in sorted(path for path in directory.iterdir() if path.is_dir()):
            for file in sorted(topic.glob("*.log")):
                if file.stem.isdecimal():
                    number = int(file.stem)
                    self._partitions[topic.name, number] = Partition(file, topic.name, number)

    def names(self) -> list[str]:
        with self._lock:
            return sorted({topic for topic, _ in self._partitions})

    def partitions(self, matches: Callable[[str], bool]) -> list[tuple[str, int]]:
        """Topic and number of each partition of the topics that match, in order."""
        with self._lock:
            return sorted((topic, number) for topic, number in self._partitions if matches(topic))

    def partition(self, topic: str, number: int) -> Partition:
        """A partition, made if it is not there.

        Raises:
            BadRequestError: if there can be none.
        """
        with self._lock:
            found = self._partitions.get((topic, number))
            if found is not None:
                return found
            if not 0 <= number < MOST_PARTITIONS:
                raise BadRequestError(f"partition {number} of topic {check_topic(topic)}: 0 to {MOST_PARTITIONS - 1}")
            directory = self._directory / check_topic(topic)
            directory.mkdir(mode=0o700, exist_ok=True)
            made = Partition(directory / f"{number}.log", topic, number)
            self._partitions[topic, number] = made
            return made

    def append(self, records: Sequence[SourceRecord]) -> list[Partition]:
        """Appends records in order; which partitions have got some, to be synced."""
        by_partition: dict[tuple[str, int], list[tuple[Any, Any]]] = {}
        for record in records:
            number = self._number(record) if record.partition is None else record.partition
            by_partition.setdefault((record.topic, number), []).append((record.key, record.value))
        touched = []
        for (topic, number), pairs in by_partition.items():
            partition = self.partition(topic, number)
            partition.append(pairs)
            touched.append(partition)
        return touched

    def _number(self, record: SourceRecord) -> int:
        if record.key is None:
            return 0
        with self._lock:
            count = sum(topic == record.topic for topic, _ in self._partitions)
        return zlib.crc32(json.dumps(record.key, sort_keys=True).encode()) % max(count, 1)

    def ends(self) -> Mapping[tuple[str, int], int]:
        with self._lock:
            return {where: partition.end for where, partition in sorted(self._partitions.items())}

    def close(self) -> None:
        with self._lock:
            for partition in self._partitions.values():
                partition.close()
