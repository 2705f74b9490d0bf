"""Published incidents, played: how close the figures come, and that the page says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.episode_format import read_episode
from assignor_lab.simulation.streams.named_episodes import EPISODES, NamedEpisode

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "streams-episodes.md"


def figure(named: NamedEpisode) -> float:
    episode = read_episode(scenario_from_document(named.document(), Place(named.name)))
    return named.figure(play(episode, discover(), config_sources(environ={}), keep_log=False)[1])


@pytest.mark.parametrize("named", EPISODES.values(), ids=lambda named: named.name)
def test_a_published_figure_is_come_near_to_and_the_page_says_how_near(named: NamedEpisode) -> None:
    found = figure(named)
    at_least = "or more" in named.unit
    assert found >= named.published if at_least else found == pytest.approx(named.published, rel=0.25)
    row = f"| `{named.name}` | {named.source}: {named.told} | {found:.1f} {named.unit.removesuffix(' or more')} |"
    assert row in PAGE.read_text(encoding="utf-8")
