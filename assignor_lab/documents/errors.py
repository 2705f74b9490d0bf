"""Errors of files that cannot be read or written, with their places."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs

from assignment_api.errors import AssignorLabError

__all__ = ["DocumentFormatError", "OutputFileError", "Place", "key_path", "printable"]

#: Longest quotation of foreign text in a message, in characters.
_QUOTE_LIMIT = 80


def printable(text: str, limit: int = _QUOTE_LIMIT) -> str:
    """Without control characters and terminal codes, cut to ``limit`` characters."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(character if character.isprintable() else _escaped(character) for character in cut)


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1]


@attrs.frozen
class Place:
    """The place of a document."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        name = "standard input" if self.file == "-" else printable(self.file, 1_000)
        return name if self.line is None else f"{name}, line {self.line}"


def key_path(steps: Sequence[str | int]) -> str:
    """Text of a path into a document, e.g. ``clients[2].lags["1_0"]``; empty: the document."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step.isidentifier() and step.isascii():
            path += f".{step}" if path else step
        else:
            path += "[" + json.dumps(step if len(step) <= _QUOTE_LIMIT else step[: _QUOTE_LIMIT - 1] + "…") + "]"
    return path


class OutputFileError(AssignorLabError, OSError):
    """A file of results cannot be written; an old file is unchanged."""


class DocumentFormatError(AssignorLabError):
    """A file cannot be read, or has a wrong format.

    Args:
        key: Path to the wrong value, e.g. ``clients[2].lags["1_0"]``; empty: the whole line.
        reason: Expected and found content, and the remedy.
    """

    def __init__(self, file: str, line: int | None, key: str, reason: str) -> None:
        self.file = file
        self.line = line
        self.key = key
        self.reason = reason
        place = str(Place(file, line))
        super().__init__(f"{place}, {key}: {reason}" if key else f"{place}: {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (DocumentFormatError, (self.file, self.line, self.key, self.reason))
