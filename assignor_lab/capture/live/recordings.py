"""Recordings: folders with the records of one group, or of many, and their histories.

The folder of one group has ``records.jsonl`` and ``history.jsonl``. A folder of many has one such folder for each
group, and ``recording.jsonl`` with groups and offsets. Files are append-only. A line with an offset follows the records
before that offset.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import attrs

from assignor_lab.capture.live.errors import GroupUnusableError
from assignor_lab.capture.live.group_recording import RECORDS, GroupRecording
from assignor_lab.capture.live.record_file import lines_that_end
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.capture.recorded.topic_groups import AllGroups, OneGroup
from assignor_lab.documents.durable import append_durably, naming_failures, write_durably
from assignor_lab.documents.shapes import LONG_MAX, Mismatch, faults_at, map_of, one_of, record, text, whole
from assignor_lab.documents.writer import canonical_line
from assignor_lab.scenarios.anonymous import Pseudonyms

__all__ = ["RECORDING", "ManyGroups", "OneGroupAlone", "Recordings", "folder_name"]

RECORDING = "recording.jsonl"

OnGeneration = Callable[[str, Mapping[str, Any]], None]


def _partition(name: str) -> None:
    if re.fullmatch(r"[0-9]{1,9}", name) is None:
        raise Mismatch(f"{name!r:.40} is no number of a partition")


_number = whole(0, LONG_MAX)
_HEAD = record({"format": whole(1, 1), "kind": one_of("recording")}, {"key": text})
_GROUP = record({"group": text, "folder": text, "partition": _number})
_READ_TO = record({"read_to": map_of(_partition, _number)})

_PLAIN = re.compile(r"\A[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\Z")


class Recordings(Protocol):
    """Target of records."""

    groups: dict[str, GroupRecording]

    @property
    def has_news(self) -> bool:
        """True if generations or epochs are not on disk yet."""

    def begin(self, partition: int) -> int: ...

    def take(self, partition: int, each: GroupRecord) -> None: ...

    def settle(self, positions: Mapping[int, int]) -> None:
        """Writes added records and the offsets, then reports generations."""

    def write_histories(self) -> None: ...


@attrs.define
class OneGroupAlone:
    """The recording of one group in a folder of its own."""

    recording: GroupRecording
    on_generation: OnGeneration
    groups: dict[str, GroupRecording] = attrs.field(init=False)
    _news: list[Mapping[str, Any]] = attrs.field(factory=list, init=False)
    _begin: int = attrs.field(default=0, init=False)
    #: A new recording has a history, too.
    _has_changed: bool = attrs.field(default=True, init=False)

    def __attrs_post_init__(self) -> None:
        self.groups = {self.recording.group: self.recording}

    def open(self, *, resume: bool) -> None:
        path = self.recording.folder / RECORDS
        _check(path, is_there=self.recording.is_there, resume=resume)
        if resume:
            self._begin = self.recording.reopen() or 0
        else:
            self.recording.create()

    def begin(self, partition: int) -> int:
        return self._begin if partition == self.recording.partition else 0

    def take(self, partition: int, each: GroupRecord) -> None:
        theirs = OneGroup(self.recording.original).of(each)
        if theirs is not None and partition == self.recording.partition:
            generation = self.recording.take(each)
            if generation is not None:
                self._news.append(generation)
                self._has_changed = True

    @property
    def has_news(self) -> bool:
        return bool(self._news)

    def settle(self, positions: Mapping[int, int]) -> None:
        self.recording.settle(positions[self.recording.partition])
        for generation in self._news:
            self.on_generation(self.recording.group, generation)
        self._news.clear()

    def write_histories(self) -> None:
        if self._has_changed:
            self.recording.write_history()
        self._has_changed = False


@attrs.define
class ManyGroups:
    """All groups of Streams and Connect, a subfolder for each."""

    folder: Path
    on_generation: OnGeneration
    names: Pseudonyms | None = None
    groups: dict[str, GroupRecording] = attrs.field(factory=dict, init=False)
    _telling: AllGroups = attrs.field(init=False)
    _read_to: dict[int, int] = attrs.field(factory=dict, init=False)
    _unnamed: list[GroupRecording] = attrs.field(factory=list, init=False)
    _changed: set[str] = attrs.field(factory=set, init=False)
    _news: list[tuple[str, Mapping[str, Any]]] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        # A resumed recording with pseudonyms has its groups under those.
        self._telling = AllGroups(lambda name: self._shown(name) in self.groups)

    def open(self, *, resume: bool) -> None:
        path = self.folder / RECORDING
        _check(path, is_there=path.exists(), resume=resume)
        if resume:
            self._reopen(path)
        else:
            with naming_failures(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
            key = {} if self.names is None else {"key": self.names.fingerprint}
            write_durably(path, canonical_line({"format": 1, "kind": "recording", **key}))

    def begin(self, partition: int) -> int:
        return self._read_to.get(partition, 0)

    def take(self, partition: int, each: GroupRecord) -> None:
        theirs = self._telling.of(each)
        if theirs is None:
            return
        original, records = theirs
        name = self._shown(original)
        recording = self.groups.get(name)
        if recording is None:
            recording = self._recording(name, partition)
            self._unnamed.append(recording)
        recording.original = original
        if recording.partition != partition:
            # A group's records are in one partition, unless the topic has got more partitions.
            return
        self._changed.add(name)
        for record_ in records:
            generation = recording.take(record_)
            if generation is not None:
                self._news.append((name, generation))

    @property
    def has_news(self) -> bool:
        return bool(self._news)

    def settle(self, positions: Mapping[int, int]) -> None:
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
        moved = {str(partition): at for partition, at in positions.items() if self._read_to.get(partition) != at}
        if moved:
            append_durably(path, canonical_line({"read_to": moved}))
            self._read_to.update(positions)
        for name, generation in self._news:
            self.on_generation(name, generation)
        self._news.clear()

    def write_histories(self) -> None:
        for name in sorted(self._changed):
            self.groups[name].write_history()
        self._changed.clear()

    def _reopen(self, path: Path) -> None:
        for number, (place, line) in enumerate(lines_that_end(path)):
            with faults_at(place):
                if number == 0:
                    self._check_key(_HEAD(line).get("key"))
                elif type(line) is dict and "read_to" in line:
                    read_to = _READ_TO(line)["read_to"]
                    self._read_to |= {int(partition): at for partition, at in read_to.items()}
                else:
                    fields = _GROUP(line)
                    if fields["folder"] != folder_name(fields["group"]):
                        raise Mismatch(f"group {fields['group']} is not in folder {fields['folder']}: it was changed")
                    self._recording(fields["group"], fields["partition"])
        for recording in self.groups.values():
            if recording.is_there:
                recording.reopen()
            else:
                recording.create()

    def _shown(self, group: str) -> str:
        return group if self.names is None else self.names.group(group)

    def _recording(self, name: str, partition: int) -> GroupRecording:
        made = GroupRecording(self.folder / folder_name(name), name, partition, self.names)
        self.groups[name] = made
        return made

    def _check_key(self, key: str | None) -> None:
        if key is None and self.names is not None:
            raise Mismatch("is a recording without pseudonyms: leave --anonymize out, or name another folder")
        if key is not None and (self.names is None or self.names.fingerprint != key):
            raise Mismatch("is a recording with pseudonyms of another key: give that key with --anonymize")


def _check(path: Path, *, is_there: bool, resume: bool) -> None:
    if resume and not is_there:
        raise GroupUnusableError(f"{path}: there is no recording to go on with: leave --resume out")
    if is_there and not resume:
        raise GroupUnusableError(f"{path}: there is a recording already: go on with --resume, or name another")


def folder_name(group: str) -> str:
    """Some file systems ignore case, so names with capitals also get a digest."""
    if _PLAIN.match(group) and group == group.lower() and group != RECORDING:
        return group
    digest = hashlib.sha256(group.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    readable = re.sub(r"[^a-z0-9._-]", "_", group[:60].lower()).lstrip(".")
    return f"{readable}-{digest}+"
