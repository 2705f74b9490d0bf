"""Rounds until stable, beside those of the released classes (``table.json`` of the golden data)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.rounds_until_stable import ScaleOut, moves_per_round
from tests.builtin_assignors.golden import GOLDEN_4_4

pytestmark = pytest.mark.slow


def recorded() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((GOLDEN_4_4 / "table.json").read_text(encoding="utf-8"))
    return [row for row in rows if row["tasks"] == 100]


@pytest.mark.parametrize(
    "row", recorded(), ids=lambda row: f"{row['release']}-{row['from']}-{row['to']}-{row['level']}"
)
def test_each_round_moves_as_many_tasks_as_with_kafkas_classes(row: dict[str, Any]) -> None:
    growth = ScaleOut(row["tasks"], row["threads"], row["from"], row["to"], row["level"])
    assert moves_per_round(growth, row["release"][:3]) == row["moved"]


def test_the_worst_case_of_4_3_is_not_stable_and_4_4_needs_two_rounds() -> None:
    worst = ScaleOut(100, 4, 2, 3, "disk")
    assert len(moves_per_round(worst, "4.3")) == 25
    assert moves_per_round(worst, "4.3")[-1] > 0
    assert len(moves_per_round(worst, "4.4")) == 2
