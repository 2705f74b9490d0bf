"""Parts of sources: families, documents, and files by their content: scenarios, logs, recordings."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from os import PathLike, fspath
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from assignment_api.input_files import open_input
from assignor_lab.capture.edges.decision_input import protocol_of
from assignor_lab.capture.histories.past_files import (
    LOG,
    RECORDING,
    SCENARIOS,
    EmptySourceError,
    NamedFile,
    files_of,
    grouped,
)
from assignor_lab.documents.lines import STANDARD_INPUT
from assignor_lab.scenarios import Scenario, read_scenarios

__all__ = [
    "FAMILY",
    "LOG",
    "RECORDING",
    "SCENARIOS",
    "EmptySourceError",
    "Generated",
    "SourceFile",
    "SourceInput",
    "file_digest",
    "holds_past",
    "kept_input",
    "parts_of",
    "pasts_together",
    "source_file",
]

FAMILY = "family"
IN_MEMORY = "(in memory)"


@attrs.frozen
class Generated:
    """Histories of a family as a source, with consecutive seeds from ``seed`` on."""

    family: str
    count: int
    seed: int = 0


#: A source: a path (scenario file, log, or folder of either), histories, or scenarios in memory.
SourceInput = str | PathLike[str] | NamedFile | Generated | Scenario | Mapping[str, Any]


def parts_of(sources: Iterable[SourceInput]) -> Iterator[tuple[str, str, list[Any]]]:
    """Name, kind and parts of each source; adjacent logs become one source, as do the files of a recording.

    Raises:
        EmptySourceError: if a folder is empty.
        HistoryError: if a folder is an incomplete recording.
        DocumentFormatError: if a file cannot be read.
    """
    for is_file, run in groupby(_with_files(sources), key=lambda each: isinstance(each, NamedFile)):
        if is_file:
            yield from grouped(run)
            continue
        for each in run:
            if isinstance(each, Generated):
                yield each.family, FAMILY, [each]
            else:
                yield IN_MEMORY, SCENARIOS, [each]


def kept_input(part: Any, stack: ExitStack) -> Any:
    """The part itself; the standard input as a temporary file, which can be read twice."""
    if not isinstance(part, NamedFile) or fspath(part.path) != STANDARD_INPUT:
        return part
    kept = Path(stack.enter_context(TemporaryDirectory(prefix="assignor-input-"))) / "input"
    with kept.open("wb") as file:
        copyfileobj(sys.stdin.buffer, file)
    return attrs.evolve(part, path=kept, kind=SCENARIOS)


def holds_past(kind: str, parts: Sequence[Any]) -> bool:
    """True if a source may be a group's past: a recording, logs, or scenarios that begin with a group's state.

    Raises:
        DocumentFormatError: if a file cannot be read.
    """
    if kind != SCENARIOS:
        return kind in (RECORDING, LOG)
    return all(map(_begins_past, parts))


def pasts_together(parts: Iterable[tuple[str, str, list[Any]]]) -> list[tuple[str, str, list[Any]]]:
    """The same parts; adjacent states of groups in memory are one source, as those of a file are."""
    together: list[tuple[str, str, list[Any]]] = []
    for name, kind, of in parts:
        is_past = kind == SCENARIOS and not isinstance(of[0], NamedFile) and holds_past(kind, of)
        if is_past and together and together[-1][0] == IN_MEMORY and holds_past(*together[-1][1:]):
            together[-1][2].extend(of)
        else:
            together.append((name, kind, list(of)))
    return together


def _begins_past(part: NamedFile | Scenario | Mapping[str, Any]) -> bool:
    if isinstance(part, NamedFile):
        first = next(iter(read_scenarios(fspath(part.path), name=part.name)), None)
        return first is not None and _begins_past(first)
    document = part.document if isinstance(part, Scenario) else part
    source = document.get("source")
    return protocol_of(document) is not None and isinstance(source, Mapping) and "time_ms" in source


def _with_files(sources: Iterable[SourceInput]) -> Iterator[Any]:
    for source in sources:
        if isinstance(source, (str, PathLike)):
            yield from files_of(source)
        else:
            yield source


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
