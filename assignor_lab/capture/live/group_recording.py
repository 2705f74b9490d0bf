"""The recording of one group: its folder with records, history, samples and racks, while it is written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.capture.live.rack_files import racks_toml
from assignor_lab.capture.live.record_file import RecordFile
from assignor_lab.capture.recorded.anonymous_records import anonymous_record
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_history import GroupHistory, GroupRecord
from assignor_lab.capture.topology.internal_topics import is_internal_of
from assignor_lab.documents.durable import append_durably, naming_failures, write_durably
from assignor_lab.documents.writer import canonical_line, write_lines
from assignor_lab.scenarios.anonymous import Pseudonyms, anonymous_sample

__all__ = ["BROKERS", "HISTORY", "RACKS", "RECORDS", "SAMPLES", "GroupRecording"]

#: Files of a recording.
RECORDS, HISTORY, SAMPLES, RACKS = "records.jsonl", "history.jsonl", "samples.jsonl", "racks.toml"
BROKERS = "brokers.json"


@attrs.define
class GroupRecording:
    """The recording of one group, while it is written.

    Args:
        folder: Its folder.
        group: The group, as it is shown.
        partition: Partition of the topic.
        names: Pseudonyms, or ``None``: names stay.
    """

    folder: Path
    group: str
    partition: int
    names: Pseudonyms | None = None
    #: The group as brokers know it; with pseudonyms it is known when a record has come.
    original: str = attrs.field(init=False)
    #: Generations and epochs so far.
    history: GroupHistory = attrs.field(init=False)
    #: Number of records that were kept now.
    kept: int = attrs.field(default=0, init=False)
    #: Records that no pseudonyms could be put into, and are not kept: offset and reason.
    left_out: list[tuple[int, str]] = attrs.field(factory=list, init=False)
    _file: RecordFile = attrs.field(init=False)
    #: Records before this offset are there already.
    _begin: int = attrs.field(default=0, init=False)
    #: Files of the cluster to what was written last.
    _put_already: dict[str, bytes] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.original = self.group
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
        if self.names is not None:
            try:
                each = anonymous_record(each, self.names)
            except BrokerAnswerError as error:
                self.left_out.append((each.offset, self.names.in_sentence(str(error))))
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
        told = sample if self.names is None else anonymous_sample(sample, self.original, self.names)
        append_durably(self.folder / SAMPLES, canonical_line(told))

    def topics_among(self, names: Iterable[str], groups: Collection[str] = ()) -> list[str]:
        """Those topics that members subscribe or the topology names, and internal ones of the group's name.

        Args:
            names: Names of topics.
            groups: All groups that are known: one whose name begins with this group's has internal topics, too.
        """
        group, named = self.original, self.history.topics
        return sorted(
            name
            for name in names
            if (name if self.names is None else self.names.topic(name, group)) in named
            or is_internal_of(name, group, groups)
        )

    def write_cluster(
        self, cluster: ClusterAnswer, groups: Collection[str] = (), streams_group_describe: int | None = None
    ) -> None:
        """Writes racks of brokers and of the group's topics, and what else its decisions need of the cluster.

        Args:
            cluster: Brokers and topics. Without a rack for each broker there is no file of racks.
            groups: As for :meth:`topics_among`.
            streams_group_describe: The latest version of that request: 1 is of brokers of 4.4, whose assignor is given
                what members have; ``None``: the brokers do not support it.

        Raises:
            OutputFileError: if they cannot be written.
        """
        topics = {name: cluster.topics[name] for name in self.topics_among(cluster.topics, groups)}
        racks = cluster.racks
        if (names := self.names) is not None:
            topics = {names.topic(name, self.original): partitions for name, partitions in topics.items()}
            racks = {broker: rack and names.rack(rack) for broker, rack in racks.items()}
        text = racks_toml(ClusterAnswer(racks, topics))
        if text is not None:
            self._put(RACKS, text.encode())
        brokers = {
            "format": 1,
            "kind": "brokers",
            "streams_group_describe": streams_group_describe,
            "topics": {name: max(topics[name], default=-1) + 1 for name in sorted(topics)},
        }
        self._put(BROKERS, canonical_line(brokers))

    def _put(self, name: str, content: bytes) -> None:
        if self._put_already.get(name) != content:
            write_durably(self.folder / name, content)
            self._put_already[name] = content

    def remove(self) -> None:
        """Takes the files away."""
        for name in (RECORDS, HISTORY, RACKS, BROKERS):
            (self.folder / name).unlink(missing_ok=True)
