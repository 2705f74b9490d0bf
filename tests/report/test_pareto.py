"""The Pareto picture: its two figures, the assignors' places, and dominated ones."""

from __future__ import annotations

import re
from typing import Any

import pytest

from assignor_lab.report import render_report
from assignor_lab.report.drawings.pareto import Pareto, pareto
from assignor_lab.scoring.output.summary_file import summary_of
from tests.report.summaries import tagged

A, B, C = "high_availability", "sticky", "kafka"


def figure(title: str, means: dict[str, float], direction: str = "lower", **more: Any) -> dict[str, Any]:
    of = [
        {
            "assignor": name,
            "mean": mean,
            "difference": None if name == A else mean - means[A],
            "low": None if name == A else mean - means[A] - 1,
            "high": None if name == A else mean - means[A] + 1,
            "level": None,
            "no_interval": None,
            "tells": None if name == A else "unclear",
        }
        for name, mean in means.items()
    ]
    return {
        "figure": title,
        "title": title,
        "metric": title,
        "unit": "tasks",
        "direction": direction,
        "summary": "What it is.",
        "not_measured": None,
        "states": 3,
        "of": of,
        **more,
    }


def picture(*figures: dict[str, Any]) -> Pareto | None:
    document = tagged()
    document["results"]["headline"] = {
        "baseline": A,
        "states": 3,
        "histories": 3,
        "figures": list(figures),
        "alone": 0,
    }
    return pareto(summary_of(document).results, {})


def test_who_is_beaten_in_both_stands_behind() -> None:
    drawn = picture(figure("Cost", {A: 1, B: 2, C: 3}), figure("Load", {A: 3, B: 1, C: 2}))
    assert drawn is not None
    assert {each.name: each.is_first for each in drawn.points} == {A: True, B: True, C: False}
    assert drawn.words == (
        "By their means in cost and load, high_availability and sticky are behind no other in both; all others are."
    )
    by_name = {each.name: each for each in drawn.points}
    # Better is further left and further down: the drawing's y grows downwards.
    assert by_name[A].x < by_name[B].x < by_name[C].x
    assert by_name[A].y < by_name[C].y < by_name[B].y


def test_more_can_be_better() -> None:
    drawn = picture(figure("Kept", {A: 1, B: 2}, "higher"), figure("Load", {A: 2, B: 1}))
    assert drawn is not None
    assert {each.name: each.is_first for each in drawn.points} == {A: False, B: True}
    assert drawn.points[1].x < drawn.points[0].x
    assert drawn.across.better == "more is better"


def test_who_is_equal_in_one_and_better_in_the_other_is_ahead() -> None:
    drawn = picture(figure("Cost", {A: 1, B: 1, C: 2}), figure("Load", {A: 1, B: 2, C: 0}))
    assert drawn is not None
    assert {each.name: each.is_first for each in drawn.points} == {A: True, B: False, C: True}


def test_intervals_lie_around_their_points_and_the_baseline_has_none() -> None:
    drawn = picture(figure("Cost", {A: 10, B: 20}), figure("Load", {A: 20, B: 10}))
    assert drawn is not None
    first, second = drawn.points
    assert first.across is first.upright is None
    assert second.across is not None
    assert second.upright is not None
    assert second.across[0] < second.x < second.across[1]
    assert second.upright[0] > second.y > second.upright[1]


def test_an_interval_of_another_order_does_not_press_the_points_together() -> None:
    wide = figure("Cost", {A: 10, B: 20})
    wide["of"][1] |= {"low": -1e6, "high": 1e6}
    drawn = picture(wide, figure("Load", {A: 20, B: 10}))
    assert drawn is not None
    assert drawn.points[1].x - drawn.points[0].x > 100


def test_figures_in_which_nobody_differs_are_passed_over() -> None:
    same, cost, load = figure("Failed", {A: 0, B: 0}), figure("Cost", {A: 1, B: 2}), figure("Load", {A: 2, B: 1})
    drawn = picture(same, cost, load)
    assert drawn is not None
    assert (drawn.across.title, drawn.upright.title) == ("Cost", "Load")
    assert drawn.words.startswith("By their means in cost and load, no assignor is behind another in both")


@pytest.mark.parametrize(
    "figures",
    [
        (),
        (figure("Cost", {A: 1, B: 2}),),
        (figure("Cost", {A: 1, B: 2}), figure("Failed", {A: 0, B: 0})),
        (figure("Cost", {A: 1, B: 2}), figure("Load", {A: 1, B: 2, C: 3})),
    ],
)
def test_without_two_figures_that_differ_for_the_same_contenders_there_is_no_picture(figures: Any) -> None:
    assert picture(*figures) is None


def test_of_dots_in_one_place_one_is_drawn_with_the_numbers_of_the_others() -> None:
    document = tagged()
    document["results"]["headline"]["figures"] = [
        figure("across", {A: 1.0, B: 1.0, C: 9.0}),
        figure("upright", {A: 5.0, B: 5.0, C: 1.0}),
    ]
    summary = summary_of(document)
    drawn = pareto(summary.results, {})
    assert drawn is not None
    assert [(point.hidden, point.beside) for point in drawn.points] == [(False, (2,)), (True, ()), (False, ())]
    (picture,) = re.findall(r'<figure class="pareto">.*?</svg>', render_report(summary), flags=re.DOTALL)
    assert picture.count("<circle") == 2
    assert ">and 2</text>" in picture


def test_the_ends_of_the_axes_say_how_much_they_are() -> None:
    drawn = picture(figure("Cost", {A: 1, B: 2, C: 3}), figure("Load", {A: 3e9, B: 1, C: 2}))
    assert drawn is not None
    by_name = {each.name: each for each in drawn.points}
    assert drawn.across.ticks == ((by_name[A].x, "1.00"), (by_name[C].x, "3.00"))
    # Labels without room are shortened.
    assert drawn.upright.ticks == ((by_name[B].y, "1.00"), (by_name[A].y, "3e+09"))
