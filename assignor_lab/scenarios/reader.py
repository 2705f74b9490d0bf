"""Scenario files to scenarios: streaming and checked, without guesses."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any, BinaryIO

from assignor_lab.documents.errors import DocumentFormatError, Place
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.lines import MAX_LINE_BYTES, bounded_lines, source_name
from assignor_lab.documents.shapes import Mismatch, at, described, faults_at, format_number
from assignor_lab.scenarios.formats import Format, format_of
from assignor_lab.scenarios.scenario import Scenario

__all__ = ["FORMAT", "read_scenarios", "scenario_from_document", "scenario_from_line"]

#: Version of the format that is read and written.
FORMAT = 1

#: Blank lines that are skipped in one file; a small compressed file can hold billions of them.
MAX_BLANK_LINES = 1_000

_FORMAT = format_number(FORMAT)


def read_scenarios(
    source: str | PathLike[str] | BinaryIO, max_line_bytes: int = MAX_LINE_BYTES, *, name: str | None = None
) -> Iterator[Scenario]:
    """Yields the scenarios of a file, in order, and reads no more lines than necessary.

    Blank lines are skipped; a file without any other line is valid and holds no scenario.

    Args:
        source: Path of a ``.jsonl`` or ``.jsonl.gz`` file (compression is recognized by content), ``-`` for the
            standard input, or a binary stream.

    Raises:
        DocumentFormatError: if the file cannot be read or a line of it is not in the format; the scenarios before that
            line have been yielded.
    """
    name = source_name(source) if name is None else name
    blank = 0
    for number, line in bounded_lines(source, max_line_bytes):
        if not line.isspace():
            yield scenario_from_line(line, Place(name, number))
            continue
        blank += 1
        if blank > MAX_BLANK_LINES:
            raise DocumentFormatError(
                name, number, "", f"more than {MAX_BLANK_LINES:,} blank lines: is this a scenario file?"
            )


def scenario_from_line(line: bytes, place: Place) -> Scenario:
    """Reads one line of a scenario file.

    Raises:
        DocumentFormatError: with ``place``, if the line is not in the format.
    """
    with faults_at(place):
        document = parse_json(line)
    return scenario_from_document(document, place)


def scenario_from_document(document: Any, place: Place) -> Scenario:
    """Checks an existing document, for example from a generator or an importer.

    The document is kept, not copied.

    Raises:
        DocumentFormatError: with ``place``, if the document is not in the format.
    """
    with faults_at(place):
        known = _format(document)
        content = known.read(document)
    return Scenario(document["id"], known.kind, document, place, content)


def _format(document: Any) -> Format:
    if type(document) is not dict:
        raise Mismatch(f"expected a scenario (a JSON object), found {described(document)}")
    for key in ("format", "kind"):
        if key not in document:
            raise Mismatch(f'required key "{key}" is missing: is this a scenario file?', key)
    at(_FORMAT, document["format"], "format")
    return format_of(document["kind"])
