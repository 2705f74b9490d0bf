"""Whole runs without Spark, for tests that do not depend on the engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.run import run_scoring
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine.in_process import InProcess
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.output.summary_file import summary_document
from assignor_lab.scoring.sources.parts import SourceInput
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.terms import ScoringRun


def scored(
    sources: Sequence[SourceInput],
    assignors: Sequence[str],
    out: Path,
    overrides: Sequence[str] = (),
    *,
    raw: bool = False,
    config: Path | None = None,
    past: PastTerms | None = None,
) -> dict[str, Any]:
    """Scores into ``out`` and returns the summary."""
    registry, given = discover(), config_sources(config, overrides, environ={}, start=out.parent)
    with (
        plan_sources(sources, registry, given.above, past=past or PastTerms()) as plan,
        OutputFolder(out) as folder,
    ):
        competing = found_contenders(registry, assignors, may_run_code=True, kind=plan.kind)
        run = ScoringRun(registry, competing, plan, given, raw=raw)
        return summary_document(run_scoring(run, InProcess(), folder))
