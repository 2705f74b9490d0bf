"""The timeline of a group's past in the page, and the times of states wherever one is named."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from assignor_lab.report import render_report, summary_from_document
from assignor_lab.report.words import state_name
from tests.report.group_summaries import episodes
from tests.report.summaries import tagged

ENTRY: dict[str, Any] = {
    "time_ms": 1_795_239_746_656, "generation": 3, "waited_ms": None, "instances": 4, "members": 8,
    "joined": ["i4"], "gone": [], "restarted": ["i1"], "active_moved": 6, "copies_made": 2, "followup": "probing",
    "reason": "Adding new member <b>x</b>", "missing": [1, 2],
}  # fmt: skip


def page(**entry: Any) -> str:
    document = deepcopy(tagged())
    decisions = [{**ENTRY, **entry}]
    document["results"]["timelines"] = [{"group": "<i>orders</i>", "protocol": "classic", "decisions": decisions}]
    return render_report(summary_from_document(document))


def test_each_decision_stands_with_its_time_who_came_and_went_and_why() -> None:
    shown = page()
    for text in ("2026-11-21 05:42:26.656Z", "i4", "anew", "probing follows", "1 to 2 are not there"):
        assert text in shown
    assert "What happened" in shown


GIVEN: dict[str, Any] = {
    "until_ms": 4_000, "instances": ["i1", "<b>i2</b>"], "rows_left_out": 0, "marks": [0, 3_000],
    "rows": [{"task": "0_0", "runs": [[0, 3_000, 0], [3_000, 4_000, 1]], "waits": []}],
}  # fmt: skip


def test_the_past_is_summed_up_and_drawn_before_any_state() -> None:
    document = deepcopy(tagged())
    decisions = [ENTRY, {**ENTRY, "time_ms": ENTRY["time_ms"] + 300_000, "joined": [], "restarted": []}]
    past = {"group": "orders", "protocol": "classic", "decisions": decisions, "given": GIVEN}
    document["results"]["timelines"] = [past]
    shown = render_report(summary_from_document(document))
    assert "2 decisions in 5 min. In 1 of them instances had come, gone or begun anew" in shown
    assert "after 1 of them a probing rebalance was to follow. Active tasks moved 12 times" in shown
    assert shown.index('class="gantt"') < shown.index('id="placements"')
    assert "&lt;b&gt;i2&lt;/b&gt;" in shown
    assert "recorded decisions do not say when nobody processed a task" in shown
    assert "nobody has it" not in shown
    assert "<code>assignor score --histories played</code> plays the past" in shown


def test_a_past_leads_to_the_picture_of_its_play() -> None:
    document = deepcopy(episodes())
    document["results"]["timelines"] = [
        {"group": "orders", "protocol": "classic", "decisions": [ENTRY, ENTRY], "given": GIVEN}
    ]
    waits = [[0, 500, 0]]
    gantt = {**GIVEN, "rows": [{"task": "0_0", "runs": [], "waits": waits}]}
    document["results"]["groups"][1]["answers"][0]["gantt"] = gantt
    shown = render_report(summary_from_document(document))
    assert '<a href="#state-2">When tasks were down is in the played picture</a>' in shown
    assert 'id="state-2"' in shown
    assert "nobody has it" in shown[shown.index('id="state-2"') :]


def test_names_and_reasons_are_text() -> None:
    shown = page(joined=["<script>alert(1)</script>"])
    assert "<script>alert(1)" not in shown
    assert "<b>x</b>" not in shown
    assert "<i>orders</i>" not in shown


def test_a_run_without_a_past_has_no_timeline() -> None:
    assert "What happened" not in render_report(summary_from_document(tagged()))


def test_a_state_is_named_with_its_time_where_that_is_known() -> None:
    assert state_name("orders-generation-3", 0, 1_795_239_746_656) == "orders-generation-3, 2026-11-21 05:42:26.656Z"
    assert state_name("orders-generation-3", 0) == "orders-generation-3"
    assert state_name("cc-1", 2, 0) == "cc-1, round 2, 1970-01-01 00:00:00.000Z"


def test_a_connect_groups_timeline_counts_jobs_and_has_no_copies() -> None:
    document = deepcopy(tagged())
    entry = {**ENTRY, "generation": None, "reason": "7 jobs taken away first", "missing": None}
    document["results"]["timelines"] = [
        {"group": "connect-main", "protocol": "sessioned", "moves": "jobs", "decisions": [entry]}
    ]
    shown = render_report(summary_from_document(document))
    for text in ("Jobs moved", "Workers", "1 rebalance", "7 jobs taken away first"):
        assert text in shown
    assert "Copies made" not in shown
