"""Everything but the engine itself works without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.run import run_scoring
from assignor_lab.scoring import Generated
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine.engine import Engine
from assignor_lab.scoring.engine.in_process import InProcess
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.spark.engine import OnSpark
from assignor_lab.scoring.terms import ScoringRun
from tests.scoring.runs import results_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORIES = {
    "scale_out": ("sticky", "high_availability"),
    "connect_rolling_restart": ("connect_eager", "connect_incremental"),
}

WITHOUT_SPARK = """
import sys
from pathlib import Path

sys.modules["pyspark"] = None  # an import of it fails

from assignment_api.plugins import config_sources, discover
from assignor_lab.run import run_scoring
from assignor_lab.scoring import Generated
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine.in_process import InProcess
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.terms import ScoringRun

registry, config = discover(), config_sources(environ={})
with plan_sources([Generated(sys.argv[1], 2)], registry) as plan, OutputFolder(Path(sys.argv[2])) as folder:
    competing = found_contenders(registry, sys.argv[3:], kind=plan.kind)
    summary = run_scoring(ScoringRun(registry, competing, plan, config), InProcess(), folder)
assert summary.results.rows > 0
assert "pyspark" not in summary.run_metrics.versions
"""


@pytest.mark.slow
@pytest.mark.parametrize("family", HISTORIES)
def test_rows_figures_and_report_need_no_spark(family: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_SPARK, family, str(tmp_path / "out"), *HISTORIES[family]]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert family in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "summary.json").is_file()


def scored(engine: Engine, family: str, out: Path) -> bytes:
    registry, config = discover(), config_sources(environ={}, start=out.parent)
    with plan_sources([Generated(family, 3)], registry) as plan, OutputFolder(out) as folder:
        competing = found_contenders(registry, HISTORIES[family], kind=plan.kind)
        run_scoring(ScoringRun(registry, competing, plan, config), engine, folder)
    return results_bytes(out)


@pytest.mark.parametrize("family", HISTORIES)
def test_the_engine_shows_in_no_byte_of_the_results(spark: SparkSession, family: str, tmp_path: Path) -> None:
    assert scored(InProcess(), family, tmp_path / "here") == scored(OnSpark(spark), family, tmp_path / "there")
