"""A whole run: verify (the sources), score (rows), summarise (figures), explain (moves), show (report).

``assignor score`` is a thin caller of this.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from assignor_lab.model.run_summary import RunSummary
from assignor_lab.report.html import write_report
from assignor_lab.scoring.engine.engine import Engine
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.provenance.manifest import manifest_of
from assignor_lab.scoring.rows import Progress, ScoredRows, score_rows
from assignor_lab.scoring.sources.verification import verification_of
from assignor_lab.scoring.summaries.explanations import explanations_of
from assignor_lab.scoring.summaries.summarised import summarise
from assignor_lab.scoring.summaries.unranked import without_verdict
from assignor_lab.scoring.terms import ScoringRun
from assignor_lab.verification.verified import Verification
from assignor_lab.verification.words import verified_of

__all__ = ["run_scoring", "summary_of"]


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
    summary = summary_of(run, scored, engine, verification)
    folder.finish(summary, lambda path: write_report(summary, path), manifest_of(run, engine, scored).document())
    return summary


def summary_of(run: ScoringRun, scored: ScoredRows, engine: Engine, verification: Verification) -> RunSummary:
    """The figures of scored rows, with the verification and the explained moves; no verdict if it is refused."""
    found = summarise(run, scored, engine)
    results = without_verdict(found.results) if verification.refused else found.results
    return attrs.evolve(
        found, verified=verified_of(verification), results=results, explanations=explanations_of(run, results)
    )
