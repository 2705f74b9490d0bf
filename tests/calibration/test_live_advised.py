"""Rolls under an advice that was followed: the table."""

from __future__ import annotations

from tests.calibration.live.advised import AdvisedRoll, table


def test_the_table_counts_rolls_inside_the_promised_interval() -> None:
    def roll(number: int, measured: float) -> AdvisedRoll:
        return AdvisedRoll("joined", number, "session.timeout.ms=6000", 93.1, measured, 67.6, 51.3, 87.7, "4.8..10.2")

    rows = table([roll(1, 51.3), roll(2, 87.8)])
    assert rows[0] == "1 of 2 rolls are inside the promised interval (goal 8 of 10)."
    assert rows[-2].endswith("| 4.8 to 10.2 | 1 | 93.1 | 51.3 | 67.6 | 51.3 to 87.7 | yes |")
    assert rows[-1].endswith("| 2 | 93.1 | 87.8 | 67.6 | 51.3 to 87.7 | **no** |")
