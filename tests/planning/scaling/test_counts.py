from __future__ import annotations

import pytest

from assignor_lab.planning.making import PlanError
from assignor_lab.planning.scaling.counts import counts_within, parse_counts


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("4..6", (4, 5, 6)),
        ("4,8,6,4", (4, 6, 8)),
        ("1..1", (1,)),
        (" 2 .. 3 ", (2, 3)),
        ("1..128", tuple(range(1, 129))),
    ],
)
def test_counts_are_a_range_or_a_list(text: str, counts: tuple[int, ...]) -> None:
    assert parse_counts(text) == counts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("6..4", "turned round: write 4..6"),
        ("0..4", "begin with 1"),
        ("0,4", "begin with 1"),
        ("1..999999999", "at most 128 counts"),
        ("1,200000", "up to 100000"),
        ("..4", "write a range"),
        ("4..", "write a range"),
        ("-1..4", "write a range"),
        ("4,,5", "write a range"),
        ("4..6..8", "write a range"),
        ("²..4", "write a range"),
        ("2..5,7", "write a range"),
    ],
)
def test_other_counts_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(PlanError, match=reason):
        parse_counts(text)


def test_counts_above_the_tasks_are_left_out_and_named() -> None:
    assert counts_within((10, 12, 13, 14), 3, 12, "instance", "task") == (
        (10, 12),
        ["13 to 14 instances are not played: the group has 12 tasks, and each further instance is idle"],
    )


def test_only_counts_above_the_tasks_are_refused() -> None:
    with pytest.raises(PlanError, match="the group has 1 task, and each further instance is idle"):
        counts_within((2, 3), 1, 1, "instance", "task")
