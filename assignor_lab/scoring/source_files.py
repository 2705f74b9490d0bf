"""The files that states are read from: their names, and digests of what is in them."""

from __future__ import annotations

import hashlib
from os import PathLike
from pathlib import Path

import attrs

__all__ = ["NamedFile", "SourceFile", "file_digest", "source_file"]


@attrs.frozen
class NamedFile:
    """A file that is read under another name, as a run that is repeated knew it.

    Args:
        path: The file.
        name: The name that results know it by.
        kind: ``scenarios``, ``log`` or ``recording``; ``None``: its content says so.
    """

    path: str | PathLike[str]
    name: str
    kind: str | None = None


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
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
