"""Intervals of groups without a past: the ratios of other groups, by the form of the change."""

from __future__ import annotations

import pytest

from assignment_api.plugins import discover
from assignor_lab.planning.draws import restart_timings
from assignor_lab.planning.foreign import ANY, Ratios, foreign_form, foreign_ratios, of_foreign, shipped_ratios
from assignor_lab.planning.past_record import PastRecord, PredictedAway, PredictedChange, RecordedAway, RecordedBounds
from assignor_lab.planning.plans import Action, Plan, Starts, Step
from assignor_lab.planning.predicted import Range
from assignor_lab.simulation.streams.timings import StreamsTimings
from calibration.accuracy.foreign import ChangeRatios, foreign_changes, ratios_of, samples_of, spread_of

RATIOS = Ratios((0.5, 2.0), (1.0, 1.0), 3)


def plan(name: str, *actions: Action, starts: Starts | None = None) -> Plan:
    return Plan(name, (Step("i1", actions),), starts=starts)


@pytest.mark.parametrize(
    ("protocol", "name", "action", "form"),
    [
        ("classic", "roll", Action("restart", "i1"), "roll, classic protocol"),
        ("streams", "upgrade", Action("restart", "i1"), "roll, streams protocol"),
        ("classic", "scale", Action("add", "i1"), "moves, classic protocol"),
        ("classic", "scale", Action("remove", "i1"), "lost member, classic protocol"),
        ("classic", "scale", Action("remove", "i1", leave=True), "moves, classic protocol"),
        ("classic", "kill", Action("kill", "i1"), "lost member, classic protocol"),
        ("classic", "script", Action("event", "i1", event="crash"), "lost member, classic protocol"),
        ("streams", "scale", Action("remove", "i1"), "moves, streams protocol"),
    ],
)
def test_the_form_follows_from_the_actions(protocol: str, name: str, action: Action, form: str) -> None:
    assert foreign_form(protocol, plan(name, action), restores=False) == form
    assert foreign_form(protocol, plan(name, action), restores=True) == "restoring"


def test_a_form_that_no_group_has_shown_takes_the_ratios_of_all_changes() -> None:
    assert foreign_ratios("unseen", {ANY: RATIOS}) == RATIOS
    assert ANY in shipped_ratios()


def test_ratios_widen_an_interval_and_never_narrow_that_of_the_plays() -> None:
    worst = of_foreign(Range(10.0, 9.0, 11.0), "worst_task_seconds", RATIOS)
    assert (worst.low, worst.high) == (5.0, 20.0)
    every = of_foreign(Range(10.0, 9.0, 11.0), "task_seconds", RATIOS)
    assert every.low < 9.0
    assert every.high > 11.0
    assert of_foreign(Range(0.0, 0.0, 0.0), "task_seconds", RATIOS) == Range(0.0, 0.0, 0.0)


def test_a_share_of_the_spread_of_plays_counts() -> None:
    half = Ratios((1.0, 1.0), (1.0, 1.0), 3, (0.5, 1.0))
    figure = Range(100.0, 60.0, 180.0)
    assert half.counted(figure, "worst_task_seconds") == Range(100.0, 80.0, 140.0)
    assert half.counted(figure, "task_seconds") == figure
    worst = of_foreign(figure, "worst_task_seconds", half)
    assert (round(worst.low, 1), round(worst.high, 1)) == (75.7, 147.3)
    assert of_foreign(figure, "task_seconds", half, 0.1).high > of_foreign(figure, "task_seconds", half).high


def test_a_past_narrows_no_further_than_the_counted_spread() -> None:
    counted = Range(100.0, 80.0, 140.0)
    bounds = RecordedBounds(100.0, 100.0)
    held = PredictedAway(Range(100.0, 60.0, 180.0), Range(100.0, 60.0, 180.0))
    changes = tuple(PredictedChange(at, "roll", (), held, RecordedAway(bounds, bounds)) for at in range(9))
    found = PastRecord(changes).adjusted("worst_task_seconds", "roll", counted, Range(100.0, 70.0, 160.0))
    assert found == counted


@pytest.mark.slow
def test_the_share_of_the_spread_holds_the_changes_of_other_groups() -> None:
    changes = list(foreign_changes(discover(), ["groups/standbys", "groups/busy"]))
    samples = [*samples_of(changes), ChangeRatios("roll", "own", {"worst_task_seconds": 1.0, "task_seconds": 1.0})]
    worst, every = spread_of(changes, samples)
    assert 0.0 <= worst <= 1.0
    assert 0.0 <= every <= 1.0
    assert spread_of(changes, samples, "groups/busy") == spread_of(
        [each for each in changes if each.cluster != "groups/busy"],
        [each for each in samples if each.cluster != "groups/busy"],
    )


def test_a_group_that_is_left_out_does_not_choose_its_own_interval() -> None:
    samples = [ChangeRatios("roll", group, {"worst_task_seconds": 1.0, "task_seconds": 1.0}) for group in ("a", "b")]
    samples.append(ChangeRatios("roll", "c", {"worst_task_seconds": 3.0, "task_seconds": 0.2}))
    assert ratios_of(samples)["roll"].worst_task_seconds == (1.0, 3.0)
    assert ratios_of(samples, "c")["roll"] == Ratios((1.0, 1.0), (1.0, 1.0), 2)


def test_a_group_with_many_changes_weighs_as_much_as_one_with_few() -> None:
    samples = [ChangeRatios("roll", "many", {"worst_task_seconds": 2.0, "task_seconds": 1.0}) for _ in range(50)]
    samples += [ChangeRatios("roll", str(each), {"worst_task_seconds": 1.0, "task_seconds": 1.0}) for each in range(9)]
    assert ratios_of(samples)["roll"].worst_task_seconds[1] == 1.0


def test_a_process_that_starts_slowly_may_open_its_first_stores_slowly() -> None:
    timings = StreamsTimings()
    usual = timings.startup_ms + timings.join_ms

    def opens(low_ms: int, high_ms: int) -> list[float]:
        of = plan("scale", Action("add", "i1"), starts=Starts(low_ms, high_ms, "given"))
        drawn = (restart_timings(timings, of, f"0-{play}").first_open_store_ms for play in range(200))
        return sorted(each / timings.first_open_store_ms for each in drawn)

    assert set(opens(usual // 2, usual // 2 + 1)) == {1.0}
    # The reason of a slow start is unknown: between the usual speed and that of the start.
    twice = opens(2 * usual, 2 * usual + 1)
    assert twice[0] == pytest.approx(1, abs=0.05)
    assert twice[-1] == pytest.approx(2, abs=0.05)
    # Minutes of a framework's start say nothing on stores.
    assert opens(60_000, 60_001)[-1] == pytest.approx(4, abs=0.1)
