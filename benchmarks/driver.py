"""Memory and time of `assignor score` on Spark by the number of items; prints a table of Markdown.

``python -m benchmarks.driver``: one state is really scored, and its row is repeated under other numbers by the tasks of
Spark, so that two million items exist in minutes. Everything else is as usual: parts, blocks, files, tables, figures.
Each number of items has its own process and session on two cores.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING

import attrs
import pyarrow as pa

from assignment_api.plugins import config_sources, discover
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine.blocks import RunPart, parts_of
from assignor_lab.scoring.engine.engine import BlockWork
from assignor_lab.scoring.engine.in_process import InProcess
from assignor_lab.scoring.engine.rows_folder import RowsFolder
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.output.tables import block_schema, rows_schema
from assignor_lab.scoring.rows import score_rows, write_rows
from assignor_lab.scoring.sources.parts import Generated
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.spark.engine import OnSpark
from assignor_lab.scoring.spark.job import ddl_of
from assignor_lab.scoring.spark.session import open_session
from assignor_lab.scoring.summaries.summarised import summarise
from assignor_lab.scoring.terms import ScoringRun

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FAMILY, ASSIGNOR = "streams_4x40", "sticky"
MASTER = "local[2]"
COLUMNS = ("items", "blocks", "parts", "s until the rows", "s until the tables", "s until the figures", "MB", "JVM: MB")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.driver", description=__doc__)
    parser.add_argument("--items", default="200000,2000000", help="numbers of items (%(default)s)")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measured(options.one)))
        return 0
    print(f"{MASTER}, one row an item; CPython {platform.python_version()}, {platform.machine()}\n")
    print(f"| {' | '.join(COLUMNS)} |\n|{'---:|' * len(COLUMNS)}")
    for items in map(int, options.items.split(",")):
        command = [sys.executable, "-m", "benchmarks.driver", "--one", str(items)]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        print(f"| {' | '.join(f'{found[name]:,.0f}' for name in COLUMNS)} |", flush=True)
    return 0


def measured(items: int) -> dict[str, float]:
    """Times and memory of a run."""
    registry, config = discover(), config_sources(environ={}, start=Path("/"))
    with (
        TemporaryDirectory(prefix="assignor-bench-") as scratch,
        plan_sources([Generated(FAMILY, items)], registry) as plan,
        OutputFolder(Path(scratch) / "out") as folder,
        open_session(MASTER) as spark,
    ):
        run = ScoringRun(registry, found_contenders(registry, [ASSIGNOR], kind=plan.kind), plan, config)
        engine = _Copying(spark, template=_template(run, Path(scratch)))
        parts = list(parts_of(plan))
        start = monotonic()
        rows: list[float] = []
        scored = score_rows(run, engine, folder, lambda progress: rows.append(progress.seconds))
        tables = monotonic() - start
        assert summarise(run, scored, engine).results.rows == items
        figures = monotonic() - start
        jvm = int(spark.sparkContext._jvm.ProcessHandle.current().pid())  # type: ignore[union-attr]
        values = (
            *(items, sum(part.blocks for part in parts), len(parts), max(rows), tables, figures),
            *(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, _peak_mb(jvm)),
        )
    return dict(zip(COLUMNS, values, strict=True))


def _peak_mb(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def _template(run: ScoringRun, scratch: Path) -> bytes:
    """A really scored row, in Arrow's format."""
    registry = run.registry
    with plan_sources([Generated(FAMILY, 1)], registry) as plan:
        place = RowsFolder(scratch / "template", rows_schema(tuple(run.metrics), run.plan.kind.load().columns))
        engine = InProcess()
        write_rows(attrs.evolve(run, plan=plan), engine, place, lambda _progress: None)
        engine.close()
        table = pa.concat_tables(place.tables(next(parts_of(plan)))).slice(0, 1)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


@attrs.define(eq=False)
class _Copying(OnSpark):
    """An engine that repeats one row in each task."""

    template: bytes = attrs.field(default=b"", kw_only=True)

    def frame(self, work: BlockWork, tasks: Sequence[tuple[int, ...]]) -> DataFrame:
        with pa.ipc.open_stream(self.template) as reader:
            schema = block_schema(reader.schema)
        numbers = self.spark.range(0, len(tasks), 1, len(tasks))
        return numbers.mapInArrow(_Copies(work.part, tuple(tasks), self.template), ddl_of(schema))


@attrs.frozen
class _Copies:
    part: RunPart
    tasks: tuple[tuple[int, ...], ...]
    template: bytes

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with pa.ipc.open_stream(self.template) as reader:
            row = reader.read_all()
        for batch in batches:
            for block in (block for place in batch.column(0).to_pylist() for block in self.tasks[place]):
                items = self.part.block(block)
                table = row.take(pa.array([0] * len(items)))
                values = {"item": [item.number for item in items], "seed": [item.seed for item in items]}
                for name, column in values.items():
                    field = table.schema.field(name)
                    table = table.set_column(table.schema.get_field_index(name), field, pa.array(column, field.type))
                schema = block_schema(row.schema)
                numbers = pa.array([block] * len(items), pa.int64())
                yield from table.add_column(0, schema.field(0), numbers).cast(schema).combine_chunks().to_batches()


if __name__ == "__main__":
    sys.exit(main())
