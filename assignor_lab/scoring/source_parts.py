"""What sources are made of: families, documents, and files by what is in them: scenarios, logs, recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignor_lab.capture.histories.flight_recordings import files_beside, flight_recordings
from assignor_lab.capture.logs.log_files import is_log
from assignor_lab.capture.recorded.kept_records import RECORDS
from assignor_lab.documents.lines import STANDARD_INPUT
from assignor_lab.scenarios import Scenario
from assignor_lab.scoring.source_files import NamedFile

__all__ = ["FAMILY", "LOG", "RECORDING", "SCENARIOS", "EmptySourceError", "Generated", "SourceInput", "parts_of"]

#: Kinds of sources.
SCENARIOS, LOG, RECORDING, FAMILY = "scenarios", "log", "recording", "family"


class EmptySourceError(AssignorLabError):
    """A source holds no state at all, or there is no source."""


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
    together: list[NamedFile] = []
    before = ""
    for source in _files(sources):
        kind = _kind(source)
        goes_on = kind == before and (kind == LOG or (kind == RECORDING and not source.name.endswith(RECORDS)))
        if together and not goes_on:
            yield _name_of(before, together), before, list(together)
            together.clear()
        before = kind
        if kind in (LOG, RECORDING):
            together.append(source)
        else:
            name = source.name if isinstance(source, NamedFile) else getattr(source, "family", "(in memory)")
            yield name, kind, [source]
    if together:
        yield _name_of(before, together), before, list(together)


def _name_of(kind: str, files: Sequence[NamedFile]) -> str:
    if kind == RECORDING or len(files) == 1:
        return files[0].name
    return f"{files[0].name} and {len(files) - 1} more"


def _files(sources: Iterable[SourceInput]) -> Iterator[Any]:
    for source in sources:
        if not isinstance(source, (str, PathLike)):
            yield source
        elif fspath(source) == STANDARD_INPUT:
            yield NamedFile(source, fspath(source))
        else:
            yield from _files_of(Path(source), fspath(source))


def _files_of(path: Path, name: str) -> Iterator[NamedFile]:
    recordings = flight_recordings(path)
    for records in recordings:
        yield from (NamedFile(file, str(file), RECORDING) for file in (records, *files_beside(records)))
    if recordings:
        return
    if not path.is_dir():
        yield NamedFile(path, name)
        return
    files = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
    if not files:
        raise EmptySourceError(f"{name}: no file in this folder")
    yield from (NamedFile(file, str(file)) for file in files)


def _kind(source: Any) -> str:
    if isinstance(source, Generated):
        return FAMILY
    if not isinstance(source, NamedFile) or fspath(source.path) == STANDARD_INPUT:
        return SCENARIOS
    if source.kind is not None:
        return source.kind
    return LOG if is_log(source.path, source.name) else SCENARIOS
