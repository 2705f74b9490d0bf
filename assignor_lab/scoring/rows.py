"""The rows of a run on disk: the first of its three steps. The value in between is :class:`ScoredRows`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.runtime.assignor_calls import runs_apart
from assignor_lab.runtime.discovery.entries import is_apart
from assignor_lab.scoring.engine.costs import Spent, spent_on
from assignor_lab.scoring.engine.engine import Engine, RunWork
from assignor_lab.scoring.engine.exclusion import RunExclusions
from assignor_lab.scoring.engine.table_parts import write_tables
from assignor_lab.scoring.output.folder import ANSWERS, RESULTS, RUN_METRICS, OutputFolder
from assignor_lab.scoring.output.journal import Journal, WaveFiles, open_journal
from assignor_lab.scoring.output.pieces import NOTED
from assignor_lab.scoring.output.tables import answers_file, results_file, rows_schema, run_metrics_file
from assignor_lab.scoring.terms import ScoringRun, job_spec, terms_of_run

__all__ = ["Progress", "ScoredRows", "exclusions_of", "score_rows"]


@attrs.frozen
class Progress:
    """Progress of a run.

    Args:
        noun: Name of a work item: a history has several states.
    """

    items: int
    total: int
    rows: int
    states: int
    seconds: float
    noun: str = "item"


@attrs.frozen(eq=False)
class ScoredRows:
    """The result of scoring: the tables, and their costs.

    Args:
        restored: Items that an earlier, interrupted run had scored.
    """

    spec: JobSpec
    folder: Path
    results: Path
    run_metrics: Path
    answers: Path | None
    exclusions: RunExclusions
    started: datetime
    seconds: float
    spent: Spent
    restored: int

    @property
    def repeatable(self) -> tuple[Path, ...]:
        """The tables that are equal to the byte for equal input, seeds and code."""
        return (self.results,) if self.answers is None else (self.results, self.answers)


def score_rows(
    run: ScoringRun, engine: Engine, folder: OutputFolder, on_progress: Callable[[Progress], None]
) -> ScoredRows:
    """Both tables, from rows that are on disk and from new ones.

    Raises:
        ResumeError: if the run to resume is another one.
        JobFailedError: if the engine aborted.
        OSError: if the folder cannot be written.
    """
    spec = job_spec(run.registry, run.competing, run.plan, run.config, run.described, raw=run.raw, columns=run.columns)
    kind = spec.kind.load()
    metrics = {name: found.plugin for name, found in run.metrics.items()}
    exclusions = exclusions_of(run)
    started = datetime.now(UTC)
    schema = rows_schema(spec.metrics, kind.columns, raw=spec.raw)
    journal = open_journal(folder.journal, lambda salt: terms_of_run(run, engine.terms, salt), schema)
    before, start = journal.seconds, monotonic()
    rows = states = items = 0
    spent = Spent()
    kept: list[tuple[WaveFiles, int]] = []
    for wave, table in _all_waves(run, engine, spec, journal, exclusions, start):
        kept.append((wave, table.num_rows))
        items += wave.items
        rows += table.num_rows
        states += len(table.group_by(["item", "round"]).aggregate([]))
        spent += spent_on(table)
        on_progress(Progress(items, run.plan.items, rows, states, before + monotonic() - start, run.plan.noun))
    results, times = folder.table(RESULTS), folder.table(RUN_METRICS)
    answers = folder.table(ANSWERS) if spec.raw else None
    schemas = {results: results_file(metrics, kind.columns), times: run_metrics_file()}
    if answers is not None:
        schemas[answers] = answers_file()
    write_tables(engine, kept, schemas, folder.staging, run.only_round)
    return ScoredRows(
        spec=spec,
        folder=folder.staging,
        results=results,
        run_metrics=times,
        answers=answers,
        exclusions=exclusions,
        started=started,
        seconds=before + monotonic() - start,
        spent=spent,
        restored=journal.restored,
    )


def exclusions_of(run: ScoringRun) -> RunExclusions:
    """The exclusions of a run, before its first item."""
    policy = run.config.effective().policy()
    isolated = [contender.name for contender in run.competing.assignors if runs_apart(contender.found, policy)]
    found = run.metrics
    metrics = [column for column, metric in found.items() if is_apart(metric.plugin)]
    made = {source.generated.family for source in run.plan.sources if source.generated is not None}
    families = {
        name: f"scenario family {family.plugin.name} of {family.distribution}"
        for name, family in ((name, run.registry.family(name)) for name in sorted(made))
        if is_apart(family.plugin)
    }
    return RunExclusions(run.plan.sources, isolated, metrics, families)


def _all_waves(
    run: ScoringRun, engine: Engine, spec: JobSpec, journal: Journal, exclusions: RunExclusions, start: float
) -> Iterator[tuple[WaveFiles, pa.Table]]:
    """Each wave with its noted columns, those on disk first; a wave is yielded once it is on disk."""
    before = journal.seconds
    for found in journal.waves():
        table = found.table(NOTED)
        if table.num_rows:
            exclusions.see(table, pc.max(table["item"]).as_py() + 1)
        yield found, _kept(run, table)
    families = {found.name: found.plugin for found in run.registry.families()}
    sizes = {name: size for name, family in families.items() if (size := family.size) is not None}
    work = RunWork(run.plan, spec, exclusions, journal.done, sizes, journal.pieces)
    for wave in engine.waves(work):
        seconds = before + monotonic() - start
        if wave.pieces:
            noted = journal.note(wave.items, wave.pieces, seconds)
        else:
            noted = journal.append(wave.items, wave.rows, seconds)
        yield noted, _kept(run, wave.rows)


def _kept(run: ScoringRun, rows: pa.Table) -> pa.Table:
    return rows if run.only_round is None else rows.filter(pc.equal(rows["round"], run.only_round))
