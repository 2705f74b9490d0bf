"""The exclusion of assignors follows from the items alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring import Generated
from assignor_lab.scoring.engine.exclusion import BLOCKS, RunExclusions
from assignor_lab.scoring.engine.speculation import MAX_POINTS
from assignor_lab.scoring.sources.plan import ScoringSource
from assignor_lab.scoring.spark import waves
from tests.scoring.runs import NAMED, results_of, run

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

SOURCES = (ScoringSource("a", "family", 0, 1_000), ScoringSource("b", "family", 1_000, 500))


def rows(losses: dict[int, str], items: range) -> pa.Table:
    """A row for each of ``items``, with a loss of ``bad`` in some."""
    schema = pa.schema({"item": pa.int64(), "assignor": pa.string(), "error_type": pa.string()})
    return pa.Table.from_pylist(
        [{"item": item, "assignor": "bad", "error_type": losses.get(item)} for item in items], schema=schema
    )


def first_benched(losses: dict[int, str], cut: list[int]) -> int | None:
    """Number of the first item without ``bad``, if the run is cut into waves at ``cut``."""
    exclusions = RunExclusions(SOURCES, ["bad", "good"])
    found = None
    for start, end in zip([0, *cut], [*cut, 1_500], strict=True):
        for number in range(start, end):
            if not exclusions.may_take(number):
                raise AssertionError("the cut is wider than the rule allows")
            item = exclusions.marked(WorkItem(number, 0))
            assert item.excluded in ((), ("bad",))
            found = number if item.excluded and found is None else found
        exclusions.see(rows(losses, range(start, end)), end)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        (dict.fromkeys(range(1_500), "DeadlineExceededError"), 16),
        (dict.fromkeys(range(400, 1_500), "MemoryLimitError"), 768),
        (dict.fromkeys(range(1_500), "ProcessDiedError"), 128),
        (dict.fromkeys(range(0, 1_500, 100), "DeadlineExceededError"), 1_000),
        (dict.fromkeys(range(0, 1_500, 300), "DeadlineExceededError"), None),
        (dict.fromkeys(range(1_500), "InvalidAnswerError"), None),
        ({}, None),
    ],
)
def test_how_the_run_is_cut_does_not_matter(losses: dict[int, str], expected: int | None) -> None:
    chance = random.Random(7)
    fine = list(range(1, 1_500))
    assert first_benched(losses, fine) == expected
    for _ in range(2):
        cut = sorted({*range(8, 1_500, 8), *chance.sample(fine, 100)})
        assert first_benched(losses, cut) == expected


def test_one_wave_may_be_ahead_of_what_is_known() -> None:
    exclusions = RunExclusions(SOURCES, ["bad"])
    assert [exclusions.may_take(number) for number in (0, 8, 15, 16)] == [True, True, True, False]
    exclusions.see(rows({}, range(8)), 8)
    assert [exclusions.may_take(number) for number in (16, 31, 32)] == [True, True, False]
    assert sum(BLOCKS[:2]) == 16
    assert MAX_POINTS == 8 * 8


def test_without_processes_of_their_own_nothing_is_awaited() -> None:
    assert RunExclusions(SOURCES, []).may_take(1_499)


def test_one_that_always_hangs_is_left_in_peace_and_the_cores_do_not_matter(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assignor_lab.scoring.engine.exclusion.BLOCKS", (2,))
    monkeypatch.setattr("assignor_lab.scoring.engine.exclusion.MAX_POINTS", 16)
    terms = config_sources(None, ["assignor.plugins.call.timeout.ms=200"], environ={}, start=tmp_path)
    names = ("sticky", f"{NAMED}SleepsForEver")
    tables = []
    for most in (1, 64):
        monkeypatch.setattr(waves, "FIRST_WAVE_ITEMS", most)
        run(spark, (Generated("streams_4x40", 6, 3),), names, tmp_path / str(most), terms)
        tables.append(results_of(tmp_path / str(most)))
    assert tables[0].equals(tables[1])
    hanging = tables[0].filter(pc.equal(tables[0]["assignor"], names[1]))
    said = hanging.filter(pc.equal(hanging["round"], 0))["error_type"].to_pylist()
    assert said == ["DeadlineExceededError"] * 4 + ["ExcludedError"] * 2
    assert "in this run" in hanging["error_message"].to_pylist()[-1]


def test_nobody_is_asked_again_for_a_picture_of_an_item_in_which_it_lost_something() -> None:
    exclusions = RunExclusions(SOURCES, ["good", "bad"])
    exclusions.see(rows({3: "ProcessDiedError"}, range(8)), 8)
    assert [exclusions.spared(WorkItem(number, 0)).excluded for number in (2, 3)] == [(), ("bad",)]
    assert exclusions.marked(WorkItem(3, 0)).excluded == ()
