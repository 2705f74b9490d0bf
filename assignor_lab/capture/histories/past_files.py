"""Files of a group's past, with kinds and names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from assignment_api import AssignorLabError
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.logs.log_texts import log_head
from assignor_lab.capture.recorded.kept_records import RECORDS, SAMPLES, is_kept_records
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.lines import STANDARD_INPUT, bounded_lines

if TYPE_CHECKING:
    from assignor_lab.capture.histories.group_logs import GroupLogs

__all__ = [
    "BESIDE", "BROKERS", "LOG", "RACKS", "RECORDING", "SCENARIOS", "EmptySourceError", "NamedFile", "files_beside",
    "files_of", "flight_recordings", "grouped", "kind_of", "recorded_group",
]  # fmt: skip

SCENARIOS, LOG, RECORDING = "scenarios", "log", "recording"
#: In the form of ``--racks``.
RACKS = "racks.toml"
#: Without this file brokers count as older than 4.4.
BROKERS = "brokers.json"
#: Files of a recording beside its records.
BESIDE = (SAMPLES, RACKS, BROKERS)
_MANY = "recording.jsonl"
_JSON = (".json", ".jsonl")
#: For users and other tools.
_HISTORY = "history.jsonl"


class EmptySourceError(AssignorLabError):
    """A source holds no state, or there is no source."""


@attrs.frozen
class NamedFile:
    """A file with the name that results show.

    Args:
        name: A repeated run keeps the original name.
        kind: ``scenarios``, ``log`` or ``recording``; ``None``: detected from the content.
    """

    path: str | PathLike[str]
    name: str
    kind: str | None = None


def flight_recordings(path: Path) -> list[Path]:
    """None if the path is no output of ``assignor record``."""
    if path.is_dir():
        if (path / RECORDS).is_file():
            return [path / RECORDS]
        if (path / _MANY).is_file():
            found = sorted(file for file in path.glob(f"*/{RECORDS}") if file.is_file())
            if not found:
                raise HistoryError(f"{path}: the recording has no group yet: go on with record --resume --follow")
            return found
        if (path / _HISTORY).is_file():
            raise HistoryError(
                f"{path}: {RECORDS} is missing: it holds the records, and {_HISTORY} is only made of them: copy the "
                "whole folder"
            )
        return []
    if not path.is_file():
        return []
    try:
        first = next((line for _, line in bounded_lines(path)), b"")
    except DocumentFormatError:
        # The reader of the file reports the fault with its remedy.
        return []
    if is_kept_records(first):
        return [path]
    if path.name == _HISTORY and b'"joined"' in first:
        raise HistoryError(f"{path}: is made of a recording for people to read: name its folder, {path.parent}")
    return []


def files_beside(records: Path) -> list[Path]:
    return [each for name in BESIDE if (each := records.with_name(name)).is_file()]


def recorded_group(records: str | PathLike[str]) -> str | None:
    first = next((line for _, line in bounded_lines(records)), b"")
    if not is_kept_records(first):
        return None
    group = parse_json(first).get("group")
    return group if isinstance(group, str) else None


def files_of(source: str | PathLike[str]) -> Iterator[NamedFile]:
    """The file, the files of recordings, or all files of a folder by name."""
    name = fspath(source)
    path = Path(source)
    if name == STANDARD_INPUT:
        yield NamedFile(source, name)
        return
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


def kind_of(file: NamedFile) -> str:
    """By content; the standard input holds states."""
    if file.kind is not None:
        return file.kind
    if fspath(file.path) == STANDARD_INPUT:
        return SCENARIOS
    return LOG if _is_log(file) else SCENARIOS


def _is_log(file: NamedFile) -> bool:
    """By content. A JSON file of another kind is reported as states that cannot be read."""
    head = log_head(fspath(file.path))
    if head is None:
        return not file.name.removesuffix(".gz").endswith(_JSON)
    if head.has_states or not head.text.strip():
        return False
    return head.looks_like_records or not file.name.removesuffix(".gz").endswith(_JSON)


def grouped(files: Iterable[NamedFile]) -> Iterator[tuple[str, str, list[NamedFile]]]:
    """Units: neighbouring logs, the files of one recording, or a file of states.

    Each instance of a group may have a log of its own. A log of a recorded group is read with its recording.
    """
    runs = list(_runs(files))
    recorded = {name: recorded_group(run[0].path) for name, kind, run in runs if kind == RECORDING}
    logs = {file.name: file for _, kind, run in runs if kind == LOG and recorded for file in run}
    around = _group_logs(logs)
    of_recordings: set[str] = set()
    beside: dict[str, list[NamedFile]] = {}
    for records, group in recorded.items():
        # A log of an instance that never led has no group name.
        is_alone = len(recorded) == 1
        names = [
            name
            for name, group_logs in around.items()
            if group is not None and (group_logs.knows(group) or (is_alone and group_logs.is_nameless))
        ]
        of_recordings.update(names)
        beside[records] = [attrs.evolve(logs[name], kind=RECORDING) for name in names]
    for name, kind, run in runs:
        if kind == RECORDING:
            yield name, kind, [*run, *beside[name]]
            continue
        others = [file for file in run if kind != LOG or file.name not in of_recordings]
        if others:
            yield _name_of(kind, others), kind, others


def _group_logs(logs: Mapping[str, NamedFile]) -> dict[str, GroupLogs]:
    if not logs:
        return {}
    from assignor_lab.capture.histories.group_logs import read_group_logs

    return {name: read_group_logs([log.path]) for name, log in logs.items()}


def _runs(files: Iterable[NamedFile]) -> Iterator[tuple[str, str, list[NamedFile]]]:
    together: list[NamedFile] = []
    before = ""
    for file in files:
        kind = kind_of(file)
        goes_on = kind == before and (kind == LOG or (kind == RECORDING and not file.name.endswith(RECORDS)))
        if together and not goes_on:
            yield _name_of(before, together), before, together
            together = []
        before = kind
        together.append(file)
    if together:
        yield _name_of(before, together), before, together


def _name_of(kind: str, files: Sequence[NamedFile]) -> str:
    if kind == RECORDING or len(files) == 1:
        return files[0].name
    return f"{files[0].name} and {len(files) - 1} more"
