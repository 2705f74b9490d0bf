"""Memory and time of the driver of `assignor score`, by the number of rows; prints a table of Markdown.

``python -m benchmarks.driver``: a small number of histories is really scored, and their rows are repeated under other
numbers, so that a million rows exist in seconds. The driver does all of its usual work with them: journal, tables,
figures, summary, page. As on a shared file system, other processes write the rows, put them into the tables and
measure them: two processes stand for the executors. Each number of rows has its own driver, without Spark.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, repeat
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, TypeVar

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine.engine import Pictures, RunWork, Wave
from assignor_lab.scoring.engine.in_process import InProcess
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.output.pieces import NOTED, read_rows, write_piece, write_rows
from assignor_lab.scoring.rows import score_rows
from assignor_lab.scoring.sources.parts import Generated
from assignor_lab.scoring.sources.plan import ScoringPlan
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.summaries.summarised import summarise
from assignor_lab.scoring.terms import EvaluationTerms, ScoringRun

V = TypeVar("V")

FAMILY = "streams_4x40"
ASSIGNORS = ("high_availability", "sticky")
#: Histories that are really scored, and those of a wave.
TEMPLATE_ITEMS = 125
WAVE_ITEMS = 2_500
#: Processes that stand for executors.
EXECUTORS = 2


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.driver", description=__doc__)
    parser.add_argument("--rows", default="100000,1000000", help="numbers of rows (%(default)s)")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measured(options.one)))
        return 0
    columns = (
        *("rows", "driver: us/row while scored", "us/row at the end", "MB before the end", "MB at most"),
        *("executors: us/row for tables", "us/row for figures", "MB at most"),
    )
    print(
        f"{FAMILY}, {' and '.join(ASSIGNORS)}, all metrics, compared with {ASSIGNORS[0]}; CPython "
        f"{platform.python_version()}, {platform.machine()}\n"
    )
    print(f"| {' | '.join(columns)} |\n|{'---:|' * len(columns)}")
    for rows in map(int, options.rows.split(",")):
        command = [sys.executable, "-m", "benchmarks.driver", "--one", str(rows)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        times = [f"{found[name]:.1f}" for name in ("wave_us", "end_us", "tables_us", "figures_us")]
        memory = [f"{found[name]:,.0f}" for name in ("wave_mb", "mb", "others_mb")]
        cells = (f"{found['rows']:,}", *times[:2], *memory[:2], *times[2:], memory[2])
        print(f"| {' | '.join(cells)} |", flush=True)
    return 0


def measured(rows: int) -> dict[str, float]:
    """Time and memory of a driver that notes these rows, and of its helper processes."""
    registry, config = discover(), config_sources(environ={}, start=Path("/"))
    rounds = registry.family(FAMILY).plugin.rounds
    items = max(rows // (rounds * len(ASSIGNORS)), TEMPLATE_ITEMS)
    with (
        TemporaryDirectory(prefix="assignor-bench-") as folder,
        plan_sources([Generated(FAMILY, items)], registry) as plan,
        OutputFolder(Path(folder) / "out") as output,
        ProcessPoolExecutor(EXECUTORS, get_context("spawn")) as executors,
    ):
        competing = found_contenders(registry, ASSIGNORS, may_run_code=False, kind=plan.kind)
        run = ScoringRun(registry, competing, plan, config, terms=EvaluationTerms(baseline=ASSIGNORS[0]))
        engine = _Copying(executors)
        scored = score_rows(run, engine, output, lambda _progress: None)
        in_waves, before, for_tables = process_time() - engine.began, _peak_mb(), engine.elsewhere
        summary = summarise(run, scored, engine)
        at_end = process_time() - engine.began - in_waves
        count = summary.results.rows
    return {
        "rows": count,
        "wave_us": in_waves / count * 1e6,
        "end_us": at_end / count * 1e6,
        "wave_mb": before,
        "mb": _peak_mb(),
        "tables_us": for_tables / count * 1e6,
        "figures_us": (engine.elsewhere - for_tables) / count * 1e6,
        "others_mb": engine.others_mb,
    }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@attrs.define(eq=False)
class _Copying:
    """An engine that scores the first items, and repeats their rows under all other numbers."""

    executors: ProcessPoolExecutor
    cores: int | None = EXECUTORS
    versions: Mapping[str, str] = attrs.field(factory=dict)
    terms: Mapping[str, str] = attrs.field(factory=dict)
    #: Processor time at the first wave.
    began: float = 0.0
    #: Processor time of the helpers in :meth:`mapped`, and the greatest memory of one.
    elsewhere: float = 0.0
    others_mb: float = 0.0
    _scoring: InProcess = attrs.field(factory=InProcess)

    def waves(self, work: RunWork) -> Iterator[Wave]:
        assert work.pieces is not None
        items = [(item.number, item.seed or 0) for item in work.plan.work()]
        template = work.pieces.parent / "template.arrow"
        first = islice(work.plan.work(), TEMPLATE_ITEMS)
        scored = [wave.rows for wave in self._scoring.waves(_first(work, list(first)))]
        write_rows(template, scored[0].schema, pa.concat_tables(scored).to_batches())
        self.began = process_time()
        for start in range(0, len(items), WAVE_ITEMS):
            some = items[start : start + WAVE_ITEMS]
            piece = self.executors.submit(_copied, template, work.pieces, some).result()
            yield Wave(len(some), read_rows(piece, NOTED), (piece,))

    def mapped(self, call: Callable[[V], Any], values: Sequence[V], seen: Path) -> list[Any]:  # noqa: ARG002
        found = list(self.executors.map(_timed, repeat(call), values))
        self.elsewhere += sum(seconds for _, seconds, _ in found)
        self.others_mb = max(self.others_mb, *(mb for _, _, mb in found))
        return [json.loads(each) for each, _, _ in found]

    def pictures(
        self, spec: JobSpec, items: Iterable[WorkItem], wanted: Mapping[tuple[int, int], str | None]
    ) -> Pictures:
        return self._scoring.pictures(spec, items, wanted)


def _timed(call: Callable[[Any], Any], value: Any) -> tuple[str, float, float]:
    """A call's result and processor time, and this process's peak memory so far."""
    start = process_time()
    found = json.dumps(call(value))
    return found, process_time() - start, _peak_mb()


def _copied(template: Path, folder: Path, items: list[tuple[int, int]]) -> Path:
    """The template's rows under the numbers and seeds of other items."""
    rows = read_rows(template)
    copies = (_numbered(rows, items[first : first + TEMPLATE_ITEMS]) for first in range(0, len(items), TEMPLATE_ITEMS))
    return write_piece(folder, rows.schema, (batch for copy in copies for batch in copy.to_batches()))


def _first(work: RunWork, items: list[WorkItem]) -> RunWork:
    return RunWork(_Some(items), work.spec, work.exclusions, sizes=work.sizes)


class _Some(ScoringPlan):
    """Some items of a plan."""

    def __init__(self, items: list[WorkItem]) -> None:
        self._some = items

    def work(self, _wanted: object = None) -> Iterator[WorkItem]:
        return iter(self._some)


def _numbered(template: pa.Table, items: list[tuple[int, int]]) -> pa.Table:
    """The template's rows with the numbers, seeds and names of other items."""
    kept = template.filter(pc.less(template["item"], len(items)))
    moved = pc.add(kept["item"], items[0][0])
    seeds = pc.add(kept["seed"], items[0][1])
    names = pc.binary_join_element_wise(
        f"{FAMILY}-", pc.cast(seeds, pa.string()), "-round-", pc.cast(kept["round"], pa.string()), ""
    )
    columns = {"item": moved, "seed": seeds, "scenario": names}
    return pa.table([columns.get(name, kept[name]) for name in kept.column_names], schema=template.schema)


if __name__ == "__main__":
    sys.exit(main())
