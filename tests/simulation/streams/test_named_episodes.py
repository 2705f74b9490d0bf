"""Published incidents, simulated: the errors of the figures are those on the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from assignor_lab.simulation.consumer.named_episodes import CONSUMER_EPISODES
from assignor_lab.simulation.streams.named_episodes import EPISODES, NamedStreamsEpisode
from benchmarks.streams_incidents import BEGIN, END, PAGE, figure, row, write_page


@pytest.mark.parametrize("named", EPISODES.values(), ids=lambda named: named.name)
def test_a_published_figure_is_come_near_to_and_the_page_says_how_near(named: NamedStreamsEpisode) -> None:
    found = figure(named)
    assert named.is_met(found)
    assert row(named, found) in PAGE.read_text(encoding="utf-8")


def test_a_figure_that_is_too_far_off_is_none_that_meets_the_published_one() -> None:
    named = EPISODES["close-without-leaving"]
    assert not named.is_met(56.5)
    assert not named.is_met(33.0)
    assert not EPISODES["scale-out-without-warm-ups"].is_met(0.9)
    assert not EPISODES["rolling-restart-static"].is_met(2.0)


def test_the_command_writes_the_table_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    write_page("| new |", page)
    assert page.read_text(encoding="utf-8") == f"before\n{BEGIN}\n| new |\n{END}\nafter\n"


@pytest.mark.slow
def test_every_named_episode_is_listed_and_can_be_printed_and_changed() -> None:
    runner = CliRunner()
    listed = json.loads(runner.invoke(build_app(), ["simulate", "--list", "--json"]).stdout)
    assert [each["name"] for each in listed] == [*EPISODES, *CONSUMER_EPISODES]
    for name, named in EPISODES.items():
        printed = runner.invoke(build_app(), ["simulate", name, "--document"]).stdout
        assert json.loads(printed) == named.document()
        assert named.document()["id"] == name
