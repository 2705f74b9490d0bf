"""The timeline of a group's past on the page, and the times of all named states."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.model.run_summary import TimelineDecision
from assignor_lab.report import render_report
from assignor_lab.report.sections.causes import cause_words
from assignor_lab.report.sections.pasts import past_words
from assignor_lab.report.words import state_name, verdict
from assignor_lab.scoring.output.summary_file import summary_of
from tests.capture.event_recordings import event_folder
from tests.report.group_summaries import episodes, recorded_past
from tests.report.summaries import tagged
from tests.scoring.in_process import scored

ENTRY: dict[str, Any] = {
    "time_ms": 1_795_239_746_656, "generation": 3, "waited_ms": None, "instances": 4, "members": 8,
    "joined": ["i4"], "gone": [], "restarted": ["i1"], "active_moved": 6, "copies_made": 2, "followup": "probing",
    "reason": "Adding new member <b>x</b>", "missing": [1, 2],
}  # fmt: skip


def page(**entry: Any) -> str:
    document = deepcopy(tagged())
    decisions = [{**ENTRY, **entry}]
    document["results"]["timelines"] = [{"group": "<i>orders</i>", "protocol": "classic", "decisions": decisions}]
    return render_report(summary_of(document))


def test_each_decision_stands_with_its_time_who_came_and_went_and_why() -> None:
    shown = page()
    for text in ("2026-11-21 05:42:26.656Z", "i4", "anew", "probing</td>", "1 to 2 are not there"):
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
    shown = render_report(summary_of(document))
    assert "In 1 of them instances had come, gone or begun anew" in shown
    assert "Active tasks moved 12 times" in shown
    assert shown.index('class="gantt"') < shown.index('id="placements"')
    assert "&lt;b&gt;i2&lt;/b&gt;" in shown
    assert "recorded decisions do not say when nobody processed a task" in shown
    assert "no owner" not in shown
    assert re.findall(r'class="change (\w+)"[^>]*><title>([^<]*)', shown) == [
        ("comes", "0 s (05:42:26.6 UTC): i4: new in the group"),
        ("again", "0 s (05:42:26.6 UTC): i1: restarted"),
    ]
    assert "</svg>new in the group</li>" in shown
    assert "<code>assignor score --mode played</code> plays the past" in shown


def test_a_past_leads_to_the_picture_of_its_play() -> None:
    document = deepcopy(episodes())
    document["results"]["timelines"] = [
        {"group": "orders", "protocol": "classic", "decisions": [ENTRY, ENTRY], "given": GIVEN}
    ]
    waits = [[0, 500, 0]]
    gantt = {**GIVEN, "rows": [{"task": "0_0", "runs": [], "waits": waits}]}
    document["results"]["groups"][1]["answers"][0]["gantt"] = gantt
    shown = render_report(summary_of(document))
    assert '<a href="#state-2">When tasks were down is in the played picture</a>' in shown
    assert 'id="state-2"' in shown
    assert "no owner" in shown[shown.index('id="state-2"') :]


@pytest.mark.slow
def test_names_and_reasons_are_text() -> None:
    shown = page(joined=["<script>alert(1)</script>"])
    assert "<script>alert(1)" not in shown
    assert "<b>x</b>" not in shown
    assert "<i>orders</i>" not in shown


def test_the_selector_names_the_event_and_the_moves_of_each_decision() -> None:
    options = re.findall(r"<option value=\"state-\d+\">([^<]*)", render_report(summary_of(recorded_past())))
    assert options[1].endswith("04:29:01.393Z: cached metadata has changed; no task moves")
    assert options[3] == "orders-classic-2-generation-4, 2026-11-21 04:30:17.088Z: i4 joined; 4 tasks move"


def test_a_run_without_a_past_has_no_timeline() -> None:
    assert "What happened" not in render_report(summary_of(tagged()))


def test_a_state_is_named_with_its_time_where_that_is_known() -> None:
    assert state_name("orders-generation-3", 0, 1_795_239_746_656) == "orders-generation-3, 2026-11-21 05:42:26.656Z"
    assert state_name("orders-generation-3", 0) == "orders-generation-3"
    assert state_name("cc-1", 2, 0) == "cc-1, round 2, day 1 00:00:00.000"


def test_a_connect_groups_timeline_counts_jobs_and_has_no_copies() -> None:
    document = deepcopy(tagged())
    entry = {**ENTRY, "generation": None, "reason": "7 jobs taken away first", "missing": None}
    document["results"]["timelines"] = [
        {"group": "connect-main", "protocol": "sessioned", "moves": "jobs", "decisions": [entry]}
    ]
    shown = render_report(summary_of(document))
    for text in ("Jobs moved", "Workers", "1 rebalance", "7 jobs taken away first"):
        assert text in shown
    assert "Copies made" not in shown


def test_the_causes_of_rebalances_are_counted() -> None:
    """Reasons from consumers and coordinators of Kafka 4.3.1, as in the recorded group orders-2."""
    hands = "Updating metadata for member i1-1 during Stable; client reason: need to revoke partitions and re-join"
    probes = "Leader i2-1 re-joining group; client reason: triggered followup rebalance scheduled for 1795235401393"
    at_once = "Updating metadata for member i3-2; client reason: triggered followup rebalance scheduled for 0"
    comes = (
        "Adding new member i4-2 with group instance id null; client reason: need to re-join with the given member-id"
    )
    goes = "removing member i2-2 on heartbeat expiration."
    topics = "Leader i2-1 re-joining group during Stable; client reason: cached metadata has changed"
    assert cause_words([comes, hands, hands, probes, at_once, goes, topics, "the weather"]) == (
        "Why: 2 because members came or went, 2 to hand tasks over (the owners release them first, then all members "
        "join again), 1 to probe whether copies have caught up (probing.rebalance.interval.ms), 1 at once, as the "
        "decision before had requested, 1 because topics had changed and 1 for other reasons. So 3 of them answer "
        "something that happened; 4 follow from the decisions before."
    )
    assert "So " not in cause_words([comes, goes, hands])
    assert cause_words([comes, "", ""]) == ""
    assert cause_words([]) == ""


def test_where_reasons_are_told_a_past_says_its_causes_instead_of_what_was_to_follow() -> None:
    said = [{"reason": "client reason: need to revoke partitions and re-join"}] * 2
    told = past_words([TimelineDecision(**{**_FIELDS, **each}) for each in said])
    assert "2 to hand tasks over" in told
    assert "was to follow" not in told
    assert "requested a probing rebalance" in past_words([TimelineDecision(**_FIELDS), TimelineDecision(**_FIELDS)])


_FIELDS: dict[str, Any] = {
    "time_ms": 0, "generation": 1, "instances": 2, "members": 2, "joined": (), "gone": (), "restarted": (),
    "active_moved": 0, "copies_made": 0, "followup": "probing", "reason": "",
}  # fmt: skip


def test_of_a_single_history_the_verdict_says_who_is_best_in_what_and_how_often_it_rebalances_when_played() -> None:
    document = deepcopy(tagged())
    results = document["results"]
    results["states"] = results["headline"]["states"] = 1
    results["played"] = True
    for place in results["ranking"]["overall"]:
        place["place"] = 1
    results["timelines"] = [{"group": "orders", "protocol": "classic", "decisions": [ENTRY] * 48}]
    one = {"place": 1, "mean": 39.0, "assignor": "sticky"}
    model = results["ranking"]["by_metric"][0]["places"][0]
    ranked = {**results["ranking"]["by_metric"][0], "metric": "rebalances", "places": [{**model, **one}]}
    results["ranking"]["by_metric"].append(ranked)
    summary = summary_of(document)
    said = verdict(summary.results)
    assert said.startswith("high_availability did best in this history. Best in worst load: high_availability (0.50; ")
    assert "; Kafka itself " in said
    shown = render_report(summary)
    assert "48 rebalances are recorded; played, the same past has 39 under sticky." in shown
    assert "histories are too few" not in shown[: shown.index('id="timeline"')]


def test_report_and_summary_show_events_between_decisions(tmp_path: Path) -> None:
    folder = event_folder(tmp_path, "static")
    # Without Spark: a command in this process would end the session of other tests.
    document = scored([str(folder)], ["high_availability"], tmp_path / "run", past=PastTerms("independent"))
    (timeline,) = document["results"]["timelines"]
    assert [each["type"] for each in timeline["events"]] == [*["instance_restarted_in_session"] * 5, "group_emptied"]
    shown = render_report(summary_of(document))
    assert shown.count("b1 restarted within its session (static member)") >= 5
