"""The promise of an advice for one event, with its interval."""

from __future__ import annotations

from typing import Any, cast

from assignor_lab.advising.advice import promise
from assignor_lab.advising.choice import RacedContender
from assignor_lab.advising.figures import DayCost
from assignor_lab.planning.foreign import ANY, foreign_ratios


def contender(*task_seconds: float) -> RacedContender:
    days = [DayCost({}, {"roll": each}, {}) for each in task_seconds]
    return RacedContender(cast("Any", {}), days=days)


def test_the_interval_holds_the_days_and_the_errors_of_foreign_groups() -> None:
    least, greatest = foreign_ratios(ANY).task_seconds
    found = promise(contender(99.0, 100.0, 101.0), "roll")
    assert found.median == 100.0
    assert found.low <= 100 * least < found.median < 100 * greatest <= found.high
    assert promise(contender(20.0, 100.0, 180.0), "roll").low < 20.0


def test_an_event_without_downtime_has_no_interval() -> None:
    found = promise(contender(0.0, 0.0), "roll")
    assert found.low == found.high == 0.0
