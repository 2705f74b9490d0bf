"""The tables of skewed and even load, from rows computed by hand."""

from __future__ import annotations

from benchmarks.gaps import EVEN, SKEWED, moves_of, skew_of


def row(assignor: str, family: str, *figures: float | None) -> dict[str, object]:
    return {"assignor": assignor, "family": family, **dict(zip(SKEWED.metrics.split(","), figures, strict=True))}


def test_the_table_of_skew_has_means_a_percentile_and_the_share_at_the_cap() -> None:
    # Lags 0, 100, ..., 900: nine of ten are at most 800. Two of ten take an hour.
    rows = [
        row("load_aware", "skewed_workloads", number / 10, 100.0 * number, 3_600.0 if number > 7 else 0.0, number % 2)
        for number in range(10)
    ]
    unknown = row("load_aware", "skewed_workloads", None, None, None, 1.0)
    assert list(skew_of([unknown, *reversed(rows)]))[2:] == [
        "| `load_aware` | 10 | 45% | 90% | 450 s | 800 s | 720 s | 20% | 0.50 |"
    ]


def test_the_table_of_moves_has_a_line_for_each_even_family_with_all_assignors() -> None:
    rows = [
        row(name, "scale_out", None, None, None, moved)
        for name, figures in zip(EVEN.assignors, ((0, 1), (2, 5)), strict=True)
        for moved in figures
    ]
    lone = row("load_aware", "scale_in", None, None, None, 7.0)
    assert list(moves_of([*rows, lone]))[2:] == ["| scale_out | 2 | 0.50 | 3.50 |"]
