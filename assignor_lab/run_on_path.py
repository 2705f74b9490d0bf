"""A whole run whose rows Spark writes on any path: score, summarise, explain, show.

The rows stay on the path. Figures are computed here, from all rows of a run of up to 200,000 rows, and from every n-th
item of a larger one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from assignor_lab.model.run_summary import RunSummary
from assignor_lab.report.html import write_report
from assignor_lab.run import summary_of
from assignor_lab.runtime.isolation.folders import held_folder
from assignor_lab.scoring.engine.blocks import parts_of
from assignor_lab.scoring.engine.costs import Spent
from assignor_lab.scoring.output.folder import MANIFEST, REPORT, RESULTS, RUN_METRICS, SUMMARY
from assignor_lab.scoring.output.summary_file import summary_document
from assignor_lab.scoring.output.tables import TableWriter, results_file, run_metrics_file
from assignor_lab.scoring.provenance.manifest import manifest_of
from assignor_lab.scoring.rows import Progress, ScoredRows, exclusions_of
from assignor_lab.scoring.sources.verification import verification_of
from assignor_lab.scoring.spark.engine import OnSpark
from assignor_lab.scoring.spark.path_output import PathOutput
from assignor_lab.scoring.terms import ScoringRun, job_spec, terms_of_run

__all__ = ["run_on_path"]


def run_on_path(
    run: ScoringRun,
    engine: OnSpark,
    output: PathOutput,
    on_progress: Callable[[Progress], None] = lambda _progress: None,
    *,
    resume: bool = False,
) -> tuple[RunSummary, int]:
    """Scores all states, and writes rows, summary, manifest and report below the path.

    Args:
        resume: Continue a stopped run of the same terms.

    Returns:
        The summary, and n: its figures are of every n-th item.

    Raises:
        ResumeError: if the stopped run was another one.
        PathError: if the path cannot be read or written, or holds a run that is not resumed.
        JobFailedError: if Spark failed.
    """
    spec = job_spec(run.registry, run.competing, run.plan, run.config, run.described, raw=run.raw, columns=run.columns)
    started = datetime.now(UTC)
    output.open(lambda salt: terms_of_run(run, engine.terms, salt), resume=resume)
    exclusions = exclusions_of(run)
    verification = verification_of(run.plan, run.registry, run.config)
    rows = items = 0
    seconds, spent = 0.0, Spent()
    for part in output.write(parts_of(run.plan), spec, exclusions.rules):
        rows, items, seconds, spent = rows + part.rows, items + part.items, part.seconds, spent + part.spent
        states = rows // max(len(spec.assignors), 1)
        on_progress(Progress(items, run.plan.items, rows, states, seconds, run.plan.noun))
    table, every = output.sample(rows)
    with held_folder("assignor-figures-") as folder:
        scored = ScoredRows(
            spec=spec,
            folder=folder,
            results=folder / RESULTS,
            run_metrics=folder / RUN_METRICS,
            answers=None,
            exclusions=exclusions,
            started=started,
            seconds=seconds,
            spent=spent,
            restored=0,
        )
        _write_tables(run, scored, table)
        summary = summary_of(run, scored, engine, verification)
        write_report(summary, folder / REPORT)
        output.publish(REPORT, (folder / REPORT).read_bytes())
        for name, document in (
            (MANIFEST, manifest_of(run, engine, scored).document()),
            (SUMMARY, summary_document(summary)),
        ):
            text = json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1)
            output.publish(name, f"{text}\n".encode())
    return summary, every


def _write_tables(run: ScoringRun, scored: ScoredRows, table: pa.Table) -> None:
    metrics = {name: found.plugin for name, found in run.metrics.items()}
    schemas: dict[Path, pa.Schema] = {
        scored.results: results_file(metrics, scored.spec.kind.load().columns),
        scored.run_metrics: run_metrics_file(),
    }
    for path, schema in schemas.items():
        with TableWriter(path, schema) as writer:
            writer.write(pa.table([table[field.name].cast(field.type) for field in schema], schema=schema))
