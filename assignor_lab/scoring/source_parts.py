"""What sources are made of: families, documents, and files by what is in them: scenarios, logs, recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from os import PathLike
from typing import Any

import attrs

from assignor_lab.capture.histories.past_files import (
    LOG,
    RECORDING,
    SCENARIOS,
    EmptySourceError,
    NamedFile,
    files_of,
    grouped,
)
from assignor_lab.scenarios import Scenario

__all__ = ["FAMILY", "LOG", "RECORDING", "SCENARIOS", "EmptySourceError", "Generated", "SourceInput", "parts_of"]

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


def _with_files(sources: Iterable[SourceInput]) -> Iterator[Any]:
    for source in sources:
        if isinstance(source, (str, PathLike)):
            yield from files_of(source)
        else:
            yield source
