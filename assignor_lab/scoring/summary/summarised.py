"""The figures of a run: the second of its three steps. The value that comes of it is the document ``summary.json``."""

from __future__ import annotations

from typing import Any

from assignor_lab.groups.work import OBSERVED
from assignor_lab.scoring.engine import Engine, Pictures
from assignor_lab.scoring.output.results_table import ResultsTable
from assignor_lab.scoring.scored import Scored
from assignor_lab.scoring.summary.document import FORMAT, Machine, Wanted, results_summary, run_summary, wanted_states
from assignor_lab.scoring.summary.evaluation import evaluation
from assignor_lab.scoring.summary.tally_table import tally_of
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
    tally = tally_of(scored.results)
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


def _pictures(run: Run, scored: Scored, engine: Engine, wanted: Wanted) -> Pictures:
    if not wanted.states:
        return {}
    items = run.plan.work(frozenset(item for item, _ in wanted.states))
    return engine.pictures(scored.spec, [scored.exclusions.spared(item) for item in items], wanted.states)
