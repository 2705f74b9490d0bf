"""A past as a whole: its page, and the steps and views of its decisions."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from assignment_api.plugins import config_sources
from assignor_lab.runtime.discovery import discovered
from assignor_lab.web.errors import NotThereError
from assignor_lab.web.opened import opened
from assignor_lab.web.view_answers import ViewAnswers
from tests.capture.event_recordings import event_folder
from tests.web.pages import TOKEN, Page
from tests.web.recordings import Growing


@pytest.fixture(scope="module")
def growing(tmp_path_factory: pytest.TempPathFactory) -> Growing:
    made = Growing(tmp_path_factory.mktemp("past") / "recording")
    made.written_to(made.length, 1_000_000.0)
    return made


@pytest.fixture(scope="module")
def asking(growing: Growing) -> Iterator[ViewAnswers]:
    config = config_sources(environ={}, start=growing.records.parent)
    plugins = discovered(config.effective())
    found = opened([str(growing.records.parent)], plugins.registry, config, lambda _sentence: None)
    made = ViewAnswers(found, plugins, config)
    yield made
    made.close()


@pytest.fixture
def page(asking: ViewAnswers) -> Page:
    made = Page(asking)
    made.get(f"/?token={TOKEN}")
    return made


@pytest.mark.slow
def test_the_list_leads_to_the_past_and_says_how_the_recording_stands(page: Page) -> None:
    text = page.get("/").text
    assert 'href="/history?s=0&amp;n=0"' in text
    assert "Nothing was written for" in text
    assert "Last decision 2026-" in text
    assert "Play its past again" in text


def test_each_decision_of_the_past_leads_to_its_state(page: Page, asking: ViewAnswers) -> None:
    text = page.get("/history?s=0").text
    (past,) = asking.opened.states(0).pasts
    links = re.findall(r'<th scope="row"><a href="(/state[^"]+)">', text)
    assert len(links) == len(past.decisions) > 2
    assert 'class="gantt"' in text
    for link in links[:3]:
        assert "Who runs what in" in page.get(link.replace("&amp;", "&")).text


def test_one_steps_through_the_decisions_forward_and_back(page: Page, asking: ViewAnswers) -> None:
    count = len(asking.opened.states(0).pasts[0].decisions)

    def link(text: str, name: str) -> str:
        return re.search(rf'href="([^"]+)">{name}</a>', text)[1].replace("&amp;", "&")  # type: ignore[index]

    first = page.get("/state?s=0&n=0").text
    assert f"Decision 1 of {count}" in first
    assert ">Previous<" not in first
    second = page.get(link(first, "Next")).text
    assert f"Decision 2 of {count}" in second
    assert f"Decision 1 of {count}" in page.get(link(second, "Previous")).text
    last = page.get(link(second, "Last")).text
    assert f"Decision {count} of {count}" in last
    assert ">Next<" not in last
    assert "What happened" not in last
    assert "/history?s=0" in link(last, "All of them: what happened")


def test_a_step_keeps_who_is_asked_and_leaves_the_changes_of_the_state_behind(page: Page) -> None:
    text = page.get(
        "/state?s=0&n=3&a=sticky&c=num.standby.replicas%3D2&e=%5B%5B%5B%5B%22clients%22%2C0%5D%5D%5D%5D"
    ).text
    steps = re.findall(r'href="([^"]+)">(?:Previous|Next)</a>', text)
    assert len(steps) == 2
    assert all("a=sticky" in step and "num.standby.replicas" in step and "e=" not in step for step in steps)


def test_the_pulse_is_asked_alone(page: Page) -> None:
    told = page.get("/pulse?s=0").json()
    assert told["word"] == "quiet"
    assert type(told["version"]) is int
    assert page.get("/pulse?s=9").status_code == 404


def test_an_unknown_past_is_no_page(page: Page) -> None:
    assert page.get("/history?s=7").status_code == 404


def test_a_file_that_changes_on_disk_is_shown_as_it_was_and_this_is_said(tmp_path: Path, asking: ViewAnswers) -> None:
    states = tmp_path / "states.jsonl"

    states.write_text(json.dumps(asking.opened.states(0).scenarios[0].document) + "\n")
    found = opened([str(states)], asking.plugins.registry, asking.config, lambda _sentence: None)
    page = Page(ViewAnswers(found, asking.plugins, asking.config))
    page.get(f"/?token={TOKEN}")
    assert "what was read then" not in page.get("/state?s=0").text
    os.utime(states, (5, 5))
    assert "has changed since it was opened" in page.get("/state?s=0").text
    states.unlink()
    text = page.get("/state?s=0").text
    assert "is not there any more" in text
    assert "Who runs what in" in text


def test_the_past_of_a_connect_group_has_lanes_of_workers_and_jobs_and_leads_to_its_rounds(
    tmp_path: Path, asking: ViewAnswers
) -> None:
    growing = Growing(tmp_path / "connect", "real-connect")
    growing.written_to(growing.length, 1_000_000.0)
    found = opened([str(tmp_path / "connect")], asking.plugins.registry, asking.config, lambda _sentence: None)
    page = Page(ViewAnswers(found, asking.plugins, asking.config))
    page.get(f"/?token={TOKEN}")
    text = page.get("/history?s=0").text
    assert text.count('class="gantt"') == 2
    assert ": 2 jobs taken away first</title>" in text
    assert "Play it again" not in text
    (past,) = found.states(0).pasts
    links = re.findall(r'<th scope="row"><a href="(/state[^"]+)">', text)
    assert len(links) == len(past.decisions) == 12
    last = page.get(links[-1].replace("&amp;", "&")).text
    assert "Round 12 of 12" in last
    assert "/history?s=0" in last
    assert "round by round" in page.get("/state?s=0&past=0").text


def test_nobody_lacks_a_job_before_it_is_configured(tmp_path: Path, asking: ViewAnswers) -> None:
    growing = Growing(tmp_path / "connect", "real-connect")
    growing.written_to(growing.length, 1_000_000.0)
    found = opened([str(tmp_path / "connect")], asking.plugins.registry, asking.config, lambda _sentence: None)
    (past,) = found.states(0).pasts
    assert past.members is not None
    assert not any(row.waits for row in past.members.rows)
    for row in past.gantt.rows:
        assert all(begin >= row.runs[0][1] for begin, _, _ in row.waits)


def test_half_a_folder_of_a_run_is_told_as_that(tmp_path: Path, asking: ViewAnswers) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(NotThereError, match=r"summary\.json is missing"):
        opened([str(tmp_path)], asking.plugins.registry, asking.config, lambda _sentence: None)


@pytest.mark.parametrize(
    ("group", "sentence", "count"),
    [
        ("static", "b1 restarted within its session (static member)", 5),
        ("outage", "all instances are gone: the group is empty", 2),
        ("moved", "the group moved from the classic protocol to the streams protocol", 1),
        ("streamed", "f2 left, or its session ended", 2),
    ],
)
def test_events_between_decisions_are_rows_of_the_page(group: str, sentence: str, count: int, tmp_path: Path) -> None:
    folder = event_folder(tmp_path, group)
    config = config_sources(environ={}, start=folder)
    plugins = discovered(config.effective())
    views = ViewAnswers(opened([str(folder)], plugins.registry, config, lambda _sentence: None), plugins, config)
    try:
        page = Page(views)
        page.get(f"/?token={TOKEN}")
        rows = re.findall(r"<tr>.*?</tr>", page.get("/history?s=0").text, re.DOTALL)
    finally:
        views.close()
    assert sum(sentence in row and "<a " not in row for row in rows) == count


def test_a_group_that_moved_shows_the_decisions_of_both_protocols(tmp_path: Path) -> None:
    folder = event_folder(tmp_path, "moved")
    config = config_sources(environ={}, start=folder)
    plugins = discovered(config.effective())
    views = ViewAnswers(opened([str(folder)], plugins.registry, config, lambda _sentence: None), plugins, config)
    try:
        page = Page(views)
        page.get(f"/?token={TOKEN}")
        text = page.get("/history?s=0").text
        first = page.get("/state?s=0&n=0").text
    finally:
        views.close()
    rows = re.findall(r"<tr><th.*?</tr>", text, re.DOTALL)
    numbers = [found[1] for row in rows if (found := re.search(r'class="number">(\d+)</td><td class="number">', row))]
    assert numbers == ["1", "2", "3", "4", "2", "3", "4"]
    assert sum("<a " in row for row in rows) == 3
    assert "Decision 1 of 3" in first
