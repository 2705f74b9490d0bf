"""The content of a read of the data source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql.types import StructType

__all__ = ["Content"]


class Content(Protocol):
    """Content in independent parts."""

    def schema(self) -> StructType: ...

    def parts(self) -> list[Any]:
        """Plain data for each part, in the order of the rows."""

    def batches(self, part: Any) -> Iterator[pa.RecordBatch]: ...
