"""Recordings: folders with the records of one group, or of many, and the histories made of them.

A folder of one group has ``records.jsonl`` and ``history.jsonl``. A folder of many has one such folder for each, and
``recording.jsonl``, which tells whose they are and how far each partition of the topic has been read. Lines are only
added, and a line that says how far follows what it speaks of.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import attrs

from assignor_lab.capture.live.errors import GroupUnusableError
from assignor_lab.capture.live.rack_files import racks_toml
from assignor_lab.capture.live.record_file import RecordFile, lines_that_end
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer
from assignor_lab.capture.recorded.group_history import GroupHistory, GroupRecord
from assignor_lab.capture.recorded.topic_groups import AllGroups, OneGroup
from assignor_lab.documents.durable import append_durably, naming_failures, write_durably
from assignor_lab.documents.shapes import LONG_MAX, Mismatch, faults_at, map_of, one_of, record, text, whole
from assignor_lab.documents.writer import canonical_line, write_lines

__all__ = [
    "HISTORY",
    "RACKS",
    "RECORDING",
    "RECORDS",
    "SAMPLES",
    "GroupRecording",
    "ManyGroups",
    "OneGroupAlone",
    "Recordings",
]

#: Files of a recording.
RECORDS, HISTORY, SAMPLES, RECORDING = "records.jsonl", "history.jsonl", "samples.jsonl", "recording.jsonl"
RACKS = "racks.toml"

_INTERNAL = ("-changelog", "-repartition")

#: Told of a generation or epoch: the group and its document.
OnGeneration = Callable[[str, Mapping[str, Any]], None]


def _partition(name: str) -> None:
    if re.fullmatch(r"[0-9]{1,9}", name) is None:
        raise Mismatch(f"{name!r:.40} is no number of a partition")


_number = whole(0, LONG_MAX)
_HEAD = record({"format": whole(1, 1), "kind": one_of("recording")})
_GROUP = record({"group": text, "folder": text, "partition": _number})
_READ_TO = record({"read_to": map_of(_partition, _number)})

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\Z")


@attrs.define
class GroupRecording:
    """The recording of one group, while it is written.

    Args:
        folder: Its folder.
        group: The group.
        partition: Partition of the topic.
    """

    folder: Path
    group: str
    partition: int
    #: Generations and epochs so far.
    history: GroupHistory = attrs.field(init=False)
    #: Number of records that were kept now.
    kept: int = attrs.field(default=0, init=False)
    _file: RecordFile = attrs.field(init=False)
    #: Records before this offset are there already.
    _begin: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self.history = GroupHistory(self.group)
        self._file = RecordFile(self.folder / RECORDS, self.group, self.partition)

    @property
    def is_there(self) -> bool:
        """Whether the folder has a recording."""
        return self._file.path.exists()

    def create(self) -> None:
        """Begins anew.

        Raises:
            OutputFileError: if it cannot be written.
        """
        with naming_failures(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        self._file.create()

    def reopen(self) -> int | None:
        """Reads what is there, and tells the offset to go on with.

        Raises:
            DocumentFormatError: if it is the recording of another group, or garbled.
        """
        kept, begin = self._file.read()
        for each in kept:
            self.history.take(each)
        self._begin = begin or 0
        return begin

    def take(self, each: GroupRecord) -> Mapping[str, Any] | None:
        """Takes a record of the group.

        Returns:
            The generation or epoch that came with it, if one did.
        """
        if each.offset < self._begin:
            return None
        self.kept += 1
        self._file.add(each)
        return self.history.generations[-1] if self.history.take(each) else None

    @property
    def is_settled(self) -> bool:
        """Whether all that was taken is on disk."""
        return not self._file.has_unwritten

    def settle(self, read_to: int) -> None:
        """Brings what was taken to the disk, and that everything before an offset has been read.

        Raises:
            OutputFileError: if it cannot be written.
        """
        self._file.settle(read_to)

    def write_history(self) -> None:
        """Writes the history anew.

        Raises:
            OutputFileError: if it cannot be written.
        """
        write_lines(self.folder / HISTORY, self.history.generations)

    def add_sample(self, sample: Mapping[str, Any]) -> None:
        """Adds a sample of the group's topics.

        Raises:
            OutputFileError: if it cannot be written.
        """
        append_durably(self.folder / SAMPLES, canonical_line(sample))

    def topics_among(self, names: Iterable[str]) -> list[str]:
        """Those topics that members subscribe or the topology names, and internal ones of the group's name."""
        group, named = self.group, self.history.topics
        return sorted(
            name for name in names if name in named or (name.startswith(f"{group}-") and name.endswith(_INTERNAL))
        )

    def write_racks(self, cluster: ClusterAnswer) -> None:
        """Writes racks of brokers and of the group's topics, for ``--racks``, if there are any.

        Raises:
            OutputFileError: if they cannot be written.
        """
        told = racks_toml(cluster, self.topics_among(cluster.topics))
        if told is not None:
            write_durably(self.folder / RACKS, told.encode())

    def remove(self) -> None:
        """Takes the files away."""
        for name in (RECORDS, HISTORY):
            (self.folder / name).unlink(missing_ok=True)


