"""The data source ``assignor`` (docs, "Data source of Spark").

PySpark creates one in a separate process for each read, gets schema and partitions there, and sends each partition to a
free worker. These calls import slow modules, because the class is imported whenever any foreign data source is
searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from assignor_lab.scoring.spark.data_source.content import Content

__all__ = ["AssignorSource"]


class AssignorSource(DataSource):
    """States of families, scenario files, logs and recordings; tables of results."""

    _content: Content | None = None

    @classmethod
    def name(cls) -> str:
        return "assignor"

    def schema(self) -> StructType:
        """The columns; of results those of their table.

        Raises:
            DataSourceError: if the options contradict each other, or their path has no data.
            AssignorLabError: another subclass, if a family or an assignor is not installed.
        """
        if self._content is None:
            self._content = _content_of(self.options)
        return self._content.schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        from assignor_lab.scoring.spark.data_source.options import DataSourceError

        known = self.schema()
        assert self._content is not None
        if [(field.name, field.dataType) for field in schema] != [(field.name, field.dataType) for field in known]:
            raise DataSourceError("format assignor has its own columns: .select(...) some, without .schema(...)")
        return _Reader(self._content, schema)


def _content_of(given: Mapping[str, str]) -> Content:
    from assignor_lab.scoring.spark.data_source.options import options_of
    from assignor_lab.scoring.spark.data_source.scenario_rows import scenarios_of
    from assignor_lab.scoring.spark.data_source.table_rows import Table

    options = options_of(given)
    return scenarios_of(options) if options.table is None else Table(options.paths[0], options.table)


class _Part(InputPartition):
    """A part of the content."""


class _Reader(DataSourceReader):
    """Reads a content; it travels to the workers."""

    def __init__(self, content: Content, schema: StructType) -> None:
        self._content = content
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        return [_Part(part) for part in self._content.parts()]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        schema = to_arrow_schema(self._schema)
        # Spark makes one empty part if there are none.
        for batch in () if partition.value is None else self._content.batches(partition.value):
            columns = [batch.column(field.name).cast(field.type) for field in schema]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
