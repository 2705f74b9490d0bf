"""The rule beyond which two contenders of a past differ: their draws, and the error of the own assignor's play."""

from __future__ import annotations

import json

from assignor_lab.compare.figures import best_of
from assignor_lab.compare.play_errors import NO_ERROR, PlayError, play_error
from assignor_lab.compare.verdicts import missing_cost, verdict_of_one
from assignor_lab.model.comparisons import FigureCompared, ValueCompared

_TEN = tuple(float(number) for number in range(100, 110))


def _beside(by: float, error: float | None = None) -> PlayError:
    return PlayError(error, {"one": _TEN, "two": tuple(each + by for each in _TEN)})


def test_a_difference_in_each_draw_counts() -> None:
    assert best_of({"one": 104.5, "two": 124.5}, "lower", _beside(20)) == ("one",)


def test_a_difference_smaller_than_the_error_of_the_play_does_not() -> None:
    assert best_of({"one": 104.5, "two": 124.5}, "lower", _beside(20, 0.2)) == ()
    assert best_of({"one": 104.5, "two": 124.5}, "lower", _beside(20, 0.1)) == ("one",)


def test_draws_on_both_sides_of_zero_say_nothing() -> None:
    plays = PlayError(None, {"one": _TEN, "two": tuple(reversed(_TEN))})
    assert best_of({"one": 104.0, "two": 110.0}, "lower", plays) == ()


def test_without_plays_the_plain_difference_counts() -> None:
    assert best_of({"one": 1.0, "two": 2.0}, "higher", NO_ERROR) == ("two",)


def test_the_error_belongs_to_the_figure_that_the_recording_shows() -> None:
    text = json.dumps({"error": 0.4, "plays": {"unavailable_task_seconds": [1.0, 2.0], "restored_bytes": [3.0, 4.0]}})
    assert play_error("unavailable", "unavailable_task_seconds", {"one": text}).error == 0.4
    assert play_error("restored", "restored_bytes", {"one": text}) == PlayError(None, {"one": (3.0, 4.0)})
    assert play_error("restored", "dollars", {"one": text}) == NO_ERROR


def _figure(
    name: str, best: tuple[str, ...] = (), missing: str | None = None, remedy: str | None = None
) -> FigureCompared:
    of = (ValueCompared("one", 10.0, band=(8.0, 12.0)), ValueCompared("two", 11.0, 1.0, band=(9.0, 13.0)))
    return FigureCompared(
        name, "Task-seconds", "metric", "s", "lower", None, missing, 1, () if missing else of, best, 0.25, remedy
    )


def test_the_verdict_names_contenders_within_the_error() -> None:
    found = verdict_of_one([_figure("unavailable")], {"one": "one", "two": "two"}, "one", "history")
    assert found.startswith("No difference beyond the play's error in task-seconds")
    assert "25 % off the recording" in found


def test_an_unknown_size_leaves_no_best_contender() -> None:
    figures = [
        _figure("unavailable", ("one",)),
        _figure("restored", missing="bytes of the state are unknown", remedy="give the sizes with --workload"),
    ]
    found = verdict_of_one(figures, {"one": "one", "two": "two"}, "one", "history")
    assert found.startswith("There is no best contender.")
    assert "--workload" in found
    assert missing_cost(figures[:1]) is None
