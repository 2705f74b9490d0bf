"""The recording of one group during writing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from assignment_api.releases import KafkaRelease
from assignor_lab.capture.live.rack_files import racks_toml
from assignor_lab.capture.live.record_file import RecordFile
from assignor_lab.capture.recorded.anonymous_records import anonymous_record
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_history import GroupRecord, RecordedHistory
from assignor_lab.capture.topology.internal_topics import is_internal_of
from assignor_lab.documents.durable import append_durably, naming_failures, write_durably
from assignor_lab.documents.writer import canonical_line, write_lines
from assignor_lab.scenarios.anonymous import Pseudonyms, anonymous_sample
from assignor_lab.scenarios.settings import Settings

__all__ = ["BROKERS", "HISTORY", "RACKS", "RECORDS", "SAMPLES", "GroupRecording"]

RECORDS, HISTORY, SAMPLES, RACKS = "records.jsonl", "history.jsonl", "samples.jsonl", "racks.toml"
BROKERS = "brokers.json"


@attrs.define
class GroupRecording:
    """The folder of a group: records, history, samples and racks.

    Args:
        names: ``None``: original names.
    """

    folder: Path
    group: str
    partition: int
    names: Pseudonyms | None = None
    #: With pseudonyms it is known after the first record.
    original: str = attrs.field(init=False)
    history: RecordedHistory = attrs.field(init=False)
    kept: int = attrs.field(default=0, init=False)
    #: Without possible pseudonyms: offset and reason.
    left_out: list[tuple[int, str]] = attrs.field(factory=list, init=False)
    _file: RecordFile = attrs.field(init=False)
    _begin: int = attrs.field(default=0, init=False)
    _times: Mapping[str, int] = attrs.field(factory=dict, init=False)
    #: Latest content of the cluster's files.
    _put_already: dict[str, bytes] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.original = self.group
        self.history = RecordedHistory(self.group)
        self._file = RecordFile(self.folder / RECORDS, self.group, self.partition)

    @property
    def is_there(self) -> bool:
        return self._file.path.exists()

    def create(self) -> None:
        with naming_failures(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        self._file.create()

    def reopen(self) -> int | None:
        """Returns the offset to continue from."""
        kept, begin = self._file.read()
        for each in kept:
            self.history.take(each)
        self._begin = begin or 0
        return begin

    def take(self, each: GroupRecord) -> Mapping[str, Any] | None:
        """Returns the generation or epoch that the record completes."""
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
        return not self._file.has_unwritten

    def settle(self, read_to: int) -> None:
        """Writes added records, and the offset before which everything has been read."""
        self._file.settle(read_to)

    def write_history(self) -> None:
        write_lines(self.folder / HISTORY, self.history.generations)

    def add_sample(self, sample: Mapping[str, Any]) -> None:
        written = sample if self.names is None else anonymous_sample(sample, self.original, self.names)
        append_durably(self.folder / SAMPLES, canonical_line(written))

    def topics_among(self, names: Iterable[str], groups: Collection[str] = ()) -> list[str]:
        """Subscribed and internal topics.

        Args:
            groups: All known groups: a group whose name starts with this one's has internal topics, too.
        """
        group, named = self.original, self.history.topics
        return sorted(
            name
            for name in names
            if (name if self.names is None else self.names.topic(name, group)) in named
            or is_internal_of(name, group, groups)
        )

    def write_cluster(
        self,
        cluster: ClusterAnswer,
        groups: Collection[str] = (),
        streams_group_describe: int | None = None,
        settings: Settings | None = None,
        release: KafkaRelease | None = None,
    ) -> None:
        """Writes racks of brokers and topics, and the versions that the group's decisions depend on.

        Args:
            cluster: Unless every broker has a rack, there is no file of racks.
            streams_group_describe: The latest version of that request. Version 1 means brokers of 4.4, whose assignor
            receives the current tasks.
            settings: Of a streams group; without any, the latest known times stay.
            release: Of the brokers.
        """
        topics = {name: cluster.topics[name] for name in self.topics_among(cluster.topics, groups)}
        ids = {name: cluster.ids[name] for name in sorted(topics) if name in cluster.ids}
        racks = cluster.racks
        if (names := self.names) is not None:
            topics = {names.topic(name, self.original): partitions for name, partitions in topics.items()}
            ids = {names.topic(name, self.original): topic_id for name, topic_id in ids.items()}
            racks = {broker: rack and names.rack(rack) for broker, rack in racks.items()}
        text = racks_toml(ClusterAnswer(racks, topics))
        if text is not None:
            self._put(RACKS, text.encode())
        if times := {key: int(value) for key, value in (settings or {}).items() if key.endswith(".ms")}:
            self._times = times
        brokers = {
            "format": 1,
            "kind": "brokers",
            "streams_group_describe": streams_group_describe,
            "topics": {name: max(topics[name], default=-1) + 1 for name in sorted(topics)},
            **({"topic_ids": ids} if ids else {}),
            **({"settings": self._times} if self._times else {}),
            **({} if release is None else {"kafka_release": str(release)}),
        }
        self._put(BROKERS, canonical_line(brokers))

    def _put(self, name: str, content: bytes) -> None:
        if self._put_already.get(name) != content:
            write_durably(self.folder / name, content)
            self._put_already[name] = content

    def remove(self) -> None:
        for name in (RECORDS, HISTORY, RACKS, BROKERS):
            (self.folder / name).unlink(missing_ok=True)
