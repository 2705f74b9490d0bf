"""The journal of a run: the rows of each finished wave, and the terms that they hold for.

A wave is on disk, whole, before the next one is counted: a driver that is killed loses the waves under way and nothing
else. Files are Arrow streams, and their names say which items they hold (``wave-0000000000-0000000064.arrow``: the
items at positions 0 to 63 of the plan). They are for the next run of the same command only, and of no fixed format.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs
import pyarrow as pa

from assignment_api import AssignorLabError
from assignor_lab.documents.durable import UNFINISHED, replacing, sync, write_durably
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import format_number, hexadecimal, map_of, record, text

__all__ = ["Journal", "ResumeError", "has_waves", "open_journal"]

FORMAT = 1
_MANIFEST = "manifest.json"
_MAX_MANIFEST_BYTES = 64 * 1024 * 1024
_MANIFEST_SHAPE = record({"format": format_number(FORMAT), "salt": hexadecimal, "terms": map_of(text, text)})
_WAVE = re.compile(r"wave-(\d{10})-(\d{10})\.arrow\Z")
_SECONDS = b"seconds"
#: Differing terms that a message names.
MAX_NAMED = 6
_MAX_SHOWN = 120

#: From a salt to the terms: what is secret enters them as a digest with that salt.
Terms = Callable[[bytes], Mapping[str, str]]


class ResumeError(AssignorLabError):
    """A run cannot be gone on with: it was another one, or what it left is damaged."""


@attrs.define
class Journal:
    """The finished waves of a run.

    Args:
        folder: Where they are.
        done: Items in them: the first ``done`` ones of the plan.
        seconds: Time that scoring them took.
        restored: Items that were there when the journal was opened.
    """

    folder: Path
    done: int = 0
    seconds: float = 0.0
    restored: int = 0
    _files: list[Path] = attrs.field(factory=list)

    def tables(self) -> Iterator[tuple[int, pa.Table]]:
        """Number of items and rows of each wave that is on disk, in order.

        Raises:
            ResumeError: if a file cannot be read.
        """
        for path in list(self._files):
            start, end = _span(path)
            yield end - start, _read(path)

    def append(self, items: int, table: pa.Table, seconds: float) -> None:
        """Writes a wave down; when this returns, it survives a loss of power.

        Args:
            items: Number of its items, which follow those that are done.
            table: Its rows.
            seconds: Time of the run so far.

        Raises:
            OSError: if it cannot be written.
        """
        path = self.folder / f"wave-{self.done:010}-{self.done + items:010}.arrow"
        schema = table.schema.with_metadata({_SECONDS: f"{seconds:.3f}".encode()})

        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with (
            replacing(path) as part,
            pa.OSFile(str(part), "wb") as file,
            pa.ipc.new_file(file, schema, options=options) as writer,
        ):
            writer.write_table(table.cast(schema))
        self._files.append(path)
        self.done += items
        self.seconds = seconds


def has_waves(folder: Path) -> bool:
    """Whether there is something in ``folder`` that a run could go on from."""
    return (folder / _MANIFEST).is_file() and any(_WAVE.match(path.name) for path in folder.iterdir())


def open_journal(folder: Path, terms: Terms, schema: pa.Schema) -> Journal:
    """The journal in ``folder``, which is made if it is missing.

    Args:
        folder: Where the waves are, or will be.
        terms: What decides the rows; a journal goes on under equal terms only.
        schema: Columns of the rows.

    Raises:
        ResumeError: if there are waves of other terms (the message says what differs), or damaged ones.
        OSError: if the folder cannot be read or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob(UNFINISHED):
        path.unlink()
    if not has_waves(folder):
        _begin(folder, terms)
        return Journal(folder)
    _check_terms(folder, terms)
    files = sorted(path for path in folder.iterdir() if _WAVE.match(path.name))
    done = 0
    for path in files:
        start, end = _span(path)
        if start != done or end <= start:
            raise ResumeError(f"{path}: expected the wave that begins with item {done}: {_BEGIN_ANEW}")
        done = end
    table_schema, seconds = _head(files[-1])
    if not table_schema.equals(schema):
        raise ResumeError(f"{files[-1]}: its columns are not those of this run: {_BEGIN_ANEW}")
    return Journal(folder, done, seconds, done, files)


_BEGIN_ANEW = "run the command without --resume, which begins anew"


def _begin(folder: Path, terms: Terms) -> None:
    salt = os.urandom(16)
    text = json.dumps({"format": FORMAT, "salt": salt.hex(), "terms": dict(terms(salt))}, indent=1)
    write_durably(folder / _MANIFEST, f"{text}\n".encode())
    sync(folder.parent)


def _check_terms(folder: Path, terms: Terms) -> None:
    try:
        document = read_document(
            folder / _MANIFEST, parse_json, _MANIFEST_SHAPE, max_bytes=_MAX_MANIFEST_BYTES, what="the manifest of a run"
        )
    except DocumentFormatError as error:
        raise ResumeError(f"{error}: {_BEGIN_ANEW}") from error
    written: Mapping[str, str] = document["terms"]
    now = terms(document["salt"])
    differing = [
        name for name in (*written, *(name for name in now if name not in written)) if _differ(name, written, now)
    ]
    if differing:
        told = "; ".join(
            f"{name}: {_shown(written.get(name))} then, {_shown(now.get(name))} now" for name in differing[:MAX_NAMED]
        )
        more = f"; and {len(differing) - MAX_NAMED} more" if len(differing) > MAX_NAMED else ""
        raise ResumeError(
            f"what was abandoned is another run ({told}{more}): repeat that command with --resume, or leave --resume "
            "out, which removes it and begins anew"
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


def _head(path: Path) -> tuple[pa.Schema, float]:
    """Schema of a wave, and the seconds that it tells."""
    try:
        with pa.OSFile(str(path), "rb") as file, pa.ipc.open_file(file) as reader:
            schema = reader.schema
            seconds = float((schema.metadata or {}).get(_SECONDS, b"0"))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _damaged(path, error) from error
    return schema, seconds


def _read(path: Path) -> pa.Table:
    try:
        with pa.OSFile(str(path), "rb") as file, pa.ipc.open_file(file) as reader:
            table = reader.read_all()
            table.validate(full=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _damaged(path, error) from error
    return table.replace_schema_metadata(None)


def _damaged(path: Path, error: Exception) -> ResumeError:
    return ResumeError(f"{path} is damaged ({str(error).splitlines()[0] if str(error) else error!r}): {_BEGIN_ANEW}")
