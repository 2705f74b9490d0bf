"""Lines of JSON into files: either the complete new file or the old one, and the same bytes every time."""

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
            # Neither the moment nor the temporary name may get into the bytes.
            packed = gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=raw, mtime=0)
            raw = cast("BinaryIO", stack.enter_context(packed))
        yield raw
        # What is still in buffers is written by closing.
        with naming_failures(path):
            stack.close()
