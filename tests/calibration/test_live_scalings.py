"""The measured time until a scaling is worth it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.calibration.live.scalings import Judged, Recorded, Scaling


def recorded(*gains: float) -> Recorded:
    curve = tuple((float(second), gain) for second, gain in enumerate(gains))
    return Recorded(Scaling("classic", 2, 4, (30.0,) * 4), "", "", "", 0, "1..2", (), curve)


@pytest.mark.parametrize(
    ("gains", "even_s"),
    [
        ((0, 0, -20, -10, 20, 60, 90), 3.0),
        # Both have worked off their lag in the end.
        ((0, -20, 40, 80, 40, 0, 0), 1.0),
        ((0, 1, -2, 2, 0, 1, 2), None),
        ((0, -20, -40, -60, -60, -60, -60), None),
        ((0, 30, -40, -60, -60, -60, -60), None),
    ],
)
def test_the_lag_is_lower_for_good_after_its_last_rise(gains: Sequence[float], even_s: float | None) -> None:
    assert recorded(*gains).break_even_s == even_s


def test_a_time_is_right_within_a_fifth() -> None:
    made = recorded(0, 0, -20, -10, -10, 0, 60, 90, 120)
    assert made.break_even_s == 5.0
    assert Judged(made, "useful", (4.0, 5.9, 7.0)).is_time_right
    assert not Judged(made, "useful", (4.0, 6.1, 7.0)).is_time_right
    assert not Judged(made, "no gain", None).is_sign_right
