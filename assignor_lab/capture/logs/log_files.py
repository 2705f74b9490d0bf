"""Reads the relevant lines of log files of any size: plain or gzip, UTF-8 or UTF-16, or standard input.

A file is searched in blocks for Kafka's texts (:data:`~assignor_lab.capture.logs.messages.MARKERS`). Memory stays below
a few blocks and the longest line.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import attrs

from assignment_api.input_files import open_input
from assignor_lab.capture.errors import LogLineTooLongError, UnreadableLogError
from assignor_lab.capture.logs.messages import JVM_DIED, MARKERS
from assignor_lab.documents.lines import STANDARD_INPUT

__all__ = ["HEAD_BYTES", "MAX_LINE_BYTES", "LineSource", "LogBytes", "RawLine", "checked_read", "opened_log"]

#: A decision for 10,000 tasks and 300 clients has about 40 MB.
MAX_LINE_BYTES = 64 * 2**20
#: The beginning of a log, which shows its form.
HEAD_BYTES = 2**16
_BLOCK_BYTES = 2**20
_UTF_8_MARK = b"\xef\xbb\xbf"
_FIRST_BYTES = 8
#: PowerShell and Excel write them.
_UTF_16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_GZIP_MAGIC = b"\x1f\x8b"

#: Lines behind the line with their time: of java.util.logging with their level, and of a JVM whose thread died.
_HEADED = re.compile(rb"\A(?:\[\S{1,200}\] |[\w.-]{1,200} {0,50}\| |> )?[A-Z]{4,15}: ")
_JVM_DIED = JVM_DIED.encode()
_MOST_BEFORE = 4_096

_MARKERS = tuple(marker.encode() for marker in MARKERS)


class LogBytes(Protocol):
    """Unpacked bytes."""

    def read(self, size: int, /) -> bytes: ...


@attrs.frozen
class RawLine:
    """One line of the file.

    Args:
        before: The end of the lines before one that has no time of its own, and a marker; otherwise empty.
    """

    number: int
    data: bytes
    before: bytes = b""


@attrs.define
class LineSource:
    """The relevant lines of one log.

    Args:
        markers: A line with one of them is relevant.
        follow: Set by the consumer while it awaits the rest of a message: then every line is relevant.
    """

    name: str
    reader: LogBytes
    markers: tuple[bytes, ...] = _MARKERS
    follow: bool = False
    total: int = 0
    _tail: bytes = b""

    def __iter__(self) -> Iterator[RawLine]:
        for block in self._whole_lines():
            yield from self._lines_that_matter(block)

    def _whole_lines(self) -> Iterator[bytes]:
        pieces: list[bytes] = []
        waiting = 0
        while data := checked_read(self.reader, _BLOCK_BYTES, self.name, self.total + 1):
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
                yield RawLine(self.total, line, self._before(block, start) if _is_untimed(line) else b"")
        self.total += block.count(b"\n", position)
        self._tail = block[-_MOST_BEFORE:]

    def _before(self, block: bytes, start: int) -> bytes:
        own = block[max(0, start - _MOST_BEFORE) : start]
        return own if start >= _MOST_BEFORE else self._tail[start - _MOST_BEFORE :] + own

    def _hits(self, block: bytes) -> list[int]:
        starts: dict[int, None] = {}
        for marker in self.markers:
            found = block.find(marker)
            while found >= 0:
                starts[block.rfind(b"\n", 0, found) + 1] = None
                end = block.find(b"\n", found)
                found = -1 if end < 0 else block.find(marker, end)
        return sorted(starts)


def _is_untimed(line: bytes) -> bool:
    return _HEADED.match(line) is not None or _JVM_DIED in line


def _line_at(block: bytes, start: int) -> tuple[bytes, int]:
    end = block.find(b"\n", start)
    line, after = (block[start:], len(block)) if end < 0 else (block[start:end], end + 1)
    return line.removesuffix(b"\r"), after


def opened_log(path: str | Path, standard_input: BinaryIO | None = None) -> tuple[str, bytes, LogBytes, BinaryIO]:
    """Name, beginning, and bytes of a log in UTF-8 with the beginning; the caller closes the file.

    The first bytes show gzip and UTF-16.
    """
    name = str(path)
    if name == STANDARD_INPUT and standard_input is not None:
        name, file = "<stdin>", standard_input
    else:
        try:
            file = cast("BinaryIO", open_input(path))
        except OSError as error:
            raise UnreadableLogError(
                name, None, f"cannot be read ({error.strerror or error})", "give the path of a log file"
            ) from error
    pieces: list[bytes] = []
    rest: LogBytes
    try:
        rest = _decoded(_unpacked(file))
        while sum(map(len, pieces)) < HEAD_BYTES and (piece := rest.read(HEAD_BYTES)):
            pieces.append(piece)
    except (EOFError, OSError, zlib.error) as error:
        # The real read reports it with its place.
        rest = _Failed(error)
    head = b"".join(pieces)
    return name, head, _Prefixed(head, rest), file


@attrs.frozen
class _Failed:
    error: Exception

    def read(self, _size: int, /) -> bytes:
        raise self.error


def checked_read(data: LogBytes, size: int, name: str, line: int | None = None) -> bytes:
    """Empty at the end."""
    try:
        return data.read(size)
    except EOFError as error:
        raise UnreadableLogError(
            name, line, "the gzip data end too early", "copy the file again, or unpack the readable part"
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise UnreadableLogError(name, line, f"the gzip data are damaged ({error})", "copy the file again") from error


@attrs.define
class _Prefixed:
    first: bytes
    stream: LogBytes

    def read(self, size: int = -1, /) -> bytes:
        if not self.first or size == 0:
            return self.stream.read(size)
        head, self.first = self.first[:size] if size > 0 else self.first, self.first[size:] if size > 0 else b""
        return head + self.stream.read(size - len(head) if size > 0 else -1)


@attrs.define
class _Transcoded:
    stream: LogBytes
    decoder: codecs.IncrementalDecoder

    def read(self, size: int, /) -> bytes:
        text = ""
        while not text and (data := self.stream.read(size)):
            text = self.decoder.decode(data)
        return text.encode("utf-8", "replace")


def _decoded(data: LogBytes) -> LogBytes:
    first = data.read(_FIRST_BYTES)
    if first.startswith(_UTF_8_MARK):
        return _Prefixed(first.removeprefix(_UTF_8_MARK), data)
    if (encoding := _UTF_16.get(first[:2])) is not None and b"\0" in first:
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        return _Transcoded(_Prefixed(first[2:], data), decoder)
    return _Prefixed(first, data)


def _unpacked(stream: BinaryIO) -> LogBytes:
    first = stream.read(len(_GZIP_MAGIC))
    whole = _Prefixed(first, stream)
    if first != _GZIP_MAGIC:
        return whole
    return cast("LogBytes", gzip.GzipFile(fileobj=cast("BinaryIO", whole), mode="rb"))
