"""The table of down times: times by the clock and from the beginning, causes in plain words, one sentence."""

from __future__ import annotations

import json
from copy import deepcopy

import attrs
import pytest

from assignor_lab.model.pictures import DownTask, DownTimes
from assignor_lab.report import render_report
from assignor_lab.report.summary.down_times import clock, down_table
from assignor_lab.scoring.output.summary_file import summary_of
from tests.report.group_summaries import episodes

CAUSES = ("nobody", "not_noticed", "rebalance", "revoked", "restoring")
WORST = DownTask(
    "0_3",
    15_400,
    2,
    13_400,
    ((0, 2_000, 0, -1, 1), (99_000, 109_000, 1, 1, 0), (109_000, 111_400, 2, 1, 0), (111_400, 112_400, 4, 1, 0)),
    0,
)
DOWN = DownTimes(1_795_235_327_425, CAUSES, (2_000, 10_000, 2_400, 0, 1_000), ("i1", "i4"), (WORST,), 3)


def test_one_sentence_says_the_worst_when_and_why() -> None:
    assert down_table(DOWN).words == (
        "Task 0_3 was down for longest: 15.4 s in 2 stretches. The longest took 13.4 s from 04:30:26.4 UTC (99.0 s "
        "after the beginning), mostly because the group had not noticed yet that i4 was gone."
    )


@pytest.mark.parametrize(
    ("interval", "because"),
    [
        ((0, 13_400, 0, -1, 1), "because the group had no members."),
        ((0, 13_400, 2, 1, 0), "because the group was rebalancing and had not assigned it yet."),
        ((0, 13_400, 3, 1, 0), "because i4 had given it up and it had no new owner yet."),
        ((0, 13_400, 4, 1, 0), "because i1 had it and was not ready: it started, its state came back."),
        ((0, 13_400, 1, -1, 0), "because the group had not noticed yet that its owner was gone."),
    ],
)
def test_each_cause_has_its_words(interval: tuple[int, ...], because: str) -> None:
    task = attrs.evolve(WORST, times=1, down_ms=13_400, intervals=(interval,))
    words = down_table(attrs.evolve(DOWN, begun_ms=None, tasks=(task,))).words
    assert words == f"Task 0_3 was down for longest: 13.4 s, from 0.000 s after the beginning, {because}"


def test_a_task_unfolds_to_its_intervals() -> None:
    (row,) = down_table(DOWN).rows
    first, second, *_ = row.intervals
    assert (first.begin, first.end, first.before, first.after) == ("0.000", "2.000", "nobody", "i4")
    assert (second.at, second.until, second.length) == ("04:30:26.4", "04:30:36.4", "10.000")
    assert second.cause == "not noticed yet that its owner is gone"


def test_parts_say_the_causes_by_size_and_none_that_did_not_occur() -> None:
    table = down_table(DOWN)
    assert [length for _, length in table.parts] == ["10.0", "2.4", "2.0", "1.0"]
    assert table.total == "15.4"


def test_nothing_down_and_odd_data_are_told() -> None:
    assert down_table(attrs.evolve(DOWN, tasks=())).words == "No task was ever down."
    odd = attrs.evolve(WORST, intervals=((1,), (0, 1, 99, 99, 99)))
    (interval,) = down_table(attrs.evolve(DOWN, tasks=(odd,))).rows[0].intervals
    assert (interval.cause, interval.before) == ("", "nobody")
    assert clock(10**17, 0) == ""


@pytest.mark.slow
def test_the_page_has_it_without_a_script_and_names_are_text() -> None:
    document = deepcopy(episodes())
    answer = document["results"]["groups"][0]["answers"][0]
    answer["gantt"] = {"until_ms": 200_000, "instances": ["i1"], "rows": [], "rows_left_out": 0, "marks": []}
    answer["down"] = json.loads(json.dumps(attrs.asdict(attrs.evolve(DOWN, instances=("<b>i1</b>", "i4")))))
    shown = render_report(summary_of(document))
    assert "Task 0_3 was down for longest: 15.4 s in 2 stretches" in shown
    assert '<details class="down-task">' in shown
    assert "&lt;b&gt;i1&lt;/b&gt;" in shown
    assert "<b>i1</b>" not in shown
    assert "3 more tasks, down for less, are not listed." in shown
