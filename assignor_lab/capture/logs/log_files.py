"""Reads the relevant lines of log files of any size: plain or gzip, or standard input.

A file is searched in blocks for Kafka's texts (:data:`~assignor_lab.capture.logs.messages.MARKERS`). Memory stays below
a few blocks and the longest line.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import attrs

from assignment_api.input_files import open_input
from assignor_lab.capture.errors import LogLineTooLongError, UnreadableLogError
from assignor_lab.capture.logs.messages import MARKERS
from assignor_lab.documents.lines import STANDARD_INPUT, bounded_lines

__all__ = ["MAX_LINE_BYTES", "LineSource", "RawLine", "is_log", "open_log"]

#: A decision for 10,000 tasks and 300 clients has about 40 MB.
MAX_LINE_BYTES = 64 * 2**20
_BLOCK_BYTES = 2**20
_GZIP_MAGIC = b"\x1f\x8b"

_MARKERS = tuple(marker.encode() for marker in MARKERS)


class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...


@attrs.frozen
class RawLine:
    """One line of the file."""

    number: int
    data: bytes


@attrs.define
class LineSource:
    """The relevant lines of one log.

    Args:
        follow: Set by the consumer while it awaits the rest of a message: then every line is relevant.
    """

    name: str
    reader: _Reader
    follow: bool = False
    total: int = 0

    def __iter__(self) -> Iterator[RawLine]:
        for block in self._whole_lines():
            yield from self._lines_that_matter(block)

    def _whole_lines(self) -> Iterator[bytes]:
        pieces: list[bytes] = []
        waiting = 0
        while data := self._read():
            end = data.rfind(b"\n") + 1
            if not end:
                pieces.append(data)
                waiting += len(data)
                if waiting > MAX_LINE_BYTES:
                    raise LogLineTooLongError(
                        self.name,
                        self.total + 1,
                        f"the line is longer than {MAX_LINE_BYTES // 2**20} MiB",
                        "is this a log? if so, take the line out and import the rest",
                    )
                continue
            pieces.append(data[:end])
            yield b"".join(pieces)
            pieces = [data[end:]]
            waiting = len(pieces[0])
        if rest := b"".join(pieces):
            yield rest

    def _read(self) -> bytes:
        try:
            return self.reader.read(_BLOCK_BYTES)
        except EOFError as error:
            raise UnreadableLogError(
                self.name,
                self.total + 1,
                "the gzip data end too early",
                "copy the file again, or unpack the readable part",
            ) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise UnreadableLogError(
                self.name, self.total + 1, f"the gzip data are damaged ({error})", "copy the file again"
            ) from error

    def _lines_that_matter(self, block: bytes) -> Iterator[RawLine]:
        position = 0
        for start in [*self._hits(block), len(block)]:
            while self.follow and position < start:
                line, position = _line_at(block, position)
                self.total += 1
                yield RawLine(self.total, line)
            if position <= start < len(block):
                self.total += block.count(b"\n", position, start) + 1
                line, position = _line_at(block, start)
                yield RawLine(self.total, line)
        self.total += block.count(b"\n", position)

    def _hits(self, block: bytes) -> list[int]:
        starts: dict[int, None] = {}
        for marker in _MARKERS:
            found = block.find(marker)
            while found >= 0:
                starts[block.rfind(b"\n", 0, found) + 1] = None
                end = block.find(b"\n", found)
                found = -1 if end < 0 else block.find(marker, end)
        return sorted(starts)


def _line_at(block: bytes, start: int) -> tuple[bytes, int]:
    end = block.find(b"\n", start)
    line, after = (block[start:], len(block)) if end < 0 else (block[start:end], end + 1)
    return line.removesuffix(b"\r"), after


def is_log(path: str | PathLike[str], name: str) -> bool:
    """By its name or its first line."""
    if name.removesuffix(".gz").endswith((".jsonl", ".json")):
        return False
    for _, line in bounded_lines(path):
        if not line.isspace():
            return not line.lstrip().startswith(b'{"format"')
    return False


def open_log(path: str | Path, standard_input: BinaryIO | None = None) -> tuple[LineSource, BinaryIO]:
    """Recognises gzip by its first bytes; the caller closes the file."""
    name = str(path)
    if name == STANDARD_INPUT and standard_input is not None:
        return LineSource("<stdin>", _unpacked(standard_input)), standard_input
    try:
        file = cast("BinaryIO", open_input(path))
    except OSError as error:
        raise UnreadableLogError(
            name, None, f"cannot be read ({error.strerror or error})", "give the path of a log file"
        ) from error
    return LineSource(name, _unpacked(file)), file


@attrs.define
class _Prefixed:
    first: bytes
    stream: BinaryIO

    def read(self, size: int = -1, /) -> bytes:
        if not self.first or size == 0:
            return self.stream.read(size)
        head, self.first = self.first[:size] if size > 0 else self.first, self.first[size:] if size > 0 else b""
        return head + self.stream.read(size - len(head) if size > 0 else -1)


def _unpacked(stream: BinaryIO) -> _Reader:
    first = stream.read(len(_GZIP_MAGIC))
    whole = _Prefixed(first, stream)
    if first != _GZIP_MAGIC:
        return whole
    return cast("_Reader", gzip.GzipFile(fileobj=cast("BinaryIO", whole), mode="rb"))
