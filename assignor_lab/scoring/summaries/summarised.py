"""The figures of a run: the second of its three steps."""

from __future__ import annotations

import pyarrow.parquet as pq

from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.run_summary import RunSummary
from assignor_lab.scoring.engine.engine import Engine, Pictures
from assignor_lab.scoring.engine.exclusion import LOSSY_COLUMNS, lossy
from assignor_lab.scoring.rows import ScoredRows
from assignor_lab.scoring.summaries.measured import RequestedFigures, measured
from assignor_lab.scoring.summaries.results import (
    RunEnvironment,
    Wanted,
    failed_names,
    ranked_names,
    results_of,
    run_metrics_of,
    wanted_states,
)
from assignor_lab.scoring.summaries.tally_table import tally_of
from assignor_lab.scoring.terms import ScoringRun

__all__ = ["summarise"]


def summarise(run: ScoringRun, scored: ScoredRows, engine: Engine) -> RunSummary:
    """The summary of a run.

    Raises:
        JobFailedError: if the engine aborted.
        OSError: if the tables cannot be read.
    """
    written = scored.written
    spec = written.spec
    kind = spec.kind.load()
    metrics = run.metrics
    tally = tally_of(scored.results)
    competing = (variant.name for variant in spec.assignors)
    names = tuple(name for name in (*competing, OBSERVED) if tally.rows_of.get(name))
    requested = RequestedFigures(
        results=scored.results,
        run_metrics=scored.run_metrics,
        assignors=names,
        ranked=ranked_names(names, tally),
        failed=failed_names(names, tally),
        metrics={name: found.plugin for name, found in metrics.items()},
        headline=kind.headline,
        terms=run.terms,
    )
    figures = measured(requested, engine, tally.rows, scored.folder)
    wanted = wanted_states(figures, kind)
    machine = RunEnvironment(
        command=run.command,
        started=written.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=written.seconds,
        master=run.master,
        cores=engine.cores,
        versions=engine.versions,
        spent=written.spent,
        restored=written.restored,
    )
    results = results_of(
        run.competing,
        run.config,
        run.plan.sources,
        tally,
        figures,
        metrics,
        wanted,
        _pictures(run, scored, engine, wanted),
        kind,
    )
    return RunSummary(results=results, run_metrics=run_metrics_of(machine, tally, figures))


def _pictures(run: ScoringRun, scored: ScoredRows, engine: Engine, wanted: Wanted) -> Pictures:
    if not wanted.states:
        return {}
    numbers = frozenset(item for item, _ in wanted.states)
    items = list(run.plan.work(numbers))
    rules = scored.written.rules
    if rules.names:
        # A plugin that lost an item would lose it again.
        table = pq.read_table(scored.results, columns=list(LOSSY_COLUMNS), filters=[("item", "in", numbers)])
        losses = lossy(table)
        items = [rules.spared(item, losses) for item in items]
    return engine.pictures(scored.written.spec, items, wanted.states)
