"""The output folder: complete, or unchanged.

All files are written in a hidden folder inside the output folder and published at the end. An interrupted run's rows
stay in there for ``--resume`` (:mod:`assignor_lab.scoring.engine.rows_folder`).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from assignment_api import AssignorLabError
from assignor_lab.documents.durable import sync
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import open_record
from assignor_lab.model.run_summary import RunSummary
from assignor_lab.scoring.output.summary_file import summary_document

__all__ = [
    "ANSWERS",
    "MANIFEST",
    "PROGRESS",
    "REPORT",
    "RESULTS",
    "RUN_METRICS",
    "SUMMARY",
    "ForeignOutputError",
    "OutputFolder",
    "has_rows",
]

RESULTS = "results.parquet"
RUN_METRICS = "run_metrics.parquet"
ANSWERS = "answers.parquet"
SUMMARY = "summary.json"
MANIFEST = "manifest.json"
REPORT = "report.html"
#: In the order of publication: the tables are new before the summary is.
_NAMES = (RESULTS, RUN_METRICS, ANSWERS, REPORT, MANIFEST, SUMMARY)
#: Place of the tables of 0.1.0, which are removed when new results replace theirs.
_FORMER = "scores.parquet"
_FORMER_TABLES = {"results", "run_metrics"}
_STAGING = ".assignor-score-"

_ROWS = "rows"
#: Progress of a run, beside the folders of its parts.
PROGRESS = "progress.json"
#: Errors of a write without room: on the disk, in a quota, under a limit of the process.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ForeignOutputError(AssignorLabError):
    """Something in the output folder has the name of a result and was not written by scoring."""


class OutputFolder:
    """The output of one run; as a context it cleans up after an unfinished run.

    Args:
        path: The folder; created if it is missing. Other files in it are not touched.

    Raises:
        ForeignOutputError: if a result would replace a file that scoring did not write.
        OSError: if the folder cannot be written.
    """

    def __init__(
        self, path: Path, *, resume: bool = False, on_note: Callable[[str], None] = lambda _note: None
    ) -> None:
        self.path = path
        self._resume = resume
        self._note = on_note
        self._staging: Path | None = None
        self._made_folders: list[Path] = []
        self._lock: IO[bytes] | None = None
        self._former = False

    def __enter__(self) -> Self:
        if self.path.exists() and not self.path.is_dir():
            raise ForeignOutputError(f"{self.path} is a file: --out takes a folder; choose another name")
        self._check_ours()
        self._made_folders = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        self.path.mkdir(parents=True, exist_ok=True)
        if not self._taken_over():
            # Executors write there, too, and have another working directory.
            staging = self.path.absolute() / f"{_STAGING}{secrets.token_hex(6)}.tmp"
            staging.mkdir()
            self._staging = staging
            self._lock = (staging / "lock").open("wb")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._staging is not None:
            if error is not None and has_rows(self.rows):
                self._note(f"{self.path} keeps the results so far: the same command with --resume continues from them")
            else:
                shutil.rmtree(self._staging, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
        # Remove folders created in vain; one with content stays.
        with suppress(OSError):
            for folder in self._made_folders:
                folder.rmdir()
        if isinstance(error, OSError) and error.filename is None and error.errno in _FULL:
            raise OSError(error.errno, os.strerror(error.errno), str(self.path)) from error

    @property
    def staging(self) -> Path:
        assert self._staging is not None, "an OutputFolder is entered before it is used"
        return self._staging

    @property
    def rows(self) -> Path:
        """Folder for the rows of the run, block by block."""
        return self.staging / _ROWS

    def table(self, name: str) -> Path:
        folder = self.staging / "tables" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder / name

    def finish(
        self,
        summary: RunSummary,
        write_report: Callable[[Path], None] | None,
        manifest: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds summary, manifest and report, and publishes everything.

        Args:
            manifest: The document of ``manifest.json``; ``None`` without one.
        """
        for name, document in ((SUMMARY, summary_document(summary)), (MANIFEST, manifest)):
            if document is not None:
                text = json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1)
                (self.staging / name).write_text(text + "\n", encoding="utf-8")
        if write_report is not None:
            write_report(self.staging / REPORT)
        for path in self.staging.rglob("*"):
            if not path.is_relative_to(self.rows):
                sync(path)
        for name in _NAMES:
            table = self.staging / "tables" / name / name
            made, final = table if table.exists() else self.staging / name, self.path / name
            if made.exists():
                _replace(made, final)
            elif final.exists():
                final.rename(self.staging / f"{name}.old")
        if self._former:
            (self.path / _FORMER).rename(self.staging / f"{_FORMER}.old")
        sync(self.path)
        shutil.rmtree(self.rows, ignore_errors=True)

    def _check_ours(self) -> None:
        present = [name for name in _NAMES if (self.path / name).exists()]
        ours = _is_our_summary(self.path / SUMMARY)
        former = self.path / _FORMER
        self._former = ours and former.is_dir() and {each.name for each in former.iterdir()} == _FORMER_TABLES
        if present and not ours:
            raise ForeignOutputError(
                f"{self.path} has a {present[0]} that was not written by `assignor score`: choose another folder, or "
                "move it away"
            )

    def _taken_over(self) -> bool:
        """True if an abandoned run is resumed; removes the others."""
        for folder, lock in list(self._abandoned()):
            has_some = has_rows(folder / _ROWS)
            if self._resume and self._staging is None and has_some:
                self._staging, self._lock = folder, lock
                continue
            if has_some:
                self._note(f"{self.path} held the results of a run that stopped early: they are removed")
            shutil.rmtree(folder, ignore_errors=True)
            lock.close()
        if self._resume and self._staging is None:
            self._note(f"{self.path} holds no run that stopped early: this one begins with the first state")
        return self._staging is not None

    def _abandoned(self) -> Iterator[tuple[Path, IO[bytes]]]:
        """Folders of ended runs, the newest first, each with its lock."""
        found = []
        for folder in self.path.absolute().glob(f"{_STAGING}*.tmp"):
            with suppress(OSError):
                found.append((folder.stat().st_mtime_ns, folder))
        for _, folder in sorted(found, reverse=True):
            with suppress(OSError):
                lock = (folder / "lock").open("ab")
                try:
                    # A running run holds its lock.
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    lock.close()
                    raise
                yield folder, lock


def has_rows(folder: Path) -> bool:
    """True if ``folder`` has blocks of a run that can be resumed."""
    return (folder / PROGRESS).is_file() and next(folder.glob("part=*/*.parquet"), None) is not None


def _is_our_summary(path: Path) -> bool:
    try:
        read_document(path, parse_json, _OURS, max_bytes=_MAX_SUMMARY_BYTES, subject="a summary")
    except DocumentFormatError:
        return False
    return True


_MAX_SUMMARY_BYTES = 512 * 1024 * 1024
_OURS = open_record(dict.fromkeys(("format", "results", "run_metrics"), lambda value: value))


def _replace(made: Path, final: Path) -> None:
    """Puts ``made`` in the place of ``final``; on Linux either the old or the new folder exists at any moment."""
    if not final.exists() or (made.is_file() and final.is_file()):
        made.replace(final)
    elif not _exchange(made, final):
        aside = made.with_name(made.name + ".old")
        final.rename(aside)
        made.rename(final)


def _exchange(first: Path, second: Path) -> bool:
    """Swaps two names in one step; false if the system cannot."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    at_working_directory, exchange = -100, 2
    swapped = renameat2(at_working_directory, os.fsencode(first), at_working_directory, os.fsencode(second), exchange)
    return bool(swapped == 0)
