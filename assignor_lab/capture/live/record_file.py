"""The raw file of a recorded group: a line for each record, and lines with the offset read so far.

A killed process leaves at most half a line; a resumed recording cuts it off.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from assignment_api.input_files import read_input
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.capture.recorded.kept_records import HEAD_LINE, KIND, READ_TO_LINE, RECORD_LINE
from assignor_lab.documents.durable import append_durably, write_durably
from assignor_lab.documents.errors import DocumentFormatError, Place
from assignor_lab.documents.json_lines import json_lines
from assignor_lab.documents.shapes import Mismatch, faults_at
from assignor_lab.documents.writer import canonical_line

__all__ = ["RecordFile", "lines_that_end"]


@attrs.define
class RecordFile:
    """A raw file."""

    path: Path
    group: str
    partition: int
    _unwritten: list[dict[str, Any]] = attrs.field(factory=list, init=False)

    def create(self) -> None:
        head = {"format": 1, "kind": KIND, "group": self.group, "partition": self.partition}
        write_durably(self.path, canonical_line(head))

    def add(self, each: GroupRecord) -> None:
        """On disk after the next :meth:`settle`."""
        value = None if each.value is None else each.value.hex()
        self._unwritten.append(
            {"offset": each.offset, "t": each.time_ms, "key_hex": each.key.hex(), "value_hex": value}
        )

    def settle(self, read_to: int) -> None:
        lines = [*self._unwritten, {"read_to": read_to}]
        append_durably(self.path, b"".join(map(canonical_line, lines)))
        self._unwritten.clear()

    @property
    def has_unwritten(self) -> bool:
        return bool(self._unwritten)

    def read(self) -> tuple[list[GroupRecord], int | None]:
        """The records, and the offset to continue from. Cuts off half a line."""
        records: list[GroupRecord] = []
        read_to: int | None = None
        for number, (place, line) in enumerate(lines_that_end(self.path)):
            with faults_at(place):
                if number == 0:
                    head = HEAD_LINE(line)
                    if head["kind"] != KIND or head["group"] != self.group or head["partition"] != self.partition:
                        raise Mismatch(f"is no recording of group {self.group}: name another folder with --out")
                elif type(line) is dict and "read_to" in line:
                    read_to = READ_TO_LINE(line)["read_to"]
                else:
                    fields = RECORD_LINE(line)
                    records.append(GroupRecord(fields["offset"], fields["t"], fields["key_hex"], fields["value_hex"]))
        if not records and read_to is None and self.path.stat().st_size == 0:
            raise DocumentFormatError(str(self.path), None, "", "is empty: remove it, and record without --resume")
        # Records after the last offset line are read twice.
        by_offset = {each.offset: each for each in records}
        return [each for each in by_offset.values() if read_to is not None and each.offset < read_to], read_to


def lines_that_end(path: Path) -> Iterator[tuple[Place, Any]]:
    """Lines of an append-only file; half a line at the end is cut off."""
    content = read_input(path)
    if content and not content.endswith(b"\n"):
        write_durably(path, content[: content.rfind(b"\n") + 1])
    yield from json_lines(str(path))
