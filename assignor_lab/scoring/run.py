"""A whole run: sources in, the output folder out. The command ``assignor score`` is a thin caller of this."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from assignment_api.plugins import MetricPlugin, Registry
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.groups.terms import JobSpec
from assignor_lab.groups.work import OBSERVED
from assignor_lab.report.html import write_report
from assignor_lab.runtime.executor_wheels import ExecutorWheel
from assignor_lab.scoring.competitors import Competitors
from assignor_lab.scoring.costs import Spent, spent_on
from assignor_lab.scoring.exclusion import RunExclusions
from assignor_lab.scoring.output.folder import RESULTS, RUN_METRICS, OutputFolder
from assignor_lab.scoring.output.journal import Journal, open_journal
from assignor_lab.scoring.output.tables import parts_of, results_writer, run_metrics_writer
from assignor_lab.scoring.schema import rows_schema
from assignor_lab.scoring.score import job_spec
from assignor_lab.scoring.sources import Plan
from assignor_lab.scoring.spark.job import items_frame, pictures_frame
from assignor_lab.scoring.spark.session import parallelism_of
from assignor_lab.scoring.spark.waves import waves
from assignor_lab.scoring.summary.document import (
    FORMAT,
    Machine,
    Wanted,
    results_summary,
    run_summary,
    wanted_states,
)
from assignor_lab.scoring.summary.evaluation import NO_TERMS, Terms, evaluation
from assignor_lab.scoring.summary.figures import ResultsTable
from assignor_lab.scoring.summary.tally import LIGHT_COLUMNS, take_tally
from assignor_lab.scoring.terms import terms_of_run

__all__ = ["Progress", "Run", "run_scoring"]

#: Tasks at a time that are assumed where the session does not tell.
UNKNOWN_PARALLELISM = 4


@attrs.frozen
class Progress:
    """How far a run is.

    Args:
        items: Work items that are done.
        total: Work items in all.
        rows: Rows so far.
        states: States (pairs of item and round) so far.
        seconds: Time since the first wave was started, that of a run that is gone on with included.
    """

    items: int
    total: int
    rows: int
    states: int
    seconds: float


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
        wheels: Plugins that travel.
        cores: Tasks that run at a time, where the session itself does not tell; ``None``: not known.
    """

    registry: Registry
    competing: Competitors
    plan: Plan
    config: ConfigSources
    folder: OutputFolder
    command: str | None = None
    master: str | None = None
    terms: Terms = NO_TERMS
    only_round: int | None = None
    wheels: tuple[ExecutorWheel, ...] = ()
    cores: int | None = None


def run_scoring(spark: SparkSession, run: Run, on_progress: Callable[[Progress], None]) -> dict[str, Any]:
    """Scores everything and writes tables, summary and report.

    Until everything is complete, the output folder holds what was there before. What an earlier run wrote down before
    it stopped, is not scored again.

    Args:
        spark: Classic or Connect session.
        run: What is to be scored.
        on_progress: Called every few seconds.

    Returns:
        The summary.

    Raises:
        ResumeError: if what is to be gone on with is another run.
        JobFailedError: if Spark gave up.
        OSError: if the folder cannot be written.
    """
    spec = job_spec(run.registry, run.competing, run.plan, run.config)
    kind = spec.kind.load()
    metrics = kind.metrics(run.registry)
    plugins = {name: found.plugin for name, found in metrics.items()}
    started = datetime.now(UTC)
    folder = run.folder
    exclusions = _run_exclusions(run)
    scored = _write_tables(spark, run, spec, plugins, exclusions, on_progress)
    results, times = folder.staging / RESULTS, folder.staging / RUN_METRICS
    tally = take_tally(_light_rows(results))
    names = tuple(name for name in (*spec.assignors, OBSERVED) if tally.rows_of.get(name))
    table = ResultsTable(results, names)
    wanted = wanted_states(table, plugins, kind)
    details = _details(spark, run, spec, wanted, exclusions)
    machine = Machine(
        command=run.command,
        started=started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=scored.seconds,
        master=run.master,
        cores=parallelism_of(spark) or run.cores,
        java=_java_version(spark),
        spent=scored.spent,
        restored=scored.restored,
    )
    results_part = results_summary(
        run.competing, run.config, run.plan.sources, tally, table, metrics, wanted, details, kind
    )
    summary = {
        "format": FORMAT,
        "results": {**results_part, **evaluation(table, plugins, run.terms)},
        "run_metrics": run_summary(machine, tally, times, names),
    }
    folder.finish(summary, lambda path: write_report(summary, path))
    return summary


