"""A run that stops early loses no written work: it ends with the same bytes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assignment_api.plugins.selection import config_sources
from assignor_lab.scoring import Generated
from assignor_lab.scoring.engine import blocks
from assignor_lab.scoring.engine.rows_folder import ResumeError
from assignor_lab.scoring.rows import Progress
from tests.scoring.commands import command
from tests.scoring.runs import results_bytes, run, run_metrics_of
from tests.scoring.test_score_command import FAMILY, PAIR, environment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.long]

HISTORIES = (Generated("streams_4x40", 9, 3),)
NAMES = ("high_availability", "sticky")


class Stopped(Exception):  # noqa: N818 - no error of the code under test
    """The end of a run in these tests."""


def stopping(after: int) -> Callable[[Progress], None]:
    """Ends a run when so many items are done."""

    def stop(progress: Progress) -> None:
        if progress.items >= after:
            raise Stopped

    return stop


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two blocks of one item each in a part."""
    monkeypatch.setattr(blocks, "BLOCK_ITEMS", 1)
    monkeypatch.setattr(blocks, "PART_BLOCKS", 2)
    monkeypatch.setattr(blocks, "MOST_PARTS", 5)


@pytest.mark.usefixtures("small_parts")
def test_a_run_that_stopped_goes_on_and_ends_with_the_same_bytes(spark: SparkSession, tmp_path: Path) -> None:
    config = config_sources(
        overrides=["assignor.sticky.password=hunter2", "num.standby.replicas=1"], environ={}, start=tmp_path
    )
    run(spark, HISTORIES, NAMES, tmp_path / "whole", config)
    out = tmp_path / "out"
    with pytest.raises(Stopped):
        run(spark, HISTORIES, NAMES, out, config, on_progress=stopping(2))
    assert [path.suffix for path in out.iterdir()] == [".tmp"]
    kept = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert b"hunter2" not in kept

    for other in (
        dict.fromkeys(["config"], config_sources(overrides=["num.standby.replicas=0"], environ={}, start=tmp_path)),
        {"sources": (Generated("streams_4x40", 9, 4),)},
        {"assignors": ("sticky",)},
    ):
        terms = {"sources": HISTORIES, "assignors": NAMES, "config": config, **other}
        with pytest.raises(ResumeError, match="another one"):
            run(spark, out=out, resume=True, **terms)  # type: ignore[arg-type]

    scored: list[Progress] = []
    with pytest.raises(Stopped):
        run(spark, HISTORIES, NAMES, out, config, resume=True, on_progress=stopping(5))
    summary = run(spark, HISTORIES, NAMES, out, config, resume=True, on_progress=scored.append)
    assert results_bytes(out) == results_bytes(tmp_path / "whole")
    assert run_metrics_of(out).num_rows == 9 * 8 * 2
    assert sorted(path.name for path in out.iterdir()) == [
        "manifest.json",
        "report.html",
        "results.parquet",
        "run_metrics.parquet",
        "summary.json",
    ]
    whole = json.loads((tmp_path / "whole" / "summary.json").read_text(encoding="utf-8"))
    assert summary["results"] == whole["results"]
    assert 5 <= summary["run_metrics"]["restored_items"] < 9
    assert scored[-1].items == 9


#: Runs the command line, and kills its own process once some blocks of its only part are on the disk.
KILLED_AFTER_A_BLOCK = """
import os, signal, sys
from assignor_lab.cli.main import main
from assignor_lab.scoring.engine.rows_folder import RowsFolder
written = RowsFolder.written
def kill(*terms):
    found = written(*terms)
    if found[0] > 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
RowsFolder.written = kill
main(sys.argv[1:])
"""


def test_a_driver_that_is_killed_loses_nothing_that_was_written(spark: SparkSession, tmp_path: Path) -> None:
    words = [*PAIR, *FAMILY, "--count", "128"]
    command_line = ["score", *words, "--master", "local[2]", "--out", str(tmp_path / "out")]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_AFTER_A_BLOCK, *command_line],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=300,
    )
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "out" / "summary.json").exists()

    done = command(tmp_path, *words, "--resume", spark=spark)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert 0 < summary["run_metrics"]["restored_items"] < 128
    run(spark, [Generated("streams_4x40", 128, 11)], NAMES, tmp_path / "whole")
    assert results_bytes(tmp_path / "out") == results_bytes(tmp_path / "whole")
