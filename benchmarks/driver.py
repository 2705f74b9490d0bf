"""Memory and time of the driver of `assignor score`, by the number of rows; prints a table of Markdown.

``python -m benchmarks.driver``: rows come from a small number of histories that are really scored, again and again
under other numbers, so that a million of them are there in seconds. What the driver does with them is all that it does
in a run: journal, tables, figures, summary, page. Each number of rows has a process of its own; Spark is not in it.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, TypeVar

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.comparison import Terms
from assignor_lab.scoring.competitors import competitors
from assignor_lab.scoring.engine import Pictures, Wave, Work
from assignor_lab.scoring.in_process import InProcess
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.scored import score_rows
from assignor_lab.scoring.sources import Generated, Plan, plan_sources
from assignor_lab.scoring.summary.summarised import summarise
from assignor_lab.scoring.terms import Run

V = TypeVar("V")

FAMILY = "streams_4x40"
ASSIGNORS = ("high_availability", "sticky")
#: Histories that are really scored, and those of a wave.
TEMPLATE_ITEMS = 125
WAVE_ITEMS = 2_500


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.driver", description=__doc__)
    parser.add_argument("--rows", default="100000,1000000", help="numbers of rows (%(default)s)")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measured(options.one)))
        return 0
    columns = ("rows", "rows of a wave: us/row", "end: us/row", "MB before the end", "MB at most")
    print(
        f"{FAMILY}, {' and '.join(ASSIGNORS)}, all metrics, compared with {ASSIGNORS[0]}; CPython "
        f"{platform.python_version()}, {platform.machine()}\n"
    )
    print(f"| {' | '.join(columns)} |\n|{'---:|' * len(columns)}")
    for rows in map(int, options.rows.split(",")):
        command = [sys.executable, "-m", "benchmarks.driver", "--one", str(rows)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(
            f"| {found['rows']:,} | {found['wave_us']:.1f} | {found['end_us']:.1f} | {found['wave_mb']:,.0f} "
            f"| {found['mb']:,.0f} |",
            flush=True,
        )
    return 0


def measured(rows: int) -> dict[str, float]:
    """Time and memory of a driver that is handed this many rows, in this process."""
    registry, config = discover(), config_sources(environ={}, start=Path("/"))
    rounds = registry.family(FAMILY).plugin.rounds
    items = max(rows // (rounds * len(ASSIGNORS)), TEMPLATE_ITEMS)
    with (
        TemporaryDirectory(prefix="assignor-bench-") as folder,
        plan_sources([Generated(FAMILY, items)], registry) as plan,
        OutputFolder(Path(folder) / "out") as output,
    ):
        competing = competitors(registry, ASSIGNORS, may_run_code=False, kind=plan.kind)
        run = Run(registry, competing, plan, config, terms=Terms(baseline=ASSIGNORS[0]))
        engine = _Copying()
        scored = score_rows(run, engine, output, lambda _progress: None)
        in_waves, before = process_time() - engine.copying - engine.began, _peak_mb()
        summary = summarise(run, scored, engine)
        at_end = process_time() - engine.began - engine.copying - in_waves
        count = summary["results"]["rows"]
    return {
        "rows": count,
        "wave_us": in_waves / count * 1e6,
        "end_us": at_end / count * 1e6,
        "wave_mb": before,
        "mb": _peak_mb(),
    }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@attrs.define(eq=False)
class _Copying:
    """An engine that scores the first items, and gives their rows again under the numbers of all others."""

    cores: int | None = 1
    versions: Mapping[str, str] = attrs.field(factory=dict)
    terms: Mapping[str, str] = attrs.field(factory=dict)
    #: Time of the processor at the first wave, and what making copies took.
    began: float = 0.0
    copying: float = 0.0
    _scoring: InProcess = attrs.field(factory=InProcess)

    def waves(self, work: Work) -> Iterator[Wave]:
        """As many rows as the items of the plan have, in their order."""
        items = list(work.plan.work())
        scored = [wave.rows for wave in self._scoring.waves(_first(work, items[:TEMPLATE_ITEMS]))]
        template = pa.concat_tables(scored)
        self.began = process_time()
        for first in range(0, len(items), WAVE_ITEMS):
            start = process_time()
            some = items[first : first + WAVE_ITEMS]
            copies = [_numbered(template, each) for each in _blocks(some)]
            rows = pa.concat_tables(copies).combine_chunks()
            self.copying += process_time() - start
            yield Wave(len(some), rows)

    def mapped(self, call: Callable[[V], Any], values: Sequence[V], seen: Path) -> list[Any]:
        """What ``call`` makes of each of ``values``."""
        return self._scoring.mapped(call, values, seen)

    def pictures(
        self, spec: JobSpec, items: Iterable[WorkItem], wanted: Mapping[tuple[int, int], str | None]
    ) -> Pictures:
        """The full pictures of some states."""
        return self._scoring.pictures(spec, items, wanted)


def _first(work: Work, items: list[WorkItem]) -> Work:
    """The same work with some of its items only."""
    return Work(_Some(items), work.spec, work.exclusions, sizes=work.sizes)


class _Some(Plan):
    """Some items of a plan, as a plan."""

    def __init__(self, items: list[WorkItem]) -> None:
        self._some = items

    def work(self, _wanted: object = None) -> Iterator[WorkItem]:
        """The items."""
        return iter(self._some)


def _blocks(items: list[WorkItem]) -> Iterator[list[WorkItem]]:
    for first in range(0, len(items), TEMPLATE_ITEMS):
        yield items[first : first + TEMPLATE_ITEMS]


def _numbered(template: pa.Table, items: list[WorkItem]) -> pa.Table:
    """The template's rows of as many items, under their numbers, seeds and names."""
    kept = template.filter(pc.less(template["item"], len(items)))
    moved = pc.add(kept["item"], items[0].number)
    seeds = pc.add(kept["seed"], items[0].seed or 0)
    names = pc.binary_join_element_wise(
        f"{FAMILY}-", pc.cast(seeds, pa.string()), "-round-", pc.cast(kept["round"], pa.string()), ""
    )
    columns = {"item": moved, "seed": seeds, "scenario": names}
    return pa.table([columns.get(name, kept[name]) for name in kept.column_names], schema=template.schema)


if __name__ == "__main__":
    sys.exit(main())