@attrs.frozen
class _Scored:
    """What scoring everything took; ``restored`` items were there before."""

    seconds: float
    spent: Spent
    restored: int


def _write_tables(
    spark: SparkSession,
    run: Run,
    spec: JobSpec,
    metrics: Mapping[str, MetricPlugin],
    exclusions: RunExclusions,
    on_progress: Callable[[Progress], None],
) -> _Scored:
    """Both tables, from what is on disk already and what is scored now."""
    columns = spec.kind.load().columns
    journal = open_journal(run.folder.journal, partial(terms_of_run, run), rows_schema(spec.metrics, columns))
    before, start = journal.seconds, monotonic()
    rows = states = items = 0
    spent = Spent()
    with (
        results_writer(run.folder.table(RESULTS), metrics, columns) as results,
        run_metrics_writer(run.folder.table(RUN_METRICS)) as times,
    ):
        for number, table in _all_waves(spark, run, spec, journal, exclusions, start):
            results.write(table)
            times.write(table)
            items += number
            rows += table.num_rows
            states += len(table.group_by(["item", "round"]).aggregate([]))
            spent += spent_on(table)
            on_progress(Progress(items, run.plan.items, rows, states, before + monotonic() - start))
    return _Scored(before + monotonic() - start, spent, journal.restored)


def _all_waves(
    spark: SparkSession, run: Run, spec: JobSpec, journal: Journal, exclusions: RunExclusions, start: float
) -> Iterator[tuple[int, pa.Table]]:
    """Number of items and kept rows of each wave, those on disk first; a wave comes when it is on disk."""
    before = journal.seconds
    for number, table in journal.tables():
        if table.num_rows:
            exclusions.see(table, pc.max(table["item"]).as_py() + 1)
        yield number, table
    families = {found.name: found.plugin for found in run.registry.families()}
    sizes = {name: size for name, family in families.items() if (size := family.size) is not None}
    tasks = partial(_tasks_at_a_time, spark, run.cores)
    for wave in waves(spark, run.plan, spec, tasks, exclusions, done=journal.done, sizes=sizes, wheels=run.wheels):
        kept = wave.rows
        if run.only_round is not None:
            kept = kept.filter(pc.equal(kept["round"], run.only_round))
        journal.append(wave.items, kept, before + monotonic() - start)
        yield wave.items, kept


def _run_exclusions(run: Run) -> RunExclusions:
    policy = run.config.effective().policy()
    isolated = [found.name for found in run.competing.assignors if policy.isolates(found.distribution, found.name)]
    return RunExclusions(run.plan.sources, isolated)


def _tasks_at_a_time(spark: SparkSession, known: int | None) -> int:
    return parallelism_of(spark) or known or UNKNOWN_PARALLELISM


def _light_rows(table: Path) -> Iterator[Mapping[str, Any]]:
    for part in parts_of(table):
        with pq.ParquetFile(part) as file:
            for batch in file.iter_batches(columns=list(LIGHT_COLUMNS), batch_size=4096):
                yield from batch.to_pylist()


def _details(
    spark: SparkSession, run: Run, spec: JobSpec, wanted: Wanted, exclusions: RunExclusions
) -> dict[tuple[int, int], dict[str, Any]]:
    """The full pictures of the wanted states: those few items are worked on once more."""
    if not wanted.states:
        return {}
    items = [exclusions.spared(item) for item in run.plan.work(frozenset(item for item, _ in wanted.states))]
    table = pictures_frame(items_frame(spark, [[item] for item in items]), spec, wanted.states, run.wheels).toArrow()
    return {
        (row["item"], row["round"]): json.loads(row["detail"])
        for row in table.select(["item", "round", "detail"]).to_pylist()
    }


def _java_version(spark: SparkSession) -> str | None:
    try:
        return str(spark.sparkContext._jvm.System.getProperty("java.version"))  # type: ignore[union-attr]
    except Exception:  # noqa: BLE001 - a Connect session has no Java of its own to ask
        return None
