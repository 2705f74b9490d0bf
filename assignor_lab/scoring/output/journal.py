"""The journal of a run: the rows of each finished wave, and their terms.

A wave is completely on disk before the next one is counted: a killed driver loses only the waves under way. If scorers
wrote the rows (:mod:`assignor_lab.scoring.output.pieces`), the wave is a list of their files,
``wave-0000000000-0000000064.json``: only listed files count. All of it is for the next run of the same command only,
and has no fixed format.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import pyarrow as pa

from assignment_api import AssignorLabError
from assignor_lab.documents.durable import UNFINISHED, replacing, sync, write_durably
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import format_number, hexadecimal, list_of, map_of, number, record, text
from assignor_lab.groups.columns import OTHER_FORMAT
from assignor_lab.scoring.output.pieces import DamagedPieceError, read_rows, schema_of, write_rows
from assignor_lab.scoring.output.tables import KEY_NAMES

__all__ = ["Journal", "ResumeError", "WaveFiles", "check_equal_terms", "has_waves", "open_journal"]

FORMAT = 2
_MANIFEST = "manifest.json"
_MAX_MANIFEST_BYTES = 64 * 1024 * 1024
_MANIFEST_SHAPE = record(
    {"format": format_number(FORMAT, OTHER_FORMAT), "salt": hexadecimal, "terms": map_of(text, text)}
)
_LIST_SHAPE = record({"seconds": number, "pieces": list_of(text)})
_WAVE = re.compile(r"wave-(\d{10})-(\d{10})\.(arrow|json)\Z")
_PIECES = "pieces"
_SECONDS = b"seconds"
#: Most differing terms in a message.
MAX_NAMED = 6
_MAX_SHOWN = 120

#: From a salt to the terms, in which secrets are digests with that salt.
Terms = Callable[[bytes], Mapping[str, str]]


class ResumeError(AssignorLabError):
    """A run cannot be resumed: it was another one, or its files are damaged."""


@attrs.frozen
class WaveFiles:
    """A finished wave on disk."""

    items: int
    files: tuple[Path, ...]
    is_sorted: bool = True

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Its rows, sorted by item, round and assignor; or some columns of them, in undefined order.

        Raises:
            DamagedPieceError: if a file cannot be read.
        """
        found = pa.concat_tables([read_rows(path, columns) for path in self.files])
        if self.is_sorted or columns is not None:
            return found
        return found.sort_by([(key, "ascending") for key in KEY_NAMES])


@attrs.define
class Journal:
    """The finished waves of a run."""

    folder: Path
    done: int = 0
    seconds: float = 0.0
    restored: int = 0
    _waves: list[WaveFiles] = attrs.field(factory=list)

    @property
    def pieces(self) -> Path:
        """Folder for rows from scorers; they count once :meth:`note` lists them."""
        return self.folder / _PIECES

    def waves(self) -> tuple[WaveFiles, ...]:
        """The waves on disk, in order."""
        return tuple(self._waves)

    def tables(self) -> Iterator[tuple[int, pa.Table]]:
        """Number of items and rows of each wave on disk, in order.

        Raises:
            ResumeError: if a file cannot be read.
        """
        for wave in self.waves():
            try:
                yield wave.items, wave.table()
            except DamagedPieceError as error:
                raise ResumeError(f"{error}: {_BEGIN_ANEW}") from error

    def append(self, items: int, table: pa.Table, seconds: float) -> WaveFiles:
        """Writes a wave; after the return it survives a loss of power.

        Raises:
            OSError: if it cannot be written.
        """
        path = self._next(items, "arrow")
        schema = table.schema.with_metadata({_SECONDS: f"{seconds:.3f}".encode()})
        with replacing(path) as part:
            write_rows(part, schema, table.cast(schema).to_batches())
        return self._noted(WaveFiles(items, (path,)), seconds)

    def note(self, items: int, pieces: Sequence[Path], seconds: float) -> WaveFiles:
        """The same for a wave whose rows are in :attr:`pieces` already.

        Raises:
            OSError: if it cannot be written.
        """
        held = {"seconds": round(seconds, 3), "pieces": [path.name for path in pieces]}
        write_durably(self._next(items, "json"), f"{json.dumps(held)}\n".encode())
        return self._noted(WaveFiles(items, tuple(pieces), is_sorted=False), seconds)

    def _next(self, items: int, suffix: str) -> Path:
        return self.folder / f"wave-{self.done:010}-{self.done + items:010}.{suffix}"

    def _noted(self, wave: WaveFiles, seconds: float) -> WaveFiles:
        self._waves.append(wave)
        self.done += wave.items
        self.seconds = seconds
        return wave


