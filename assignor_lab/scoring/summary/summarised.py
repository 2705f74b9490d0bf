"""The figures of a run: the second of its three steps. The value that comes of it is the document ``summary.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from assignor_lab.groups.work import OBSERVED
from assignor_lab.scoring.engine import Engine, Pictures
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.output.tables import parts_of
from assignor_lab.scoring.scored import Scored
from assignor_lab.scoring.summary.document import FORMAT, Machine, Wanted, results_summary, run_summary, wanted_states
from assignor_lab.scoring.summary.evaluation import evaluation
from assignor_lab.scoring.summary.tally import LIGHT_COLUMNS, take_tally
from assignor_lab.scoring.terms import Run

__all__ = ["summarise"]


def summarise(run: Run, scored: Scored, engine: Engine) -> dict[str, Any]:
    """The summary of a run.

    Args:
        run: What was scored.
        scored: Its rows.
        engine: Who works on a few of the states once more, for their pictures.

    Raises:
        JobFailedError: if the engine gave up.
        OSError: if the tables cannot be read.
    """
    spec = scored.spec
    kind = spec.kind.load()
    metrics = kind.metrics(run.registry)
    plugins = {name: found.plugin for name, found in metrics.items()}
    tally = take_tally(_light_rows(scored.results))
    names = tuple(name for name in (*spec.assignors, OBSERVED) if tally.rows_of.get(name))
    table = ResultsTable(scored.results, names)
    wanted = wanted_states(table, plugins, kind)
    machine = Machine(
        command=run.command,
        started=scored.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=scored.seconds,
        master=run.master,
        cores=engine.cores,
        versions=engine.versions,
        spent=scored.spent,
        restored=scored.restored,
    )
    results = results_summary(
        run.competing,
        run.config,
        run.plan.sources,
        tally,
        table,
        metrics,
        wanted,
        _pictures(run, scored, engine, wanted),
        kind,
        run.terms.baseline,
    )
    return {
        "format": FORMAT,
        "results": {**results, **evaluation(table, plugins, run.terms)},
        "run_metrics": run_summary(machine, tally, scored.run_metrics, names),
    }


def _light_rows(table: Path) -> Iterator[Mapping[str, Any]]:
    for part in parts_of(table):
        with pq.ParquetFile(part) as file:
            for batch in file.iter_batches(columns=list(LIGHT_COLUMNS), batch_size=4096):
                yield from batch.to_pylist()


def _pictures(run: Run, scored: Scored, engine: Engine, wanted: Wanted) -> Pictures:
    if not wanted.states:
        return {}
    items = run.plan.work(frozenset(item for item, _ in wanted.states))
    return engine.pictures(scored.spec, [scored.exclusions.spared(item) for item in items], wanted.states)
