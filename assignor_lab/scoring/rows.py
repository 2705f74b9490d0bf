"""The rows of a run, block by block, and the tables of them: the first of its three steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Protocol

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.runtime.assignor_calls import runs_apart
from assignor_lab.runtime.discovery.entries import is_apart
from assignor_lab.scoring.engine.blocks import RunPart, parts_of
from assignor_lab.scoring.engine.costs import SizeOf, Spent, units_of
from assignor_lab.scoring.engine.engine import BlockWork, Engine, JobFailedError, RowsTarget
from assignor_lab.scoring.engine.exclusion import PenaltyRules, RunExclusions
from assignor_lab.scoring.engine.rows_folder import PartRows, RowsFolder, Terms
from assignor_lab.scoring.output.folder import ANSWERS, RESULTS, RUN_METRICS, OutputFolder
from assignor_lab.scoring.output.tables import TableWriter, answers_file, results_file, rows_schema, run_metrics_file
from assignor_lab.scoring.terms import ScoringRun, job_spec, terms_of_run

__all__ = ["Progress", "RowsPlace", "ScoredRows", "WrittenRows", "score_rows", "write_rows", "write_tables"]

#: Above so many items of a part their sizes are not estimated.
MOST_ESTIMATED = 16_384


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


class RowsPlace(Protocol):
    """The place of a run's rows: a folder of this machine, or any path that Spark can write."""

    @property
    def seconds(self) -> float:
        """Time of the stopped run that is resumed."""

    def open(self, terms: Terms) -> None:
        """Reads the progress of a stopped run, or begins a new one."""

    def target(self, part: RunPart) -> RowsTarget:
        """The place of a part's rows."""

    def missing(self, part: RunPart) -> tuple[int, ...]:
        """Numbers of the blocks that are not written."""

    def written(self, part: RunPart) -> tuple[int, int]:
        """Number of complete blocks and of their rows, as far as known during the work."""

    def note(self, part: RunPart, seconds: float) -> None:
        """Notes a complete part."""

    def seen(self, part: RunPart, *, losses: bool) -> PartRows:
        """The rows of a complete part, as far as the run needs them; without losses if they do not matter."""


@attrs.frozen
class WrittenRows:
    """The rows of a run at their place.

    Args:
        restored: Items that an earlier, interrupted run had scored.
    """

    spec: JobSpec
    rows: int
    rules: PenaltyRules
    started: datetime
    seconds: float
    spent: Spent
    restored: int


@attrs.frozen(eq=False)
class ScoredRows:
    """The result of scoring: the tables, and their costs."""

    written: WrittenRows
    folder: Path
    results: Path
    run_metrics: Path
    answers: Path | None

    @property
    def repeatable(self) -> tuple[Path, ...]:
        """The tables that are equal to the byte for equal input, seeds and code."""
        return (self.results,) if self.answers is None else (self.results, self.answers)


def write_rows(
    run: ScoringRun, engine: Engine, place: RowsPlace, on_progress: Callable[[Progress], None]
) -> WrittenRows:
    """Writes the blocks that are missing at the place, part by part.

    Raises:
        ResumeError: if the run to resume is another one.
        JobFailedError: if the engine aborted.
        OSError: if the place cannot be written.
    """
    spec = job_spec(run.registry, run.competing, run.plan, run.config, run.described, raw=run.raw, columns=run.columns)
    started, start = datetime.now(UTC), monotonic()
    place.open(lambda salt: terms_of_run(run, engine.terms, salt))
    before = place.seconds
    exclusions = RunExclusions(_penalty_rules(run))
    families = {found.name: found.plugin for found in run.registry.families()}
    sizes = {name: size for name, family in families.items() if (size := family.size) is not None}
    done = _Done()

    def report(now: _Done) -> None:
        seconds = before + monotonic() - start
        on_progress(Progress(now.items, run.plan.items, now.rows, now.states, seconds, run.plan.noun))

    for part in parts_of(run.plan, can_exclude=exclusions.can_exclude):
        missing = place.missing(part)
        if missing:
            work = BlockWork(
                part=part,
                blocks=missing,
                spec=spec,
                rules=exclusions.rules,
                points=exclusions.points,
                target=place.target(part),
                costs=_costs(part, missing, sizes),
                seconds=done.expected(part.items * len(missing) / part.blocks),
                is_new=len(missing) == part.blocks,
            )
            engine.write(work, partial(_tick, place, part, len(spec.assignors), done, report))
            if work.target.folder is not None and (absent := place.missing(part)):
                raise JobFailedError(
                    f"{len(absent)} blocks of rows are not in {work.target.url} after the work: do all executors see "
                    "this folder? Otherwise give --out a URL that they and this machine reach"
                )
        place.note(part, before + monotonic() - start)
        found = place.seen(part, losses=exclusions.can_exclude)
        exclusions.see(found.losses)
        left = part.items if len(missing) == part.blocks else sum(len(part.block(block)) for block in missing)
        done = done.with_part(part, found, part.items - left)
        report(done)
    seconds = before + monotonic() - start
    return WrittenRows(spec, done.rows, exclusions.rules, started, seconds, done.spent, done.restored)


