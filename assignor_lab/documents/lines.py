"""Lines of a plain or gzip-compressed file, in bounded memory and time."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from os import PathLike, fspath
from typing import BinaryIO

from assignment_api.input_files import open_input
from assignor_lab.documents.errors import DocumentFormatError

__all__ = ["MAX_LINE_BYTES", "STANDARD_INPUT", "Source", "bounded_lines", "source_name"]

#: After decompression: a state of 1,000 clients and 1,000 tasks has 15 million.
MAX_LINE_BYTES = 64 * 1024 * 1024
STANDARD_INPUT = "-"

_GZIP_MAGIC = b"\x1f\x8b"

Source = str | PathLike[str] | BinaryIO


def source_name(source: Source) -> str:
    if isinstance(source, (str, PathLike)):
        return fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


def bounded_lines(source: Source, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """Number (from 1) and bytes of each line, with its line end.

    The first two bytes show compression, whatever the name.

    Args:
        source: Path, ``-`` for the standard input, or a binary stream, which is read to its end and stays open.
        max_line_bytes: Longest line, after decompression.

    Raises:
        DocumentFormatError: if the file cannot be opened or read, its gzip data is damaged or incomplete, or a line is
            too long; after the lines before it.
    """
    name = source_name(source)
    number = 0
    with ExitStack() as stack:
        try:
            stream = _decompressed(_opened(source, stack), name, stack)
            while line := stream.readline(max_line_bytes + 1):
                number += 1
                if len(line) > max_line_bytes:
                    raise DocumentFormatError(
                        name,
                        number,
                        "",
                        f"longer than {max_line_bytes:,} bytes: expected one JSON object on each line; is this another "
                        "file?",
                    )
                yield number, line
        except EOFError:
            raise _damaged(name, number, "ends in the middle of its gzip data: it was cut off; copy it again") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise _damaged(name, number, f"has damaged gzip data ({error}): copy it again") from None
        except (OSError, ValueError) as error:
            # A ValueError is an impossible path, e.g. with a null character.
            reason = getattr(error, "strerror", None) or str(error)
            raise DocumentFormatError(name, None, "", f"cannot be read: {reason}; check the path") from None


def _damaged(name: str, lines_read: int, reason: str) -> DocumentFormatError:
    return DocumentFormatError(name, lines_read + 1, "", f"the file {reason}")


def _opened(source: Source, stack: ExitStack) -> io.BufferedReader:
    if isinstance(source, (str, PathLike)):
        if fspath(source) == STANDARD_INPUT:
            source = sys.stdin.buffer
        else:
            return stack.enter_context(open_input(source))
    if isinstance(source, io.BufferedReader):
        return source
    return io.BufferedReader(_Borrowed(source))


class _Borrowed(io.RawIOBase):
    """A caller's stream, which stays open."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._stream.read(len(view))
        view[: len(data)] = data
        return len(data)


def _decompressed(stream: io.BufferedReader, name: str, stack: ExitStack) -> BinaryIO:
    head = stream.peek(2)[:2]
    if head == _GZIP_MAGIC or (name.endswith(".gz") and len(head) < len(_GZIP_MAGIC)):
        if not head:
            raise EOFError
        return stack.enter_context(gzip.GzipFile(fileobj=stream, mode="rb"))  # type: ignore[return-value]
    return stream
