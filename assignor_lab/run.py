"""A whole run: verify (the sources), score (rows), summarise (figures), explain (moves), show (report).

``assignor score`` is a thin caller of this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assignor_lab.report.html import write_report
from assignor_lab.scoring.engine import Engine
from assignor_lab.scoring.manifest import manifest_of
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.scored import Progress, score_rows
from assignor_lab.scoring.summaries.explanations import explanations_of
from assignor_lab.scoring.summaries.summarised import summarise
from assignor_lab.scoring.summaries.unranked import without_verdict
from assignor_lab.scoring.terms import Run
from assignor_lab.scoring.verifying import verification_of
from assignor_lab.verification.words import document_of

__all__ = ["run_scoring"]


def run_scoring(
    run: Run,
    engine: Engine,
    folder: OutputFolder,
    on_progress: Callable[[Progress], None] = lambda _progress: None,
) -> dict[str, Any]:
    """Scores everything, explains the moves that are shown, and writes tables, summary and report.

    Until everything is complete, the output folder holds what was there before. What an earlier run wrote down before
    it stopped, is not scored again.

    Args:
        run: What is to be scored.
        engine: Who works through it: on Spark, or in this process.
        folder: Output folder, entered.
        on_progress: Called every few seconds.

    Returns:
        The summary.

    Raises:
        ResumeError: if what is to be gone on with is another run.
        JobFailedError: if the engine gave up.
        OSError: if the folder cannot be written.
    """
    verification = verification_of(run.plan, run.registry, run.config)
    scored = score_rows(run, engine, folder, on_progress)
    summary = {"verified": document_of(verification), **summarise(run, scored, engine)}
    if verification.refused:
        summary["results"] = without_verdict(summary["results"])
    summary["explanations"] = explanations_of(run, summary)
    folder.finish(summary, lambda path: write_report(summary, path), manifest_of(run, engine, scored).document())
    return summary
