"""JSON lines: place and value of each line of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assignor_lab.documents.errors import Place
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.lines import Source, bounded_lines, source_name
from assignor_lab.documents.shapes import faults_at

__all__ = ["json_lines"]


def json_lines(source: Source) -> Iterator[tuple[Place, Any]]:
    """Place and value of each line that is not blank.

    Raises:
        DocumentFormatError: if the file cannot be read or a line is no JSON, after the lines before it.
    """
    name = source_name(source)
    for number, line in bounded_lines(source):
        if line.isspace():
            continue
        place = Place(name, number)
        with faults_at(place):
            value = parse_json(line)
        yield place, value
