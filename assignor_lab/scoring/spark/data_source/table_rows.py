"""Tables of results as rows of the data source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from assignor_lab.documents.wording import shortened
from assignor_lab.groups.columns import FORMAT, OTHER_FORMAT
from assignor_lab.scoring.output.tables import parts_of
from assignor_lab.scoring.spark.data_source.options import TABLES, DataSourceError

__all__ = ["Table"]

#: Row groups of one part: as many rows as in Spark's own reader for a file of this size.
GROUPS_OF_A_PART = 4
BATCH_ROWS = 4_096


@attrs.frozen
class Table:
    """A table of results."""

    folder: str
    name: str

    def schema(self) -> StructType:
        """The columns of the table on disk.

        Raises:
            DataSourceError: if there is no such table, or it is of another release.
        """
        return from_arrow_schema(self._schema())

    def parts(self) -> list[list[str | int]]:
        """File, first row group and number of row groups of each part."""
        found: list[list[str | int]] = []
        for file in parts_of(self._path()):
            groups = _opened(file).metadata.num_row_groups
            firsts = range(0, groups, GROUPS_OF_A_PART)
            found += [[str(file), first, min(GROUPS_OF_A_PART, groups - first)] for first in firsts]
        return found

    def batches(self, part: list[str | int]) -> Iterator[pa.RecordBatch]:
        file, first, number = Path(str(part[0])), int(part[1]), int(part[2])
        try:
            with pq.ParquetFile(file) as opened:
                yield from opened.iter_batches(BATCH_ROWS, row_groups=range(first, first + number))
        except (OSError, pa.ArrowException) as error:
            raise _unreadable(file, error) from error

    def _path(self) -> Path:
        folder = Path(self.folder)
        path = folder if folder.name == TABLES[self.name] else folder / TABLES[self.name]
        if path.is_file() or (path.is_dir() and parts_of(path)):
            return path
        shown = shortened(str(path), 200)
        if not folder.exists():
            raise DataSourceError(f"{shown}: there is no such folder here, where Spark plans: paths are the server's")
        if any(folder.glob(".assignor-score-*.tmp")):
            raise DataSourceError(f"{shown}: the run stopped early: `assignor score` with --resume goes on with it")
        if (folder / "scores.parquet").is_dir():
            raise DataSourceError(f"{shown}: the folder holds scores.parquet of release 0.1.0: score it again")
        if self.name == "answers" and (folder / TABLES["results"]).exists():
            raise DataSourceError(f"{shown}: the run kept no answers: score it again with --keep-assignments")
        raise DataSourceError(f"{shown}: the folder holds no such table: give the folder --out of `assignor score`")

    def _schema(self) -> pa.Schema:
        path = parts_of(self._path())[0]
        schema = _opened(path).schema_arrow
        version = (schema.metadata or {}).get(f"assignor_lab.{self.name}".encode())
        if version is None:
            raise DataSourceError(f"{shortened(str(path), 200)}: this is no table {self.name} of `assignor score`")
        if version != str(FORMAT).encode():
            raise DataSourceError(
                f"{shortened(str(path), 200)}: version {version.decode('ascii', 'replace'):.20} of the table, and this "
                f"release reads version {FORMAT}: {OTHER_FORMAT}"
            )
        return schema


def _opened(file: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(file)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: Exception) -> DataSourceError:
    return DataSourceError(f"{shortened(str(file), 200)}: this is no Parquet file ({shortened(str(error), 200)})")
