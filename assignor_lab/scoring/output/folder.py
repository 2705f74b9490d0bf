"""The output folder: complete, or as it was.

Everything is made in a hidden folder inside the output folder and takes its place at the end. What a run that stopped
early had finished stays in there for ``--resume`` (:mod:`assignor_lab.scoring.output.journal`).
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
from assignor_lab.scoring.output.journal import has_waves

__all__ = ["ANSWERS", "MANIFEST", "REPORT", "RESULTS", "RUN_METRICS", "SUMMARY", "ForeignOutputError", "OutputFolder"]

RESULTS = "results.parquet"
RUN_METRICS = "run_metrics.parquet"
ANSWERS = "answers.parquet"
SUMMARY = "summary.json"
MANIFEST = "manifest.json"
REPORT = "report.html"
#: In the order in which they take their place: who sees a new summary finds new tables beside it.
_NAMES = (RESULTS, RUN_METRICS, ANSWERS, REPORT, MANIFEST, SUMMARY)
#: Where the tables of 0.1.0 were; they go when a run takes the place of theirs.
_FORMER = "scores.parquet"
_FORMER_TABLES = {"results", "run_metrics"}
_STAGING = ".assignor-score-"

_JOURNAL = "waves"
#: Errors of a write for which there is no room: on the disk, in a quota, under a limit of the process.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ForeignOutputError(AssignorLabError):
    """Something in the output folder has the name of a result and was not written by scoring."""


class OutputFolder:
    """The output of one run; as a context it cleans up after a run that did not finish.

    Args:
        path: The folder; made if it is missing. Other files in it are left alone.
        resume: Go on with what a run that stopped early left there, in place of removing it.
        on_note: Told what the user should know.

    Raises:
        ForeignOutputError: if a file of ours would replace one that is not ours.
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
            if error is not None and has_waves(self.journal):
                self._note(f"{self.path} keeps what is scored so far: the same command with --resume goes on from it")
            else:
                shutil.rmtree(self._staging, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
        # What was made for nothing goes; a folder with something in it stays.
        with suppress(OSError):
            for folder in self._made_folders:
                folder.rmdir()
        if isinstance(error, OSError) and error.filename is None and error.errno in _FULL:
            # Writing to an open file reports no path.
            raise OSError(error.errno, os.strerror(error.errno), str(self.path)) from error

    @property
    def staging(self) -> Path:
        """Where the run makes its files."""
        assert self._staging is not None, "an OutputFolder is entered before it is used"
        return self._staging

    @property
    def journal(self) -> Path:
        """Where the run writes its finished waves down."""
        return self.staging / _JOURNAL

    def table(self, name: str) -> Path:
        """Where one of the tables is made, in an empty folder of its own."""
        folder = self.staging / "tables" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder / name

    def finish(
        self,
        summary: Mapping[str, Any],
        write_report: Callable[[Path], None] | None,
        manifest: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds summary, manifest and report, and lets everything take its place.

        Args:
            summary: The document of ``summary.json``.
            write_report: Writes the report to a path; ``None``: there is none.
            manifest: The document of ``manifest.json``; ``None``: there is none.
        """
        for name, document in ((SUMMARY, summary), (MANIFEST, manifest)):
            if document is not None:
                text = json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1)
                (self.staging / name).write_text(text + "\n", encoding="utf-8")
        if write_report is not None:
            write_report(self.staging / REPORT)
        for path in self.staging.rglob("*"):
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
        shutil.rmtree(self.journal, ignore_errors=True)

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
        """Whether an abandoned run is gone on with; those that are not are removed."""
        for folder, lock in list(self._abandoned()):
            waves = has_waves(folder / _JOURNAL)
            if self._resume and self._staging is None and waves:
                self._staging, self._lock = folder, lock
                continue
            if waves:
                self._note(f"{self.path} held what a run that stopped early had scored: it is removed")
            shutil.rmtree(folder, ignore_errors=True)
            lock.close()
        if self._resume and self._staging is None:
            self._note(f"{self.path} holds no run that stopped early: this one begins with the first state")
        return self._staging is not None

    def _abandoned(self) -> Iterator[tuple[Path, IO[bytes]]]:
        """Folders of runs that are over, the newest first, each with its lock."""
        found = []
        for folder in self.path.absolute().glob(f"{_STAGING}*.tmp"):
            with suppress(OSError):
                found.append((folder.stat().st_mtime_ns, folder))
        for _, folder in sorted(found, reverse=True):
            with suppress(OSError):
                lock = (folder / "lock").open("ab")
                try:
                    # The lock of a run that is still going cannot be had.
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    lock.close()
                    raise
                yield folder, lock


def _is_our_summary(path: Path) -> bool:
    try:
        read_document(path, parse_json, _OURS, max_bytes=_MAX_SUMMARY_BYTES, what="a summary")
    except DocumentFormatError:
        return False
    return True


_MAX_SUMMARY_BYTES = 512 * 1024 * 1024
_OURS = open_record(dict.fromkeys(("format", "results", "run_metrics"), lambda value: value))


def _replace(made: Path, final: Path) -> None:
    """Puts ``made`` in the place of ``final``; of folders the old or the new one is there at any moment, on Linux."""
    if not final.exists() or (made.is_file() and final.is_file()):
        made.replace(final)
    elif not _exchange(made, final):
        aside = made.with_name(made.name + ".old")
        final.rename(aside)
        made.rename(final)


def _exchange(first: Path, second: Path) -> bool:
    """Swaps two names in one step; false where the system cannot."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    at_working_directory, exchange = -100, 2
    swapped = renameat2(at_working_directory, os.fsencode(first), at_working_directory, os.fsencode(second), exchange)
    return bool(swapped == 0)
