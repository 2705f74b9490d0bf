from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.report import render_report
from assignor_lab.report.view import Panel, page, panel
from assignor_lab.scoring.output.summary_file import summary_of
from tests.report.group_summaries import hostile_members, members
from tests.report.summaries import HOSTILE_SHOWN, tagged


def panels(document: dict[str, Any]) -> list[Panel]:
    summary = summary_of(document)
    return [
        panel(number, each, page(summary).names, ()) for number, each in enumerate(summary.results.placements, start=1)
    ]


def test_the_size_is_told_by_processes_and_members() -> None:
    assert [each.size for each in panels(members())] == [
        "3 processes with 8 members, 24 tasks",
        "4 processes with 8 members, 18 tasks",
        "4 processes with 8 members, 24 tasks",
    ]
    assert all(each.size.startswith(f"{len(each.placement.clients)} client") for each in panels(tagged()))


def test_a_process_says_once_where_it_is() -> None:
    for each in panels(members()):
        rows = [row for row in each.rows if row.row.client]
        processes = [row.row.client.process for row in rows if row.row.client]
        assert [row.further for row in rows] == [
            index > 0 and process == processes[index - 1] for index, process in enumerate(processes)
        ]


def test_a_change_of_thread_is_no_move_of_state() -> None:
    document = members()
    state = document["results"]["placements"][0]
    first, second = (client["process_id"] for client in state["clients"][:2])
    assert state["clients"][0]["process"] == state["clients"][1]["process"]
    nobody: dict[str, Any] = {
        client["process_id"]: {"active": [], "standby": [], "warmup": []} for client in state["clients"]
    }
    state["before"] = {**nobody, first: {"active": ["0_0"], "standby": [], "warmup": []}}
    state["after"] = [{**state["after"][0], "assignment": {**nobody, second: state["before"][first]}}]
    document["results"]["placements"] = [state]
    (shown,) = panels(document)
    assert shown.columns[0].words == "1 task changes its thread"
    report = render_report(summary_of(document))
    assert "of the same process." in report
    assert "was on another thread of this process before" in report


@pytest.mark.slow
def test_what_only_members_have_is_not_in_the_legend_of_others() -> None:
    assert "another thread of this process" not in render_report(summary_of(tagged()))


def test_static_members_are_named() -> None:
    report = render_report(summary_of(members()))
    assert "(app-9070-0-1) of process" in report


def test_hostile_names_are_text() -> None:
    report = render_report(summary_of(hostile_members()))
    assert HOSTILE_SHOWN.partition("<")[0] in report
    assert "<img" not in report
