"""Seven misbehaving plugins, beside three good ones, in whole runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from assignment_api.plugins.selection import ConfigSources, config_sources
from assignor_lab.scoring import Generated
from assignor_lab.scoring.output.summary_file import read_summary
from tests.scoring.runs import NAMED, results_of, run, run_metrics_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.long]

GOOD = ("high_availability", "sticky", f"{NAMED}Greedy")
BAD = {
    "SleepsForEver": ("DeadlineExceededError", "did not answer within 1 s"),
    "EatsMemory": ("MemoryLimitError", "needed more than 192 MiB"),
    "KillsItsProcess": ("ProcessDiedError", "with exit code 3"),
    "ReadsNull": ("ProcessDiedError", "was ended by SIGSEGV"),
    "Mutates": ("InputMutatedError", "changed its input"),
    "Garbage": ("InvalidAnswerError", "item 4 of tuple"),
    "PrintsGigabyte": ("OutputLimitError", "printed more than 1,024 KiB"),
}
SOURCES = (Generated("streams_4x40", 2, 3),)
LIMITS = ["assignor.plugins.call.timeout.ms=1000", "assignor.plugins.memory.mb=192"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("isolated")


@pytest.fixture(scope="module")
def beside(spark: SparkSession, folder: Path) -> pa.Table:
    names = [f"{NAMED}{name}" for name in BAD]
    run(spark, SOURCES, (*names[:4], *GOOD, *names[4:]), folder / "beside", _terms(folder))
    return results_of(folder / "beside")


def _terms(folder: Path, *overrides: str) -> ConfigSources:
    return config_sources(None, [*LIMITS, *overrides], environ={}, start=folder)


def _rows(table: pa.Table, *assignors: str) -> pa.Table:
    return table.filter(pc.is_in(table["assignor"], pa.array(assignors)))


def test_the_rows_of_the_good_ones_are_those_of_a_run_without_the_bad_ones(
    spark: SparkSession, beside: pa.Table, folder: Path
) -> None:
    run(spark, SOURCES, GOOD, folder / "alone", _terms(folder))
    alone = results_of(folder / "alone")
    assert alone.num_rows == 2 * 8 * len(GOOD)
    assert alone["error_type"].null_count == alone.num_rows
    assert _rows(beside, *GOOD).equals(alone)


@pytest.mark.parametrize("name", BAD)
def test_every_row_of_a_bad_one_says_what_it_did(beside: pa.Table, name: str) -> None:
    error_type, said = BAD[name]
    rows = _rows(beside, f"{NAMED}{name}").to_pylist()
    assert len(rows) == 2 * 8
    first = [row for row in rows if row["round"] == 0]
    assert [row["error_type"] for row in first] == [error_type] * 2
    assert all(said in row["error_message"] and name in row["error_message"] for row in first)
    assert {row["error_type"] for row in rows} <= {error_type, "ExcludedError"}


def test_where_an_assignor_runs_shows_in_no_row(spark: SparkSession, folder: Path) -> None:
    names = (*GOOD, f"{NAMED}Raises", f"{NAMED}Half", f"{NAMED}Leaves")
    for isolate in ("all", "none"):
        run(spark, SOURCES, names, folder / isolate, _terms(folder, f"assignor.plugins.isolate={isolate}"))
    assert results_of(folder / "all").equals(results_of(folder / "none"))


def test_what_was_found_on_asking_again_is_among_the_run_metrics(beside: pa.Table, folder: Path) -> None:
    rows = [row for row in run_metrics_of(folder / "beside").to_pylist() if row["pure"] is not None]
    assert {(row["item"], row["round"]) for row in rows} == {(0, 0)}
    found = {row["assignor"]: row for row in rows}
    assert set(GOOD) <= set(found) <= {*GOOD, f"{NAMED}Garbage", f"{NAMED}Mutates"}
    for name in GOOD[:2]:
        assert [found[name][key] for key in ("deterministic", "same_hash_seed", "pure")] == [True] * 3
        assert 1_000 < found[name]["peak_memory_bytes"] < 10_000_000
    summary = read_summary(folder / "beside" / "summary.json")
    assert {
        probe.assignor: (probe.n, probe.pure) for probe in summary.run_metrics.probes if probe.assignor in GOOD
    } == (dict.fromkeys(GOOD, (1, 1)))