class Recordings(Protocol):
    """Where records go to."""

    #: Groups with records, or that were asked for.
    groups: dict[str, GroupRecording]

    @property
    def has_news(self) -> bool:
        """Whether generations or epochs have come that are not on disk yet."""

    def begin(self, partition: int) -> int:
        """The offset to begin with."""

    def take(self, partition: int, each: GroupRecord) -> None:
        """Takes the next record of a partition."""

    def settle(self, positions: Mapping[int, int]) -> None:
        """Brings what was taken to the disk, and how far partitions have been read; then tells of generations."""

    def write_histories(self) -> None:
        """Writes the histories that have changed."""


@attrs.define
class OneGroupAlone:
    """The recording of one group in a folder of its own.

    Args:
        recording: The recording, not begun yet.
        on_generation: Told of each generation or epoch when it is on disk.
    """

    recording: GroupRecording
    on_generation: OnGeneration
    groups: dict[str, GroupRecording] = attrs.field(init=False)
    _news: list[Mapping[str, Any]] = attrs.field(factory=list, init=False)
    _begin: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self.groups = {self.recording.group: self.recording}

    def open(self, *, resume: bool) -> None:
        """Begins, or goes on.

        Raises:
            GroupUnusableError: if there is a recording and ``resume`` is false, or none and it is true.
            DocumentFormatError: if what is there is none of this group.
        """
        path = self.recording.folder / RECORDS
        _check(path, is_there=self.recording.is_there, resume=resume)
        if resume:
            self._begin = self.recording.reopen() or 0
        else:
            self.recording.create()

    def begin(self, partition: int) -> int:
        """The offset to begin with."""
        return self._begin if partition == self.recording.partition else 0

    def take(self, partition: int, each: GroupRecord) -> None:
        """Takes the next record of a partition."""
        theirs = OneGroup(self.recording.group).of(each)
        if theirs is not None and partition == self.recording.partition:
            told = self.recording.take(each)
            if told is not None:
                self._news.append(told)

    @property
    def has_news(self) -> bool:
        """Whether generations or epochs have come that are not on disk yet."""
        return bool(self._news)

    def settle(self, positions: Mapping[int, int]) -> None:
        """Brings what was taken to the disk, and how far the partition has been read; then tells of generations."""
        self.recording.settle(positions[self.recording.partition])
        for told in self._news:
            self.on_generation(self.recording.group, told)
        self._news.clear()

    def write_histories(self) -> None:
        """Writes the history."""
        self.recording.write_history()


