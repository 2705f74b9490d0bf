"""The file of ``--topology``: a description of Java, as a text or in a log of any form."""

from __future__ import annotations

import contextlib
from pathlib import Path

from assignor_lab.capture.errors import LogImportError, TopologyTextError
from assignor_lab.capture.logs.log_texts import open_log
from assignor_lab.capture.topology.description import DESCRIPTION_WORDS, TopologyDescription, topology_of_lines

__all__ = ["described_topology"]

_MAX_LENGTH = 32 * 2**20


def described_topology(path: Path) -> TopologyDescription:
    """The description in the file.

    Raises:
        TopologyTextError: if the file cannot be read, has no description, or has two that differ.
    """
    lines: dict[str, list[tuple[int, str]]] = {}
    size = 0
    try:
        texts, file = open_log(path, markers=DESCRIPTION_WORDS)
        with contextlib.closing(file):
            for text in texts:
                size += len(text.text)
                if size > _MAX_LENGTH:
                    reason = f"has more than {_MAX_LENGTH:,} characters: is this a description?"
                    raise TopologyTextError(str(path), None, reason)
                for line in text.text.replace("\\n", "\n").split("\n"):
                    lines.setdefault(text.stream, []).append((text.line, line))
    except LogImportError as error:
        raise TopologyTextError(str(path), error.line, error.reason) from error
    return topology_of_lines(lines.values(), str(path))
