"""What sources are made of: families, documents, and files by what is in them: scenarios, logs, recordings."""

from __future__ import annotations

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

from assignor_lab.capture.histories.moments import protocol_of
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
    "SourceInput",
    "holds_past",
    "kept_input",
    "parts_of",
]

#: Kind of a source that is made, not read.
FAMILY = "family"


@attrs.frozen
class Generated:
    """Histories of a family as a source: seeds ``seed``, ``seed + 1``, ... one for each history.

    Args:
        family: Name of the family.
        count: Number of histories.
        seed: Seed of the first one.
    """

    family: str
    count: int
    seed: int = 0


#: What a source may be: a path (scenario file, log, or folder of either), histories, or scenarios in memory.
SourceInput = str | PathLike[str] | NamedFile | Generated | Scenario | Mapping[str, Any]


def parts_of(sources: Iterable[SourceInput]) -> Iterator[tuple[str, str, list[Any]]]:
    """Name, kind and parts of each source; neighbouring logs become one, and the files of a recording.

    Raises:
        EmptySourceError: if a folder is empty.
        HistoryError: if a folder is half a recording.
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
                yield "(in memory)", SCENARIOS, [each]


def kept_input(part: Any, stack: ExitStack) -> Any:
    """The part itself; the standard input as a temporary file, which can be read twice.

    Args:
        part: A part of a source.
        stack: Removes the file.
    """
    if not isinstance(part, NamedFile) or fspath(part.path) != STANDARD_INPUT:
        return part
    kept = Path(stack.enter_context(TemporaryDirectory(prefix="assignor-input-"))) / "input"
    with kept.open("wb") as file:
        copyfileobj(sys.stdin.buffer, file)
    return attrs.evolve(part, path=kept, kind=SCENARIOS)


def holds_past(kind: str, parts: Sequence[Any]) -> bool:
    """Whether a source may be a group's past: a recording, logs, or a file that begins with a group's state.

    Raises:
        DocumentFormatError: if a file cannot be read.
    """
    if kind != SCENARIOS:
        return kind in (RECORDING, LOG)
    return all(isinstance(part, NamedFile) and _begins_past(part) for part in parts)


def _begins_past(file: NamedFile) -> bool:
    first = next(iter(read_scenarios(fspath(file.path), name=file.name)), None)
    if first is None:
        return False
    return protocol_of(first.document) is not None and "time_ms" in (first.document.get("source") or {})


def _with_files(sources: Iterable[SourceInput]) -> Iterator[Any]:
    for source in sources:
        if isinstance(source, (str, PathLike)):
            yield from files_of(source)
        else:
            yield source
