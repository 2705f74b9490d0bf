"""The Gantt picture of an episode: every stretch is at its time, and has a text."""

from __future__ import annotations

import re

import attrs
import pytest

from assignor_lab.model.pictures import DownTask, DownTimes, Gantt, GanttChange, GanttRow
from assignor_lab.report.drawings import gantt
from assignor_lab.report.drawings.changes import HEAD
from assignor_lab.report.drawings.gantt import BAR, COLOURS, GAP, LEFT, ROW, WIDTH, drawing

GANTT = Gantt(
    100_000,
    ("a", "b"),
    (
        GanttRow("0_0", ((10_000, 50_000, 0), (60_000, 100_000, 1)), ((0, 10_000, 0), (50_000, 60_000, 1))),
        GanttRow("0_1", ((10_000, 100_000, 1),), ((0, 10_000, 0),)),
        GanttRow("1_0", ((10_000, 100_000, 0),), ((0, 10_000, 0),)),
    ),
    2,
    (10_000, 60_000),
)


def bars(path: str) -> list[tuple[float, float, float]]:
    """Left, top and width of each bar."""
    return [(float(x), float(y), float(w)) for x, y, w in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v", path)]


def test_each_bar_is_where_its_time_is() -> None:
    drawn = drawing(GANTT)
    (_, _, of_a), (_, _, of_b) = drawn.owners
    assert bars(of_a)[0] == pytest.approx((LEFT + WIDTH * 0.1, 2.0, WIDTH * 0.4), abs=0.1)
    assert bars(of_b)[0] == pytest.approx((LEFT + WIDTH * 0.6, 2.0, WIDTH * 0.4), abs=0.1)
    assert bars(drawn.restoring)[0] == pytest.approx((LEFT + WIDTH * 0.5, 2.0, WIDTH * 0.1), abs=0.1)
    assert len(bars(drawn.unowned)) == 3
    assert drawn.marks.count("M") == 2


def test_sub_topologies_stand_apart() -> None:
    first, second, other = (label.y for label in drawing(GANTT).tasks)
    assert (second - first, other - second) == (ROW, ROW + GAP)
    assert BAR < ROW


def test_what_is_short_can_be_seen_and_what_is_outside_is_not_drawn_outside() -> None:
    short = attrs.evolve(GANTT, rows=(GanttRow("0_0", ((0, 1, 0), (90_000, 900_000, 1)), ()),), marks=(900_000,))
    drawn = drawing(short)
    assert bars(drawn.owners[0][2])[0][2] > 0.5
    left, _, width = bars(drawn.owners[1][2])[0]
    assert left + width <= LEFT + WIDTH + 0.1
    assert drawn.marks == ""


def test_colours_come_round_again() -> None:
    many = attrs.evolve(GANTT, instances=tuple(f"i{number}" for number in range(COLOURS + 1)))
    numbers = [colour for _, colour, _ in drawing(many).owners]
    assert numbers == [*range(COLOURS), 0]


def test_stretches_that_say_nothing_are_left_out() -> None:
    odd = attrs.evolve(GANTT, rows=(GanttRow("0_0", ((0, 10), (0, 10, 7)), ((1,),)),))
    drawn = drawing(odd)
    assert (drawn.owners[0][2], drawn.owners[1][2], drawn.unowned) == ("", "", "")


def test_there_are_words_for_who_does_not_see_it() -> None:
    words = drawing(GANTT).words
    assert "3 tasks of 2 instances over 100 s" in words
    assert "30 task-seconds without an owner, 10 while state came back, 2 rebalances" in words


def test_an_instance_has_its_colour_whatever_the_order_in_which_it_started() -> None:
    other = attrs.evolve(GANTT, instances=("i10", "i9"))
    assert [(name, colour) for name, colour, _ in drawing(other).owners] == [("i9", 0), ("i10", 1)]
    assert drawing(other).owners[1][2] == drawing(GANTT).owners[0][2]


@pytest.mark.parametrize("until_ms", [1, 7, 950, 100_000, 951_880, 86_400_000, 10**12, 2**62])
def test_times_are_round_few_and_inside(until_ms: int) -> None:
    times = drawing(attrs.evolve(GANTT, until_ms=until_ms, rows=(), marks=())).times
    assert 2 <= len(times) <= 11
    assert all(LEFT <= label.x <= LEFT + WIDTH for label in times)


def test_who_points_at_a_mark_learns_when_and_why() -> None:
    first, *_ = drawing(GANTT, reasons=["i4 is new"], begun_ms=1_795_235_327_425).reasons
    assert first.title.endswith("UTC): i4 is new")
    assert drawing(GANTT).reasons == ()


def test_a_long_name_of_a_row_is_told_by_its_end() -> None:
    row = attrs.evolve(GANTT.rows[0], task="a-connector-with-a-name-12")
    (label,) = drawing(attrs.evolve(GANTT, rows=(row,))).tasks
    assert label.text == "…h-a-name-12"


def test_who_points_at_a_bar_learns_task_who_when_and_why() -> None:
    down = DownTimes(
        1_795_235_327_425,
        ("not_noticed", "restoring"),
        (10_000, 10_000),
        ("a", "b"),
        (DownTask("0_0", 20_000, 2, 10_000, ((0, 10_000, 0, -1, 0), (50_000, 60_000, 1, 0, 1)), 0),),
        0,
    )
    titles = [each.title for each in drawing(GANTT, down).bars]
    assert "0_0: a, from 10 s to 50 s (04:28:57.4 to 04:29:37.4 UTC)" in titles
    assert (
        "0_0: down, not noticed yet that its owner is gone, from 0 s to 10 s (04:28:47.4 to 04:28:57.4 UTC)" in titles
    )
    assert any(title.startswith("0_0: given, not ready: it starts, state comes back, from 50 s") for title in titles)
    assert "0_1: no owner, from 0 s to 10 s" in [each.title for each in drawing(GANTT).bars]


def test_very_many_bars_are_drawn_together(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(drawing(GANTT).bars) == 8
    monkeypatch.setattr(gantt, "MOST_TITLES", 7)
    assert drawing(GANTT).bars == ()


def test_starts_stops_and_crashes_have_signs_above_the_rows() -> None:
    changes = (
        GanttChange(50_000, "start", "c"),
        GanttChange(20_000, "crash", "a"),
        GanttChange(50_000, "start", "d"),
        GanttChange(900_000, "stop", "a"),
        GanttChange(30_000, "unknown", "a"),
    )
    drawn = drawing(attrs.evolve(GANTT, changes=changes), begun_ms=1_795_235_327_425)
    starts, crashes = drawn.changes
    assert [each.kind for each in drawn.changes] == ["comes", "crashes"]
    ((path, title),) = starts.marks
    assert title == "50 s (04:29:37.4 UTC): c and d: process starts"
    assert path.endswith(f"M{LEFT + WIDTH * 0.5:.1f} 9V{drawn.height - gantt.FOOT - gantt.CLOCK:.1f}")
    assert crashes.marks[0][1].endswith("a: process crashes")
    assert drawn.words.endswith("2 rebalances; process starts: 1; process crashes: 1")
    assert bars(drawn.owners[0][2])[0][1] == 2.0 + HEAD
