"""Whole runs on the session of the tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from assignment_api.plugins import discover
from assignment_api.plugins.selection import ConfigSources, config_sources
from assignor_lab.run import run_scoring
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.output.folder import RESULTS, RUN_METRICS, OutputFolder
from assignor_lab.scoring.output.summary_file import summary_document
from assignor_lab.scoring.rows import Progress
from assignor_lab.scoring.sources.parts import SourceInput
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.spark.engine import OnSpark
from assignor_lab.scoring.terms import ScoringRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMED = "tests.scoring.assignors:"


def run(
    spark: SparkSession,
    sources: Sequence[SourceInput],
    assignors: Sequence[str],
    out: Path,
    config: ConfigSources | None = None,
    *,
    resume: bool = False,
    on_progress: Callable[[Progress], None] = lambda _progress: None,
) -> dict[str, Any]:
    registry = discover()
    terms = config or config_sources(environ={}, start=out.parent)
    with plan_sources(sources, registry, terms.above) as plan, OutputFolder(out, resume=resume) as folder:
        competing = found_contenders(registry, assignors, may_run_code=True, kind=plan.kind)
        found = run_scoring(ScoringRun(registry, competing, plan, terms), OnSpark(spark), folder, on_progress)
        return summary_document(found)


def results_of(out: Path) -> pa.Table:
    return pq.read_table(out / RESULTS)


def run_metrics_of(out: Path) -> pa.Table:
    return pq.read_table(out / RUN_METRICS)


def results_bytes(out: Path) -> bytes:
    return (out / RESULTS).read_bytes()
