"""A whole run: verify (the sources), score (rows), summarise (figures), explain (moves), show (report).

``assignor score`` is a thin caller of this.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from assignor_lab.model.run_summary import RunSummary
from assignor_lab.report.html import write_report
from assignor_lab.runtime.isolation.folders import held_folder
from assignor_lab.scoring.engine.engine import Engine
from assignor_lab.scoring.output.folder import MANIFEST, REPORT, SUMMARY, OutputFolder
from assignor_lab.scoring.output.summary_file import summary_document
from assignor_lab.scoring.provenance.manifest import manifest_of
from assignor_lab.scoring.rows import Progress, ScoredRows, score_rows, write_rows, write_tables
from assignor_lab.scoring.sources.verification import verification_of
from assignor_lab.scoring.summaries.explanations import explanations_of
from assignor_lab.scoring.summaries.summarised import summarise
from assignor_lab.scoring.summaries.unranked import without_verdict
from assignor_lab.scoring.terms import ScoringRun
from assignor_lab.verification.verified import Verification
from assignor_lab.verification.words import verified_of

if TYPE_CHECKING:
    from assignor_lab.scoring.spark.path_output import PathOutput

__all__ = ["run_on_path", "run_scoring"]


def run_scoring(
    run: ScoringRun,
    engine: Engine,
    folder: OutputFolder,
    on_progress: Callable[[Progress], None] = lambda _progress: None,
) -> RunSummary:
    """Scores all states, explains the shown moves, and writes tables, summary and report.

    The output folder keeps its old content until everything is complete. Results of an interrupted run are used again.

    Args:
        engine: Runs the work, on Spark or in this process.
        folder: Output folder, entered.
        on_progress: Called every few seconds.

    Returns:
        The summary.

    Raises:
        ResumeError: if the interrupted run was another one.
        JobFailedError: if the engine failed.
        OSError: if the folder cannot be written.
    """
    verification = verification_of(run.plan, run.registry, run.config)
    scored = score_rows(run, engine, folder, on_progress)
    summary = _summary_of(run, scored, engine, verification)
    folder.finish(summary, lambda path: write_report(summary, path), manifest_of(run, engine, scored).document())
    return summary


def run_on_path(
    run: ScoringRun,
    engine: Engine,
    output: PathOutput,
    on_progress: Callable[[Progress], None] = lambda _progress: None,
) -> tuple[RunSummary, int]:
    """The same on any path that Spark can write; the rows stay there.

    Figures are computed here, from all rows of a run of up to 200,000 rows, and from every n-th item of a larger one.

    Returns:
        The summary, and n.

    Raises:
        ResumeError: if the stopped run was another one.
        PathError: if the path cannot be read or written, or holds a run that is not resumed.
        JobFailedError: if Spark failed.
    """
    verification = verification_of(run.plan, run.registry, run.config)
    written = write_rows(run, engine, output, on_progress)
    rows, every = output.sample(written.rows)
    with held_folder("assignor-figures-") as folder:
        scored = write_tables(run, written, folder, lambda name: folder / name, [rows])
        summary = _summary_of(run, scored, engine, verification)
        write_report(summary, folder / REPORT)
        output.publish(REPORT, (folder / REPORT).read_bytes())
        manifest = manifest_of(run, engine, scored).document()
    for name, document in ((MANIFEST, manifest), (SUMMARY, summary_document(summary))):
        text = json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1)
        output.publish(name, f"{text}\n".encode())
    return summary, every


def _summary_of(run: ScoringRun, scored: ScoredRows, engine: Engine, verification: Verification) -> RunSummary:
    """The figures of scored rows, with the verification and the explained moves; no verdict if it is refused."""
    found = summarise(run, scored, engine)
    results = without_verdict(found.results) if verification.refused else found.results
    return attrs.evolve(
        found, verified=verified_of(verification), results=results, explanations=explanations_of(run, results)
    )
