"""Advice on a generated group, beside the best of all its configurations."""

from __future__ import annotations

import pytest

from assignment_api.plugins import discover
from calibration.advice.known_best import judged_group, judged_past


@pytest.mark.slow
def test_the_advice_is_within_noise_of_the_best_configuration() -> None:
    judged = judged_group(discover(), 1, 2, 1)
    assert judged.is_best
    assert judged.best <= judged.advised <= judged.present


@pytest.mark.slow
def test_the_advice_of_a_past_is_not_worse_on_its_second_part() -> None:
    judged = judged_past(discover(), 1, 2, 1)
    assert not judged.is_worse
    assert judged.advised < judged.present
