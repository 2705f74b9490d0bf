from __future__ import annotations

import math

import pytest

from assignor_lab.advising.choice import (
    AimError,
    Aims,
    Limit,
    RacedContender,
    aims_of,
    change_of,
    is_clearly_better,
    pareto_front,
)
from assignor_lab.advising.figures import OBJECTIVES, DayCost


def contender(*seconds: float, bytes_: float | None = 0.0) -> RacedContender:
    days = [
        DayCost({**dict.fromkeys(OBJECTIVES, 0.0), "task_seconds": each, "restored_bytes": bytes_}, {}, {})
        for each in seconds
    ]
    return RacedContender({"key": str(seconds)}, days)


def test_days_of_equal_ratio_have_an_exact_change() -> None:
    change = change_of(contender(100, 200), contender(50, 100), "task_seconds")
    assert change is not None
    assert (change.before, change.after, change.low, change.high) == (150, 75, -75, -75)


def test_a_single_day_has_no_interval() -> None:
    change = change_of(contender(100), contender(50), "task_seconds")
    assert change is not None
    assert change.low is None


def test_an_unknown_figure_has_no_change_and_an_infinite_mean() -> None:
    unknown = contender(1, 2, bytes_=None)
    assert change_of(unknown, contender(1, 2), "restored_bytes") is None
    assert unknown.mean("restored_bytes") == math.inf


def test_noise_is_no_clear_gain() -> None:
    assert not is_clearly_better(contender(90, 110, 95), contender(100, 100, 100), "task_seconds")
    assert is_clearly_better(contender(50, 52, 51), contender(100, 100, 100), "task_seconds")


def test_a_certain_gain_of_a_few_percent_is_none_to_act_on() -> None:
    assert not is_clearly_better(contender(97, 97), contender(100, 100), "task_seconds")


def test_equal_contenders_share_one_place_on_the_front() -> None:
    first, same, cheap = contender(10, bytes_=5.0), contender(10, bytes_=5.0), contender(20, bytes_=1.0)
    worse = contender(20, bytes_=2.0)
    assert pareto_front([first, same, cheap, worse], ["task_seconds", "restored_bytes"]) == [first, cheap]


def test_a_constraint_excludes_and_the_rest_is_ranked() -> None:
    dear, cheap = contender(10, bytes_=5.0), contender(20, bytes_=1.0)
    aims = Aims(limits=(Limit("restored_bytes", 4.0),))
    assert aims.ranked([dear, cheap]) == [cheap]


@pytest.mark.parametrize("text", ["disk=1", "disk_bytes", "disk_bytes=many", "disk_bytes=-1", "disk_bytes=1e999"])
def test_other_constraints_are_refused(text: str) -> None:
    with pytest.raises(AimError, match="FIGURE=NUMBER"):
        aims_of((), [text])


def test_a_constraint_may_have_an_exponent() -> None:
    assert aims_of((), ["disk_bytes = 2e12"]) == Aims(("task_seconds",), (Limit("disk_bytes", 2e12),))


def test_an_objective_counts_once_and_an_unknown_one_is_refused() -> None:
    assert aims_of(["dollars", "rebalances", "dollars"], ()).objectives == ("dollars", "rebalances")
    with pytest.raises(AimError, match="'lag' is none of task_seconds"):
        aims_of(["lag"], ())