def has_waves(folder: Path) -> bool:
    """True if ``folder`` has waves of a run that can be resumed."""
    return (folder / _MANIFEST).is_file() and any(_WAVE.match(path.name) for path in folder.iterdir())


def open_journal(folder: Path, terms: Terms, schema: pa.Schema) -> Journal:
    """The journal in ``folder``, which is created if it is missing.

    Raises:
        ResumeError: if there are waves of other terms (the message lists the differences), or damaged ones.
        OSError: if the folder cannot be read or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _PIECES).mkdir(exist_ok=True)
    for path in (*folder.glob(UNFINISHED), *(folder / _PIECES).glob(UNFINISHED)):
        path.unlink(missing_ok=True)
    if not has_waves(folder):
        _begin(folder, terms)
        return Journal(folder)
    _check_terms(folder, terms)
    files = sorted(path for path in folder.iterdir() if _WAVE.match(path.name))
    waves: list[WaveFiles] = []
    done, seconds = 0, 0.0
    for path in files:
        start, end = _span(path)
        if start != done or end <= start:
            raise ResumeError(f"{path}: expected the wave that begins with item {done}: {_BEGIN_ANEW}")
        done = end
        try:
            wave, seconds = _found(path, end - start)
            for each in wave.files:
                if not schema_of(each).equals(schema):
                    raise ResumeError(f"{each}: its columns are not those of this run: {_BEGIN_ANEW}")
        except DamagedPieceError as error:
            raise ResumeError(f"{error}: {_BEGIN_ANEW}") from error
        waves.append(wave)
    _remove_orphans(folder / _PIECES, waves)
    return Journal(folder, done, seconds, done, waves)


def _found(path: Path, items: int) -> tuple[WaveFiles, float]:
    if path.suffix == ".arrow":
        metadata = schema_of(path).metadata or {}
        return WaveFiles(items, (path,)), float(metadata.get(_SECONDS, b"0"))
    try:
        held = read_document(path, parse_json, _LIST_SHAPE, max_bytes=_MAX_MANIFEST_BYTES, subject="a finished wave")
    except DocumentFormatError as error:
        raise DamagedPieceError(str(error)) from error
    names = [Path(name).name for name in held["pieces"]]
    return WaveFiles(items, tuple([path.parent / _PIECES / name for name in names]), is_sorted=False), held["seconds"]


def _remove_orphans(folder: Path, waves: Sequence[WaveFiles]) -> None:
    known = {path for wave in waves for path in wave.files}
    for path in folder.iterdir():
        if path not in known:
            path.unlink(missing_ok=True)


_BEGIN_ANEW = "run the command without --resume, which begins anew"


def _begin(folder: Path, terms: Terms) -> None:
    salt = os.urandom(16)
    text = json.dumps({"format": FORMAT, "salt": salt.hex(), "terms": dict(terms(salt))}, indent=1)
    write_durably(folder / _MANIFEST, f"{text}\n".encode())
    sync(folder.parent)


def _check_terms(folder: Path, terms: Terms) -> None:
    try:
        document = read_document(
            folder / _MANIFEST,
            parse_json,
            _MANIFEST_SHAPE,
            max_bytes=_MAX_MANIFEST_BYTES,
            subject="the manifest of a run",
        )
    except DocumentFormatError as error:
        raise ResumeError(f"{error}: {_BEGIN_ANEW}") from error
    check_equal_terms(document["terms"], terms(document["salt"]))


def check_equal_terms(written: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Compares the terms of a stopped run with those of this one.

    Raises:
        ResumeError: if they differ; the message lists the differences.
    """
    differing = [
        name for name in (*written, *(name for name in now if name not in written)) if _differ(name, written, now)
    ]
    if differing:
        differences = "; ".join(
            f"{name}: {_shown(written.get(name))} then, {_shown(now.get(name))} now" for name in differing[:MAX_NAMED]
        )
        more = f"; and {len(differing) - MAX_NAMED} more" if len(differing) > MAX_NAMED else ""
        raise ResumeError(
            f"the run that stopped early was another one ({differences}{more}): repeat that command with --resume, or "
            "leave --resume out, which removes it and begins anew"
        )


def _differ(name: str, written: Mapping[str, str], now: Mapping[str, str]) -> bool:
    return written.get(name) != now.get(name)


def _shown(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def _span(path: Path) -> tuple[int, int]:
    match = _WAVE.match(path.name)
    assert match is not None, path
    return int(match[1]), int(match[2])
