"""The output folder: complete, or as it was.

Everything is made in a hidden folder inside the output folder and takes its place at the end. Parquet is written with
fixed settings and row groups of a fixed size, whatever pieces the rows come in, so that equal rows are equal bytes.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from assignment_api import AssignorLabError
from assignor_lab.scoring.rows import results_schema, run_metrics_schema

__all__ = ["ForeignOutputError", "OutputFolder", "RESULTS", "RUN_METRICS", "TableWriter"]

TABLES = "scores.parquet"
RESULTS = f"{TABLES}/results"
RUN_METRICS = f"{TABLES}/run_metrics"
SUMMARY = "summary.json"
REPORT = "report.html"
#: In the order in which they take their place: who sees a new summary finds new tables beside it.
_NAMES = (TABLES, REPORT, SUMMARY)
_STAGING = ".assignor-score-"

ROW_GROUP_ROWS = 16_384
PART = "part-00000.parquet"


class ForeignOutputError(AssignorLabError):
    """Something in the output folder has the name of a result and was not written by scoring."""


class OutputFolder:
    """The output of one run; as a context it cleans up after a run that did not finish.

    Args:
        path: The folder; made if it is missing. Other files in it are left alone.

    Raises:
        ForeignOutputError: if a file of ours would replace one that is not ours.
        OSError: if the folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._staging: Path | None = None
        self._made_folders: list[Path] = []
        self._lock: IO[bytes] | None = None

    def __enter__(self) -> Self:
        if self.path.exists() and not self.path.is_dir():
            raise ForeignOutputError(f"{self.path} is a file: --out takes a folder; choose another name")
        self._check_ours()
        self._made_folders = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        self.path.mkdir(parents=True, exist_ok=True)
        self._remove_abandoned()
        staging = self.path / f"{_STAGING}{secrets.token_hex(6)}.tmp"
        staging.mkdir()
        self._staging = staging
        self._lock = (staging / "lock").open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.close()
        if self._staging is not None:
            shutil.rmtree(self._staging, ignore_errors=True)
        # What was made for nothing goes; a folder with something in it stays.
        with suppress(OSError):
            for folder in self._made_folders:
                folder.rmdir()

    @property
    def staging(self) -> Path:
        """Where the run makes its files."""
        assert self._staging is not None, "an OutputFolder is entered before it is used"
        return self._staging

    def table(self, name: str, schema: pa.Schema) -> TableWriter:
        """A writer for one of the tables."""
        folder = self.staging / name
        folder.mkdir(parents=True)
        return TableWriter(folder / PART, schema)

    def finish(self, summary: Mapping[str, Any], write_report: Callable[[Path], None] | None) -> None:
        """Adds summary and report, and lets everything take its place.

        Args:
            summary: The document of ``summary.json``.
            write_report: Writes the report to a path; ``None``: there is none.
        """
        text = json.dumps(summary, ensure_ascii=True, allow_nan=False, indent=1)
        (self.staging / SUMMARY).write_text(text + "\n", encoding="utf-8")
        if write_report is not None:
            write_report(self.staging / REPORT)
        for path in self.staging.rglob("*"):
            _sync(path)
        for name in _NAMES:
            made, final = self.staging / name, self.path / name
            if made.exists():
                _replace(made, final)
            elif final.exists():
                final.unlink()
        _sync(self.path)

    def _check_ours(self) -> None:
        present = [name for name in _NAMES if (self.path / name).exists()]
        if present and not _is_our_summary(self.path / SUMMARY):
            raise ForeignOutputError(
                f"{self.path} has a {present[0]} that was not written by `assignor score`: choose another folder, or "
                "move it away"
            )

    def _remove_abandoned(self) -> None:
        for folder in self.path.glob(f"{_STAGING}*.tmp"):
            with suppress(OSError):
                lock = (folder / "lock").open("ab")
                try:
                    # The lock of a run that is still going cannot be had.
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    lock.close()


def _is_our_summary(path: Path) -> bool:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and {"format", "results", "run_metrics"} <= document.keys()


class TableWriter:
    """One table into one Parquet file."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._writer = pq.ParquetWriter(
            path,
            schema,
            version="2.6",
            compression="zstd",
            compression_level=3,
            use_dictionary=[field.name for field in schema if pa.types.is_string(field.type)],
            write_statistics=True,
            data_page_version="1.0",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._write(self._rows)
        self._writer.close()

    def write(self, table: pa.Table) -> None:
        """Appends rows."""
        self._waiting.append(table.select(self._schema.names).cast(self._schema))
        self._rows += table.num_rows
        if self._rows >= ROW_GROUP_ROWS:
            self._write(self._rows // ROW_GROUP_ROWS * ROW_GROUP_ROWS)

    def _write(self, rows: int) -> None:
        waiting = pa.concat_tables(self._waiting) if self._waiting else self._schema.empty_table()
        for start in range(0, rows, ROW_GROUP_ROWS):
            group = waiting.slice(start, min(ROW_GROUP_ROWS, rows - start))
            # Pieces must not show in the file: neither their number nor their ends.
            self._writer.write_table(group.combine_chunks(), row_group_size=ROW_GROUP_ROWS)
        self._waiting = [waiting.slice(rows)]
        self._rows -= rows


def results_writer(folder: OutputFolder, metrics: Sequence[str]) -> TableWriter:
    """Writer of the table ``results``."""
    return folder.table(RESULTS, results_schema(metrics))


def run_metrics_writer(folder: OutputFolder) -> TableWriter:
    """Writer of the table ``run_metrics``."""
    return folder.table(RUN_METRICS, run_metrics_schema())


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(made: Path, final: Path) -> None:
    """Puts ``made`` in the place of ``final``; of folders the old or the new one is there at any moment, on Linux."""
    if not made.is_dir():
        made.replace(final)
    elif not final.exists():
        made.rename(final)
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