@attrs.define
class ManyGroups:
    """The recordings of all groups of Streams and Connect, a folder for each in one.

    Args:
        folder: The folder.
        on_generation: Told of each generation or epoch when it is on disk.
    """

    folder: Path
    on_generation: OnGeneration
    groups: dict[str, GroupRecording] = attrs.field(factory=dict, init=False)
    _telling: AllGroups = attrs.field(factory=AllGroups, init=False)
    _read_to: dict[int, int] = attrs.field(factory=dict, init=False)
    _unnamed: list[GroupRecording] = attrs.field(factory=list, init=False)
    _changed: set[str] = attrs.field(factory=set, init=False)
    _news: list[tuple[str, Mapping[str, Any]]] = attrs.field(factory=list, init=False)

    def open(self, *, resume: bool) -> None:
        """Begins, or goes on.

        Raises:
            GroupUnusableError: if there is a recording and ``resume`` is false, or none and it is true.
            DocumentFormatError: if what is there is garbled.
        """
        path = self.folder / RECORDING
        _check(path, is_there=path.exists(), resume=resume)
        if resume:
            self._reopen(path)
        else:
            with naming_failures(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
            write_durably(path, canonical_line({"format": 1, "kind": "recording"}))

    def begin(self, partition: int) -> int:
        """The offset to begin with."""
        return self._read_to.get(partition, 0)

    def take(self, partition: int, each: GroupRecord) -> None:
        """Takes the next record of a partition."""
        theirs = self._telling.of(each)
        if theirs is None:
            return
        name, records = theirs
        recording = self.groups.get(name)
        if recording is None:
            recording = self.groups[name] = GroupRecording(self.folder / _folder_name(name), name, partition)
            self._unnamed.append(recording)
        if recording.partition != partition:
            # A group's records stand in one partition; those of a topic with more partitions than it had do not.
            return
        self._changed.add(name)
        for record_ in records:
            told = recording.take(record_)
            if told is not None:
                self._news.append((name, told))

    @property
    def has_news(self) -> bool:
        """Whether generations or epochs have come that are not on disk yet."""
        return bool(self._news)

    def settle(self, positions: Mapping[int, int]) -> None:
        """Brings what was taken to the disk, and how far partitions have been read; then tells of generations."""
        path = self.folder / RECORDING
        named = [
            {"group": each.group, "folder": each.folder.name, "partition": each.partition} for each in self._unnamed
        ]
        if named:
            append_durably(path, b"".join(map(canonical_line, named)))
        for each in self._unnamed:
            each.create()
        self._unnamed.clear()
        for each in self.groups.values():
            if not each.is_settled:
                each.settle(positions[each.partition])
        told = {str(partition): at for partition, at in positions.items() if self._read_to.get(partition) != at}
        if told:
            append_durably(path, canonical_line({"read_to": told}))
            self._read_to.update(positions)
        for name, generation in self._news:
            self.on_generation(name, generation)
        self._news.clear()

    def write_histories(self) -> None:
        """Writes the histories that have changed."""
        for name in sorted(self._changed):
            self.groups[name].write_history()
        self._changed.clear()

    def _reopen(self, path: Path) -> None:
        for number, (place, line) in enumerate(lines_that_end(path)):
            with faults_at(place):
                if number == 0:
                    _HEAD(line)
                elif type(line) is dict and "read_to" in line:
                    read_to = _READ_TO(line)["read_to"]
                    self._read_to |= {int(partition): at for partition, at in read_to.items()}
                else:
                    told = _GROUP(line)
                    if told["folder"] != _folder_name(told["group"]):
                        raise Mismatch(f"group {told['group']} is not in folder {told['folder']}: it was changed")
                    folder = self.folder / told["folder"]
                    self.groups[told["group"]] = GroupRecording(folder, told["group"], told["partition"])
        for name, recording in self.groups.items():
            self._telling.known.add(name)
            if recording.is_there:
                recording.reopen()
            else:
                recording.create()


def _check(path: Path, *, is_there: bool, resume: bool) -> None:
    if resume and not is_there:
        raise GroupUnusableError(f"{path}: there is no recording to go on with: leave --resume out")
    if is_there and not resume:
        raise GroupUnusableError(f"{path}: there is a recording already: go on with --resume, or name another")


def _folder_name(group: str) -> str:
    """A name for any group's folder, another one for each: what no file system minds stays as it is.

    Names that differ in capitals alone are one on some file systems, so those with capitals get a digest, too.
    """
    if _PLAIN.match(group) and group == group.lower() and group != RECORDING:
        return group
    digest = hashlib.sha256(group.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    readable = re.sub(r"[^a-z0-9._-]", "_", group[:60].lower()).lstrip(".")
    return f"{readable}-{digest}+"
