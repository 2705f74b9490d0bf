"""Lines of JSON into files: atomic, and with the same bytes every time."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

from assignor_lab.documents.durable import STANDARD_OUTPUT, naming_failures, replacing

__all__ = ["canonical_line", "write_lines"]

_GZIP_LEVEL = 6


def canonical_line(document: Mapping[str, Any]) -> bytes:
    """A document as one line of ASCII without spaces, with a line feed.

    The order of keys is data: a map is in insertion order.

    Raises:
        ValueError: if a number is not finite, which JSON cannot express.
    """
    return json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def write_lines(path: str | PathLike[str], documents: Iterable[Mapping[str, Any]]) -> int:
    """Writes documents to ``path``, one on each line; gzip if the name ends in ``.gz``.

    A file appears under its name when it is complete and on disk; until then, and after a failure, the old one stays.
    The standard output (``-``), a pipe or a device is written directly.

    Raises:
        OutputFileError: if the file cannot be written. Exceptions of ``documents`` pass.
    """
    with _target(path) as stream:
        written = 0
        for document in documents:
            line = canonical_line(document)
            with naming_failures(path):
                stream.write(line)
            written += 1
        return written


@contextmanager
def _target(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    if os.fspath(path) == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        with naming_failures(path):
            sys.stdout.buffer.flush()
        return
    with ExitStack() as stack:
        final = Path(path)
        with naming_failures(path):
            if final.exists() and not final.is_file():
                raw: BinaryIO = stack.enter_context(final.open("wb", buffering=0))
            else:
                raw = stack.enter_context(stack.enter_context(replacing(path)).open("wb"))
        if os.fspath(path).endswith(".gz"):
            # The bytes contain neither the time nor the temporary name.
            packed = gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=raw, mtime=0)
            raw = cast("BinaryIO", stack.enter_context(packed))
        yield raw
        # Closing writes the buffers.
        with naming_failures(path):
            stack.close()
