"""Inputs of ``assignor import``, sorted by content."""

from __future__ import annotations

from collections.abc import Sequence
from os import fspath
from pathlib import Path

import attrs

from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.past_files import files_of, flight_recordings
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.lines import bounded_lines

__all__ = ["ImportInputs", "import_inputs"]

#: Start of a file of states, and a key of recorded responses.
_STATES, _RESPONSES = b'{"format"', b'"response_hex"'


@attrs.frozen
class ImportInputs:
    """Sorted inputs."""

    logs: Sequence[str]
    responses: Sequence[Path] = ()
    recordings: Sequence[str] = ()


def import_inputs(sources: Sequence[str]) -> ImportInputs:
    """Sorted by first lines. Pipes are not opened: they are logs."""
    logs: list[str] = []
    responses: list[Path] = []
    recordings: list[str] = []
    for source in sources:
        if flight_recordings(Path(source)):
            recordings.append(source)
            continue
        for file in files_of(source):
            start = _first_line(Path(file.path))
            if start.startswith(_STATES):
                raise HistoryError(f"{file.name}: this file has states already; the other commands read it as it is")
            if start.startswith(b"{") and _RESPONSES in start:
                responses.append(Path(file.path))
            else:
                logs.append(fspath(file.path))
    return ImportInputs(logs, responses, recordings)


def _first_line(path: Path) -> bytes:
    """Empty for an unreadable file and everything except a regular file."""
    if not path.is_file():
        return b""
    try:
        return next((line.lstrip() for _, line in bounded_lines(path) if not line.isspace()), b"")
    except DocumentFormatError:
        # The reader of logs reports the fault with its remedy.
        return b""
