"""Rows per second and core of `assignor score`, and the time of each step; prints a table of Markdown.

``python -m benchmarks.score``: in this process, without Spark, as processor time, so that a busy machine does not
count. Then the whole command on one core and on two, with twice the histories the second time: the difference of the
two processor times, of all processes, is the cost of a row without the start.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, process_time

import attrs

from assignment_api.plugins import discover
from assignor_lab.groups.entries import entry_of
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.garbage import spare_what_is_loaded
from assignor_lab.scoring.engine.batches import answer_batches
from benchmarks.processes import processor_time

HERE = Path(__file__).resolve().parents[1]
COLUMNS = ("where", "rows", "rows/s/core", "ms/row", "build", "assign", "metrics", "rest", "processor s", "peak MB")


@attrs.frozen
class Scored:
    """The results of one way of scoring.

    Args:
        shares: Shares of states, assignors and metrics.
        processor_seconds: Of all processes, the start included; ``None``: those of ``core_seconds``.
        peak_mb: Most resident memory of the largest process, or ``None``.
    """

    where: str
    rows: int
    core_seconds: float
    shares: dict[str, float]
    processor_seconds: float | None = None
    peak_mb: float | None = None

    def cells(self) -> Iterator[str]:
        known = [self.shares.get(name, 0.0) for name in ("build", "assign", "metrics")]
        yield self.where
        yield f"{self.rows:,}"
        yield f"{self.rows / self.core_seconds:,.0f}"
        yield f"{self.core_seconds / self.rows * 1000:.2f}"
        yield from (f"{share:.0%}" for share in (*known, max(1 - sum(known), 0.0)))
        yield f"{self.core_seconds if self.processor_seconds is None else self.processor_seconds:,.1f}"
        yield "" if self.peak_mb is None else f"{self.peak_mb:,.0f}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.score", description=__doc__)
    parser.add_argument("--family", default="streams_4x40", help="family of the histories (%(default)s)")
    parser.add_argument("--count", type=int, default=400, help="histories (%(default)s)")
    parser.add_argument("--assignors", default="high_availability,sticky", help="names of assignors (%(default)s)")
    parser.add_argument(
        "--cores", default="1,2", help="cores on which Spark runs, one after the other; empty: without it"
    )
    parser.add_argument("--repeats", type=int, default=1, help="runs of each number of histories (%(default)s)")
    parser.add_argument(
        "--checkout", type=Path, help="another checkout with a .venv, whose command runs through Spark in turn"
    )
    options = parser.parse_args()
    assignors = tuple(options.assignors.split(","))
    print(
        f"{options.family}, {options.count} histories, {', '.join(assignors)}, all metrics; CPython "
        f"{platform.python_version()}, {platform.machine()}, {os.cpu_count()} processors\n"
    )
    print(f"| {' | '.join(COLUMNS)} |\n|---{'|---:' * (len(COLUMNS) - 1)}|")
    print(f"| {' | '.join(in_process(options.family, options.count, assignors).cells())} |", flush=True)
    checkouts = [HERE, *([] if options.checkout is None else [options.checkout.resolve()])]
    rates: list[str] = []
    for cores in filter(None, options.cores.split(",")):
        least: dict[tuple[Path, int], float] = {}
        rows: dict[int, int] = {}
        for _ in range(options.repeats):
            for count in (options.count, 2 * options.count):
                for checkout in checkouts:
                    scored = through_spark(options.family, count, int(cores), assignors, checkout)
                    if scored is None or scored.processor_seconds is None:
                        return 1
                    print(f"| {' | '.join(scored.cells())} |", flush=True)
                    rows[count] = scored.rows
                    known = least.get((checkout, count), scored.processor_seconds)
                    least[checkout, count] = min(known, scored.processor_seconds)
        more = rows[2 * options.count] - rows[options.count]
        for checkout in checkouts:
            seconds = least[checkout, 2 * options.count] - least[checkout, options.count]
            rates.append(f"{_place(cores, checkout)}: {more / seconds:,.0f} more rows per second of processors")
    print("\n" + "\n".join(rates))
    return 0


def in_process(family: str, count: int, assignors: tuple[str, ...]) -> Scored:
    """The executors' work without Spark."""
    kind = entry_of(discover().family(family).plugin.kind)
    scorer = Scorer(JobSpec(assignors, tuple(kind.load().metrics(discover())), (family,), kind=kind))
    items = [WorkItem(number, 0, family=family, seed=number) for number in range(count)]
    for _ in answer_batches(scorer, items[: max(count // 20, 1)]):
        pass  # plugins are loaded and caches are warm, as in an executor's next wave
    spare_what_is_loaded()  # as an executor does
    start, clock = process_time(), monotonic()
    batches = list(answer_batches(scorer, items))
    seconds = process_time() - start
    clock = monotonic() - clock
    columns = {"build": "build_ms", "assign": "assign_wall_ms", "metrics": "metrics_ms"}
    spent = {
        name: sum(value.as_py() or 0.0 for batch in batches for value in batch[column]) / 1000
        for name, column in columns.items()
    }
    # The parts are wall time, which a busy machine prolongs alike.
    whole = max(clock, sum(spent.values()))
    rows = sum(batch.num_rows for batch in batches)
    return Scored("in process", rows, seconds, {name: value / whole for name, value in spent.items()})


def through_spark(
    family: str, count: int, cores: int, assignors: tuple[str, ...], checkout: Path = HERE
) -> Scored | None:
    """The whole command; ``None`` after a printed error."""
    with TemporaryDirectory(prefix="assignor-bench-") as folder:
        command = _command(family, count, cores, assignors, Path(folder) / "out", checkout)
        # Class archives of two checkouts would replace each other.
        archives = checkout / "build" / "class-archives"
        environment = {**os.environ, "ASSIGNOR_CLASS_ARCHIVES": str(archives)}
        with processor_time() as time:
            done = subprocess.run(
                ["/usr/bin/env", *command],
                check=False,
                capture_output=True,
                text=True,
                cwd=checkout,
                env=environment,
            )
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return None
        summary = json.loads((Path(folder) / "out" / "summary.json").read_text(encoding="utf-8"))
    run = summary["run_metrics"]
    seconds = run["seconds"] * cores
    return Scored(
        _place(cores, checkout),
        summary["results"]["rows"],
        seconds,
        run["shares"] or {},
        time.seconds,
        _peak_mb(),
    )


def _place(cores: int | str, checkout: Path) -> str:
    return f"local[{cores}]" if checkout == HERE else f"local[{cores}] in {checkout.name}"


def _command(
    family: str, count: int, cores: int, assignors: tuple[str, ...], out: Path, checkout: Path
) -> Sequence[str]:
    words = [word for name in assignors for word in ("--assignor", name)]
    where = ["--families", family, "--count", str(count), "--master", f"local[{cores}]", "--out", str(out)]
    python = sys.executable if checkout == HERE else str(checkout / ".venv" / "bin" / "python")
    return [python, "-m", "assignor_lab.cli.main", "score", *words, *where]


def _peak_mb() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
