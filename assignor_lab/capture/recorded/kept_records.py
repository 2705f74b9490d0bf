"""Reads recordings of ``assignor record``.

A line that a kill truncated is ignored: no offset line covers it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.documents.errors import DocumentFormatError, Place
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.lines import bounded_lines
from assignor_lab.documents.shapes import (
    LONG_MAX,
    Mismatch,
    faults_at,
    hexadecimal,
    map_of,
    nullable,
    record,
    text,
    whole,
)

__all__ = [
    "HEAD_LINE",
    "KIND",
    "READ_TO_LINE",
    "RECORD_LINE",
    "RECORDS",
    "SAMPLES",
    "KeptRecord",
    "KeptRecords",
    "Sample",
    "is_kept_records",
    "read_kept_records",
]

RECORDS, SAMPLES = "records.jsonl", "samples.jsonl"

_number = whole(0, LONG_MAX)
KIND = "group-records"
HEAD_LINE = record({"format": whole(1, 1), "kind": text, "group": text, "partition": _number})
RECORD_LINE = record(
    {"offset": _number, "t": whole(-1, LONG_MAX), "key_hex": hexadecimal, "value_hex": nullable(hexadecimal)}
)
READ_TO_LINE = record({"read_to": _number})
_of_partitions = map_of(text, map_of(text, _number))
_SAMPLE = record({"t": _number, "ends": _of_partitions, "bytes": _of_partitions})


@attrs.frozen
class KeptRecord:
    """A record and its line."""

    place: Place
    record: GroupRecord


@attrs.frozen
class Sample:
    """Ends and sizes of a group's topics at one time."""

    time_ms: int
    ends: Mapping[tuple[str, int], int]
    sizes: Mapping[tuple[str, int], int]


@attrs.frozen
class KeptRecords:
    """The recording of one group."""

    group: str
    records: tuple[KeptRecord, ...]
    samples: tuple[Sample, ...]
    place: Place


def is_kept_records(line: bytes) -> bool:
    try:
        head = parse_json(line)
    except Mismatch:
        return False
    return isinstance(head, dict) and head.get("kind") == KIND


def read_kept_records(file: Path, samples: Path | None = None) -> KeptRecords:
    place = Place(str(file))
    records: dict[int, KeptRecord] = {}
    group: str | None = None
    for where, line in _lines(file):
        with faults_at(where):
            if group is None:
                head = HEAD_LINE(line)
                if head["kind"] != KIND:
                    raise Mismatch(f'is of kind "{head["kind"]:.60}", and no recording of a group', "kind")
                group = head["group"]
            elif isinstance(line, dict) and "read_to" in line:
                READ_TO_LINE(line)
            else:
                fields = RECORD_LINE(line)
                # Records after the last offset line are read twice.
                kept = GroupRecord(fields["offset"], fields["t"], fields["key_hex"], fields["value_hex"])
                records[kept.offset] = KeptRecord(where, kept)
    if group is None:
        raise DocumentFormatError(str(file), None, "", "is empty: the recording was stopped before it began")
    ordered = tuple(records[offset] for offset in sorted(records))
    return KeptRecords(group, ordered, () if samples is None else tuple(_samples(samples)), place)


def _samples(file: Path) -> Iterator[Sample]:
    for where, line in _lines(file):
        with faults_at(where):
            fields = _SAMPLE(line)
            yield Sample(fields["t"], _by_partition(fields["ends"]), _by_partition(fields["bytes"]))


def _by_partition(of_topics: Mapping[str, Mapping[str, int]]) -> dict[tuple[str, int], int]:
    found = {}
    for topic, of in of_topics.items():
        for partition, number in of.items():
            if not partition.isascii() or not partition.isdigit():
                raise Mismatch(f"{partition!r:.40} is no number of a partition", topic)
            found[topic, int(partition)] = number
    return found


def _lines(file: Path) -> Iterator[tuple[Place, Any]]:
    for number, line in bounded_lines(file):
        if line.isspace() or not line.endswith(b"\n"):
            continue
        place = Place(str(file), number)
        with faults_at(place):
            value = parse_json(line)
        yield place, value
