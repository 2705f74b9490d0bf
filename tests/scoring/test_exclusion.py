"""The exclusion of plugins follows from the items alone: within a block, and from part to part of a run."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from assignment_api.plugins import discover
from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.variants import as_variant
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring import Generated
from assignor_lab.scoring.engine import blocks
from assignor_lab.scoring.engine.batches import block_batches
from assignor_lab.scoring.engine.blocks import parts_of
from assignor_lab.scoring.engine.exclusion import (
    LIMIT_POINTS,
    MAX_POINTS,
    PenaltyRules,
    RunExclusions,
    ScoredRow,
    lossy,
)
from assignor_lab.scoring.output.tables import rows_schema
from assignor_lab.scoring.sources.reading import plan_sources
from tests.scoring.in_process import scored
from tests.scoring.runs import NAMED, results_of, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from assignor_lab.groups.runner.scorer import Scorer

RULES = PenaltyRules(("bad", "good"))


def row(item: int, error_type: str | None, assignor: str = "bad") -> dict[str, Any]:
    return {"item": item, "round": 0, "assignor": assignor, "source": 0, "error_type": error_type}


class Scores:
    """A scorer whose assignor ``bad`` loses in some items."""

    def __init__(self, spec: JobSpec, losses: Mapping[int, str]) -> None:
        self.spec = spec
        self._losses = losses

    def rows(self, item: WorkItem) -> list[dict[str, Any]]:
        lost = "ExcludedError" if "bad" in item.excluded else self._losses.get(item.number)
        return [row(item.number, lost), row(item.number, None, "good")]


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> JobSpec:
    terms = config_sources(environ={}, start=tmp_path_factory.mktemp("terms"))
    return JobSpec((as_variant("bad"), as_variant("good")), (), (), terms)


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        (dict.fromkeys(range(256), "DeadlineExceededError"), 8),
        (dict.fromkeys(range(100, 256), "MemoryLimitError"), 108),
        (dict.fromkeys(range(256), "ProcessDiedError"), 64),
        (dict.fromkeys(range(0, 256, 25), "OutputLimitError"), 176),
        (dict.fromkeys(range(0, 256, 40), "DeadlineExceededError"), None),
        (dict.fromkeys(range(256), "InvalidAnswerError"), None),
        ({}, None),
    ],
)
def test_items_before_decide_within_a_block(spec: JobSpec, losses: dict[int, str], expected: int | None) -> None:
    scorer = cast("Scorer", Scores(spec, losses))
    items = [WorkItem(number, 0) for number in range(256)]
    table = pa.Table.from_batches(block_batches(scorer, 7, items, RULES))
    assert set(table["block"].to_pylist()) == {7}
    excluded = [each["item"] for each in table.to_pylist() if each["error_type"] == "ExcludedError"]
    assert (excluded[0] if excluded else None) == expected
    assert MAX_POINTS == 8 * LIMIT_POINTS


def test_earlier_parts_decide_about_a_whole_block(spec: JobSpec) -> None:
    scorer = cast("Scorer", Scores(spec, {}))
    items = [WorkItem(number, 0) for number in range(3)]
    table = pa.Table.from_batches(block_batches(scorer, 0, items, RULES, {"bad": MAX_POINTS}))
    assert table["error_type"].to_pylist() == ["ExcludedError", None] * 3


def test_points_of_earlier_parts_count_within_a_block(spec: JobSpec) -> None:
    scorer = cast("Scorer", Scores(spec, dict.fromkeys(range(9), "DeadlineExceededError")))
    items = [WorkItem(number, 0) for number in range(9)]
    table = pa.Table.from_batches(block_batches(scorer, 0, items, RULES, {"bad": MAX_POINTS - 2 * LIMIT_POINTS}))
    lost = [each["error_type"] for each in table.to_pylist() if each["assignor"] == "bad"]
    assert lost == ["DeadlineExceededError"] * 2 + ["ExcludedError"] * 7


@pytest.mark.parametrize("count", [5, 40, 500, 2_049, 2_600, 3_000, 3_500, 5_000, 100_000])
@pytest.mark.parametrize("least", [1, 2, 3, 4])
def test_a_plugin_that_always_hangs_costs_few_deadlines(
    spec: JobSpec, count: int, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "LEAST_ITEMS", least)
    deadlines = 0
    exclusions = RunExclusions(RULES)
    scorer = cast("Scorer", Scores(spec, dict.fromkeys(range(count), "DeadlineExceededError")))
    with plan_sources([Generated("streams_4x40", count)], discover()) as plan:
        for part in islice(parts_of(plan, can_exclude=True), 4):
            found: list[ScoredRow] = []
            for block in range(part.first_block, part.first_block + part.blocks):
                batches = block_batches(scorer, block, part.block(block), RULES, exclusions.points)
                found += pa.Table.from_batches(batches).to_pylist()
            exclusions.see(found)
            deadlines += sum(row["error_type"] == "DeadlineExceededError" for row in found)
    assert deadlines <= 15
    assert exclusions.excluded == ("bad",) or count < MAX_POINTS // LIMIT_POINTS


def test_losses_of_several_parts_add_up() -> None:
    exclusions = RunExclusions(RULES)
    for part in range(2):
        assert exclusions.excluded == ()
        exclusions.see([row(4 * part + number, "DeadlineExceededError") for number in range(4)])
    assert exclusions.excluded == ("bad",)


def test_of_several_losses_in_one_item_the_worst_counts() -> None:
    rows = [row(1, "ProcessDiedError"), row(1, "DeadlineExceededError"), row(1, "ProcessDiedError", "good")]
    assert RULES.weights(rows) == {(1, "bad"): LIMIT_POINTS, (1, "good"): 1}


def test_families_and_metrics_have_losses_of_their_own() -> None:
    rules = PenaltyRules(("bad",), ("own:cost",), {"storm": "scenario family storm of storms"})
    of_family = row(1, "DeadlineExceededError") | {"error_message": "scenario family storm of storms did not answer"}
    of_metric = row(2, None) | {"metric_errors": ["own:cost: MemoryLimitError: needed more than 192 MiB"]}
    assert rules.weights([of_family, of_metric]) == {
        (1, "scenario family storm"): LIMIT_POINTS,
        (2, "metric own:cost"): LIMIT_POINTS,
    }


def test_rows_with_losses_are_found_in_a_table() -> None:
    schema = rows_schema(())
    made = [row(0, None), row(1, "ProcessDiedError"), row(2, "RuntimeError"), row(3, "ExcludedError")]
    made.append(row(4, None) | {"metric_errors": ["cost: x"]})
    assert [each["item"] for each in lossy(pa.Table.from_pylist(made, schema=schema))] == [1, 3, 4]


def test_a_plugin_is_not_called_again_for_a_picture_of_an_item_in_which_it_had_a_loss() -> None:
    rows = [row(3, "ProcessDiedError"), row(4, "ExcludedError"), row(5, "RuntimeError")]
    assert [RULES.spared(WorkItem(number, 0), rows).excluded for number in (2, 3, 4, 5)] == [(), ("bad",), ("bad",), ()]


@pytest.mark.slow
@pytest.mark.long
def test_a_plugin_that_always_hangs_is_excluded_and_the_engine_does_not_matter(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "LEAST_ITEMS", 10)
    monkeypatch.setattr(blocks, "FIRST_BLOCKS", 1)
    overrides = ["assignor.plugins.call.timeout.ms=200"]
    names = ("sticky", f"{NAMED}SleepsForEver")
    histories = (Generated("streams_4x40", 13, 3),)
    scored(histories, names, tmp_path / "here", overrides)
    run(spark, histories, names, tmp_path / "there", config_sources(None, overrides, environ={}, start=tmp_path))
    table = results_of(tmp_path / "here")
    assert table.equals(results_of(tmp_path / "there"))
    hanging = table.filter(pc.equal(table["assignor"], names[1]))
    found = hanging.filter(pc.equal(hanging["round"], 0))["error_type"].to_pylist()
    assert found == ["DeadlineExceededError"] * 8 + ["ExcludedError"] * 5
    assert "in this run" in hanging["error_message"].to_pylist()[-1]