@attrs.frozen
class _Done:
    """The complete part of a run."""

    items: int = 0
    rows: int = 0
    states: int = 0
    restored: int = 0
    spent: Spent = attrs.field(factory=Spent)

    def expected(self, items: float) -> float | None:
        """Time of so many items on one core, in seconds; ``None`` if there is none yet."""
        return self.spent.total / 1000 / self.items * items if self.items else None

    def with_part(self, part: RunPart, found: PartRows, restored: int) -> _Done:
        return _Done(
            self.items + part.items,
            self.rows + found.rows,
            self.states + found.states,
            self.restored + restored,
            self.spent + found.spent,
        )


def _tick(place: RowsPlace, part: RunPart, assignors: int, done: _Done, report: Callable[[_Done], None]) -> None:
    """Reports the blocks of a part that are complete so far; their states are estimated."""
    blocks, rows = place.written(part)
    if 0 < blocks < part.blocks:
        items = done.items + part.items * blocks // part.blocks
        report(attrs.evolve(done, items=items, rows=done.rows + rows, states=done.states + rows // max(assignors, 1)))


def score_rows(
    run: ScoringRun, engine: Engine, folder: OutputFolder, on_progress: Callable[[Progress], None]
) -> ScoredRows:
    """The tables in the folder, from blocks that are on disk and from new ones; errors as of :func:`write_rows`."""
    kind = run.plan.kind.load()
    place = RowsFolder(folder.rows, rows_schema(tuple(run.metrics), kind.columns, raw=run.raw))
    written = write_rows(run, engine, place, on_progress)
    parts = parts_of(run.plan, can_exclude=bool(written.rules.names))
    tables = (table for part in parts for table in place.tables(part))
    return write_tables(run, written, folder.staging, folder.table, tables)


def write_tables(
    run: ScoringRun, written: WrittenRows, folder: Path, table: Callable[[str], Path], rows: Iterable[pa.Table]
) -> ScoredRows:
    """The tables of a run in a folder of this machine.

    Args:
        table: From the name of a table to its path.
        rows: All rows in their final order.

    Raises:
        OSError: if a table cannot be written.
    """
    metrics = {name: found.plugin for name, found in run.metrics.items()}
    schemas = {RESULTS: results_file(metrics, run.plan.kind.load().columns), RUN_METRICS: run_metrics_file()}
    if run.raw:
        schemas[ANSWERS] = answers_file()
    paths = {name: table(name) for name in schemas}
    with ExitStack() as stack:
        writers = [stack.enter_context(TableWriter(paths[name], schema)) for name, schema in schemas.items()]
        for some in rows:
            kept = some if run.only_round is None else some.filter(pc.equal(some["round"], run.only_round))
            for writer in writers:
                writer.write(kept)
    return ScoredRows(written, folder, paths[RESULTS], paths[RUN_METRICS], paths.get(ANSWERS))


def _costs(part: RunPart, blocks: tuple[int, ...], sizes: Mapping[str, SizeOf]) -> dict[int, float]:
    if part.items > MOST_ESTIMATED:
        return {}
    return {block: units_of(part.block(block), sizes) for block in blocks}


def _penalty_rules(run: ScoringRun) -> PenaltyRules:
    policy = run.config.effective().policy()
    isolated = [contender.name for contender in run.competing.assignors if runs_apart(contender.found, policy)]
    metrics = [column for column, metric in run.metrics.items() if is_apart(metric.plugin)]
    made = {source.generated.family for source in run.plan.sources if source.generated is not None}
    families = {
        name: f"scenario family {family.plugin.name} of {family.distribution}"
        for name, family in ((name, run.registry.family(name)) for name in sorted(made))
        if is_apart(family.plugin)
    }
    return PenaltyRules(tuple(isolated), tuple(metrics), families)
