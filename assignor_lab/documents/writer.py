"""Lines of JSON into files: either the complete new file or the old one, and the same bytes every time."""

from __future__ import annotations

import gzip
import io
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

from assignor_lab.documents.errors import OutputFileError, printable

__all__ = ["STANDARD_OUTPUT", "canonical_line", "write_lines"]

#: The name under which the standard output is written.
STANDARD_OUTPUT = "-"

_GZIP_LEVEL = 6


def canonical_line(document: Mapping[str, Any]) -> bytes:
    """The one line that a document is written as: keys in their own order, no spaces, ASCII, a line feed at the end.

    The order of keys is kept because it is data: a map stands in insertion order.

    Raises:
        ValueError: if a number is not finite, which JSON cannot say.
    """
    return json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def write_lines(path: str | PathLike[str], documents: Iterable[Mapping[str, Any]]) -> int:
    """Writes documents to ``path``, one on each line; gzip where the name ends in ``.gz``.

    A file appears under its name when it is complete and on the disk; until then, and after any failure, the old one
    stays. The standard output (``-``), a pipe or a device is written as it goes.

    Args:
        path: Where to; its folder must exist.
        documents: What to write; taken one by one.

    Returns:
        Number of lines written.

    Raises:
        OutputFileError: if the file cannot be written. What ``documents`` raises passes.
    """
    with _target(path) as stream:
        written = 0
        for document in documents:
            line = canonical_line(document)
            with _named(path):
                stream.write(line)
            written += 1
        return written


@contextmanager
def _target(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    if os.fspath(path) == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        with _named(path):
            sys.stdout.buffer.flush()
        return
    # A link is followed, so that what it names is replaced and the link stays.
    final = Path(os.path.realpath(path))
    with ExitStack() as stack:
        with _named(path):
            if final.exists() and not final.is_file():
                raw: BinaryIO = stack.enter_context(final.open("wb", buffering=0))
            else:
                raw = stack.enter_context(_replacing(final))
        if os.fspath(path).endswith(".gz"):
            # Neither the moment nor the temporary name may get into the bytes.
            packed = gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=raw, mtime=0)
            raw = cast("BinaryIO", stack.enter_context(packed))
        yield raw


@contextmanager
def _named(path: str | PathLike[str]) -> Iterator[None]:
    """Turns what the operating system says into an error that names the file as the user did."""
    try:
        yield
    except (BrokenPipeError, io.UnsupportedOperation):
        # Who read the pipe has gone, or there never was a stream: the command knows what to say of it.
        raise
    except OSError as error:
        name = "standard output" if os.fspath(path) == STANDARD_OUTPUT else printable(os.fspath(path), 1_000)
        remedy = "name a file in a folder that exists and can be written"
        raise OutputFileError(f"{name}: cannot be written: {error.strerror or error}; {remedy}") from error


@contextmanager
def _replacing(final: Path) -> Iterator[BinaryIO]:
    """A stream beside ``final`` that takes its place when the block ends without an exception."""
    temporary = final.parent / f".{final.name[:40]}.{secrets.token_hex(6)}.tmp"
    try:
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            if final.exists():
                os.fchmod(stream.fileno(), stat.S_IMODE(final.stat().st_mode))
            os.fsync(stream.fileno())
        temporary.replace(final)
        _sync_folder(final.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
