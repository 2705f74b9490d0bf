"""A whole run: sources in, the output folder out. The command ``assignor score`` is a thin caller of this."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import attrs
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from assignment_api.plugins import Registry
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.report.html import write_report
from assignor_lab.scoring.contest import OBSERVED
from assignor_lab.scoring.contestants import Contestants
from assignor_lab.scoring.evaluation import NO_TERMS, Terms, evaluation
from assignor_lab.scoring.figures import ResultsTable
from assignor_lab.scoring.job import details_frame, items_frame
from assignor_lab.scoring.output import PART, RESULTS, RUN_METRICS, OutputFolder, results_writer, run_metrics_writer
from assignor_lab.scoring.score import job_spec, measured
from assignor_lab.scoring.session import parallelism_of
from assignor_lab.scoring.sources import Plan
from assignor_lab.scoring.summary import (
    FORMAT,
    NO_PLACEMENTS,
    Machine,
    Wanted,
    results_summary,
    run_summary,
    wanted_placements,
)
from assignor_lab.scoring.tally import LIGHT_COLUMNS, take_tally
from assignor_lab.scoring.waves import Progress, waves
from assignor_lab.scoring.work import STREAMS, JobSpec

__all__ = ["Run", "run_scoring"]

#: Tasks at a time that are assumed where the session does not tell.
UNKNOWN_PARALLELISM = 4


@attrs.frozen(eq=False)
class Run:
    """What is to be scored.

    Args:
        registry: What is installed.
        competing: Who competes.
        plan: On what.
        config: Under which configuration.
        folder: Output folder, entered.
        command: The command line for the summary, or ``None``.
        master: Where Spark runs, for the summary.
        terms: Baseline, gates, and how a state is shown again.
        only_round: The one round whose rows are kept; ``None``: all.
    """

    registry: Registry
    competing: Contestants
    plan: Plan
    config: ConfigSources
    folder: OutputFolder
    command: str | None = None
    master: str | None = None
    terms: Terms = NO_TERMS
    only_round: int | None = None


def run_scoring(spark: SparkSession, run: Run, on_progress: Callable[[Progress], None]) -> dict[str, Any]:
    """Scores everything and writes tables, summary and report.

    Until everything is complete, the output folder holds what was there before.

    Args:
        spark: Classic or Connect session.
        run: What is to be scored.
        on_progress: Called every few seconds.

    Returns:
        The summary.

    Raises:
        OSError: if the folder cannot be written.
    """
    spec = job_spec(run.registry, run.competing, run.plan, run.config)
    metrics = measured(run.registry, spec.kind)
    plugins = {name: found.plugin for name, found in metrics.items()}
    started = datetime.now(UTC)
    parallelism = parallelism_of(spark)
    folder = run.folder
    start = monotonic()
    _write_tables(spark, run, spec, folder, parallelism or UNKNOWN_PARALLELISM, on_progress)
    seconds = monotonic() - start
    results, times = folder.staging / RESULTS / PART, folder.staging / RUN_METRICS / PART
    tally = take_tally(_light_rows(results))
    names = tuple(name for name in (*spec.assignors, OBSERVED) if tally.rows_of.get(name))
    table = ResultsTable(results, names)
    wanted = wanted_placements(table, plugins) if spec.kind == STREAMS else NO_PLACEMENTS
    details = _details(spark, run.plan, spec, wanted)
    machine = Machine(
        run.command, started.strftime("%Y-%m-%dT%H:%M:%SZ"), seconds, run.master, parallelism, _java_version(spark)
    )
    results_part = results_summary(
        run.competing, run.config, run.plan.sources, tally, table, metrics, wanted, details, spec.kind
    )
    summary = {
        "format": FORMAT,
        "results": {**results_part, **evaluation(table, plugins, run.terms)},
        "run_metrics": run_summary(machine, tally, times, names),
    }
    folder.finish(summary, lambda path: write_report(summary, path))
    return summary


def _write_tables(
    spark: SparkSession,
    run: Run,
    spec: JobSpec,
    folder: OutputFolder,
    parallelism: int,
    on_progress: Callable[[Progress], None],
) -> None:
    with results_writer(folder, spec.metrics) as results, run_metrics_writer(folder) as times:
        for table in waves(spark, run.plan, spec, parallelism, on_progress):
            kept = table if run.only_round is None else table.filter(pc.equal(table["round"], run.only_round))
            results.write(kept)
            times.write(kept)


def _light_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=list(LIGHT_COLUMNS), batch_size=4096):
            yield from batch.to_pylist()


def _details(spark: SparkSession, plan: Plan, spec: JobSpec, wanted: Wanted) -> dict[tuple[int, int], dict[str, Any]]:
    """The full pictures of the wanted states: those few items are worked on once more."""
    if not wanted.states:
        return {}
    items = list(plan.work(frozenset(item for item, _ in wanted.states)))
    table = details_frame(items_frame(spark, items), spec, wanted.states).toArrow()
    return {
        (row["item"], row["round"]): json.loads(row["detail"])
        for row in table.select(["item", "round", "detail"]).to_pylist()
    }


def _java_version(spark: SparkSession) -> str | None:
    try:
        return str(spark.sparkContext._jvm.System.getProperty("java.version"))  # type: ignore[union-attr]
    except Exception:  # noqa: BLE001 - a Connect session has no Java of its own to ask
        return None
