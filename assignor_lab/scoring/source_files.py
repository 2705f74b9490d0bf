"""Files that states were read from, with digests of what is in them."""

from __future__ import annotations

import hashlib
from os import PathLike
from pathlib import Path

import attrs

from assignment_api.input_files import open_input
from assignor_lab.capture.histories.past_files import NamedFile

__all__ = ["SourceFile", "file_digest", "source_file"]


@attrs.frozen
class SourceFile:
    """A file of a source: its name, and the SHA-256 (hex) of its bytes; ``None`` for the standard input or a pipe."""

    name: str
    sha256: str | None


def source_file(file: NamedFile) -> SourceFile:
    """A file that has been read.

    Raises:
        OSError: if it cannot be read again.
    """
    # Pipes and the standard input can be read once.
    return SourceFile(file.name, file_digest(file.path) if Path(file.path).is_file() else None)


def file_digest(path: str | PathLike[str]) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with open_input(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
