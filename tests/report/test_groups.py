"""Connect groups in the report: jobs of each worker before and after, and the course of an episode."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import attrs
import pytest

from assignor_lab.model.run_summary import metrics_by_group
from assignor_lab.report import render_report
from assignor_lab.report.sections.groups import MANY_WORKERS, group_panel
from assignor_lab.scoring.output.summary_file import summary_of
from tests.report.group_summaries import connect, episodes, hostile_connect, hostile_episodes
from tests.report.summaries import HOSTILE_SHOWN


def groups_of(document: dict[str, Any]) -> Any:
    return summary_of(document).results.groups


def test_a_rebalance_shows_each_worker_before_and_after() -> None:
    group = groups_of(connect())[0]
    panel = group_panel(1, group, {"connect_eager": "Eager"})
    assert not panel.is_episode
    assert [column.name for column in panel.columns] == ["connect_incremental", "Eager", "connect_static"]
    busiest = max(row.before.jobs for row in panel.rows)
    most = max(busiest, *(each.load.jobs for row in panel.rows for each in row.after if each))
    for row in panel.rows:
        assert row.before.length == round(100 * row.before.jobs / most, 1)
        for cell, before in ((each, row.before) for each in row.after if each):
            changed = (len(cell.worker.starts) + cell.worker.more_starts) - (
                len(cell.worker.stops) + cell.worker.more_stops
            )
            assert cell.load.jobs == before.jobs + changed


def test_the_first_rebalance_that_moves_a_job_is_open() -> None:
    document = deepcopy(connect())
    first, second, *_ = groups = document["results"]["groups"]
    assert len(groups) > 1
    for answer in first["answers"]:
        for worker in answer["workers"]:
            worker |= {"stops": [], "more_stops": 0}
    assert any(worker["stops"] for answer in second["answers"] for worker in answer["workers"])
    shown = render_report(summary_of(document))
    assert re.findall(r'id="(state-\d+)" open', shown) == ["state-2"]


def test_what_an_answer_does_is_told_in_words() -> None:
    group = groups_of(connect())[0]
    worker = attrs.evolve(group.answers[0].workers[0], starts=("a",), more_starts=0, stops=("b", "c"), more_stops=3)
    answer = attrs.evolve(
        group.answers[0], workers=(worker,), stops_all=True, delay_ms=300_000, rounds=None, error=None
    )
    panel = group_panel(1, attrs.evolve(group, workers=group.workers[:1], answers=(answer,)), {})
    assert panel.columns[0].words == (
        "everything stops for it; 1 job starts on another worker or for the first time; 5 jobs leave their worker; all "
        "join again after 300 s; the group does not come to rest"
    )


def test_workers_to_which_nothing_happens_are_counted_in_large_groups() -> None:
    group = groups_of(connect())[0]
    still = attrs.evolve(group.answers[0].workers[0], starts=(), more_starts=0, stops=(), more_stops=0)
    moved = attrs.evolve(still, starts=("a-0",))
    sizes = tuple(attrs.evolve(group.workers[0], id=f"w{number}") for number in range(MANY_WORKERS))
    workers = (*(still for _ in range(MANY_WORKERS - 1)), moved)
    answer = attrs.evolve(group.answers[0], workers=workers)
    panel = group_panel(1, attrs.evolve(group, workers=sizes, answers=(answer,)), {})
    assert [row.name for row in panel.rows] == [f"w{MANY_WORKERS - 1}"]
    assert panel.unchanged == MANY_WORKERS - 1


def test_the_page_has_a_picture_for_each_group() -> None:
    document = connect()
    page = render_report(summary_of(document))
    assert page.count('<details class="state group"') == len(document["results"]["groups"])
    assert '<a href="#groups">' in page
    assert 'id="placements"' not in page
    # A worst case in the figures leads to its picture.
    assert 'href="#state-1"' in page


def test_an_episode_has_a_timeline_and_its_rebalances_for_each_assignor() -> None:
    document = episodes()
    page = render_report(summary_of(document))
    assert page.count('<pre class="timeline"') == sum(len(each["answers"]) for each in document["results"]["groups"])
    assert "one column = " in page
    assert "Rebalances under connect_eager" in page


def test_an_assignor_without_an_answer_says_why() -> None:
    for document in (connect(), episodes()):
        answer = document["results"]["groups"][0]["answers"][0]
        error = {"type": "ValueError", "java_type": None, "message": "no idea"}
        answer.update(error=error, workers=None, timeline=[], rebalances=[], rounds=None, delay_ms=None)
        page = render_report(summary_of(document))
        assert "no answer" in page
        assert ("ValueError: no idea" in page) is (document["results"]["groups"][0]["kind"] == "connect-episode")


@pytest.mark.parametrize("document", [hostile_connect, hostile_episodes])
def test_names_are_text_whatever_they_contain(document: Any) -> None:
    page = render_report(summary_of(document()))
    assert "<img" not in page.replace("&lt;img", "")
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "hacked=1" in HOSTILE_SHOWN
    assert "hacked=1" in page


def test_a_summary_from_before_has_no_groups() -> None:
    document = deepcopy(connect())
    del document["results"]["groups"]
    assert groups_of(document) == ()
    assert 'id="groups"' not in render_report(summary_of(document))


def test_a_metric_joins_its_group_wherever_it_stands() -> None:
    results = summary_of(episodes()).results
    names = [metric.group for metric in results.metrics]
    assert names != sorted(names, key=names.index)
    groups = metrics_by_group(results)
    assert [name for name, _ in groups] == list(dict.fromkeys(names))
    assert sum(len(metrics) for _, metrics in groups) == len(names)
