"""Simulation of a recorded history: assignors, comparison with the recording, a deadline, and progress."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assignment_api.plugins import config_sources
from assignor_lab.capture.histories.episodes import past_as_episodes
from assignor_lab.compare.plays import compared_plays
from assignor_lab.documents.wording import mean
from assignor_lab.groups.streams_episode.kind import STREAMS_EPISODE as KIND
from assignor_lab.groups.streams_episode.past_plays import with_plays
from assignor_lab.groups.streams_episode.replaying import replay
from assignor_lab.groups.variants import as_variant
from assignor_lab.runtime.discovery import discovered
from assignor_lab.simulation.patience import still_waited_for
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.verification.verified import group_sources
from assignor_lab.web.address import View
from assignor_lab.web.errors import PageError
from assignor_lab.web.following import FollowedRecording
from assignor_lab.web.opened import opened
from assignor_lab.web.plays import MOST_WAITING, PlayProgress, Plays
from assignor_lab.web.replaying import MOST_PLAYS
from assignor_lab.web.states import OpenedStates
from assignor_lab.web.view_answers import ViewAnswers
from tests.web.pages import TOKEN, Page
from tests.web.recordings import Growing


def asking_about(folder: Path, path: Path, seconds: float = 60.0) -> ViewAnswers:
    config = config_sources(environ={}, start=folder)
    plugins = discovered(config.effective())
    found = opened([str(path)], plugins.registry, config, lambda _sentence: None)
    return ViewAnswers(found, plugins, config, seconds=seconds)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Growing(tmp_path_factory.mktemp("past") / "recording")
    made.written_to(made.length, 1_000_000.0)
    return made.records.parent


@pytest.fixture(scope="module")
def asking(folder: Path) -> Iterator[ViewAnswers]:
    made = asking_about(folder.parent, folder)
    yield made
    made.close()


def opened_page(asking: ViewAnswers) -> Page:
    made = Page(asking)
    made.get(f"/?token={TOKEN}")
    return made


def played(page: Page, query: str) -> str:
    """A page once its plays are done."""
    while 'id="underway"' in (text := page.get(f"/state?{query}").text):
        pass
    return text


@pytest.mark.slow
def test_a_past_is_played_as_replay_plays_it_by_another_assignor_and_under_another_protocol(
    asking: ViewAnswers, folder: Path
) -> None:
    text = played(opened_page(asking), "s=0&past=0&a=sticky&a=group_sticky")
    contenders = [as_variant("sticky"), as_variant("other=group_sticky,group.protocol=streams")]
    for each in replay(episode_played(asking, folder), asking.plugins.registry, asking.config, contenders):
        assert each.figures is not None
        assert f">{mean(each.figures['unavailable_task_seconds'], 'task-seconds')}" in html.unescape(text)
    assert text.count('class="gantt"') == 3
    # Both plays, and the recording with the times without an owner.
    assert text.count("down-worst") == 3
    assert "--mode played --assignor sticky --assignor group_sticky" in html.unescape(text)


def episode_played(asking: ViewAnswers, folder: Path) -> StreamsEpisode:
    """The past with the draws of a page."""
    (past,) = past_as_episodes([str(folder)])
    drawn = with_plays(past, asking.plugins.registry, group_sources(asking.config), MOST_PLAYS)
    return read_episode(drawn)


def test_the_verdict_of_a_verified_past_is_that_of_replay(
    asking: ViewAnswers, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without this recording's configuration the page has a banner and no verdict.
    assert 'class="verdict"' not in played(opened_page(asking), "s=0&past=0&a=sticky&a=group_sticky")
    monkeypatch.setattr(OpenedStates, "banner", [])
    text = played(opened_page(asking), "s=0&past=0&a=sticky&a=group_sticky")
    episode = episode_played(asking, folder)
    played_rows = replay(episode, asking.plugins.registry, asking.config, map(as_variant, ("sticky", "group_sticky")))
    metrics = {name: found.plugin for name, found in KIND.metrics(asking.plugins.registry).items()}
    rows = {each.contender.name: each.row for each in played_rows}
    verdict = compared_plays(rows, KIND.headline, metrics, {}).verdict
    assert f'<p class="verdict">{verdict}</p>' in html.unescape(text)


def test_what_really_happened_stands_beside_it(asking: ViewAnswers) -> None:
    page = opened_page(asking)
    (link,) = re.findall(r'href="(/state\?s=0&amp;past=0)"', page.get("/history?s=0").text)
    text = played(page, html.unescape(link).partition("?")[2])
    decisions = len(asking.opened.states(0).pasts[0].decisions)
    row = text[text.index("Rebalances</th>") :].partition("</tr>")[0]
    assert re.findall(r"<td class=\"number\">(\d+)", row)[-1] == str(decisions)
    assert "Recorded outcome" in text
    done = text[text.index("done-caption") :].partition("</table>")[0]
    assert done.count(" stable after ") > 2


def test_there_is_no_other_past(asking: ViewAnswers) -> None:
    assert opened_page(asking).get("/state?s=0&past=1").status_code == 404


@pytest.mark.slow
def test_the_past_of_a_recording_that_grows_is_played_as_it_was_when_it_was_asked_for(tmp_path: Path) -> None:
    growing = Growing(tmp_path / "recording")
    growing.written_to(growing.length // 2, 1_000_000.0)
    asking = asking_about(tmp_path, growing.records.parent)
    view = View(past=0)
    before = asking.scenario(view)
    growing.written_to(growing.length, 2_000_000.0)
    followed = asking.opened.sources[0]
    assert isinstance(followed, FollowedRecording)
    followed._not_before = 0.0  # the next read is due a second later at the earliest
    assert len(asking.opened.states(0).scenarios) > len(before.document["recorded"]["generations"])
    assert asking.scenario(view) is before
    asking._pinned_s.clear()
    assert len(asking.scenario(view).document["recorded"]["generations"]) > len(
        before.document["recorded"]["generations"]
    )
    asking.close()


@pytest.mark.slow
def test_a_play_that_takes_too_long_is_a_sentence(folder: Path) -> None:
    asking = asking_about(folder.parent, folder, seconds=0.0)
    text = played(opened_page(asking), "s=0&past=0&a=sticky")
    asking.close()
    assert "No answer: GivenUpError: given up after 0 s" in text
    assert "Recorded outcome" in text


def endless(begun: threading.Event) -> Callable[[Callable[[], None]], str]:
    def work(_done: Callable[[], None]) -> str:
        look = still_waited_for()
        assert look is not None
        while True:
            look(250_000, 900_000)
            begun.set()

    return work


def test_meanwhile_it_says_how_far_it_is_and_then_gives_up() -> None:
    plays: Plays[str] = Plays(60.0)
    begun = threading.Event()
    first = plays.wait("first", endless(begun), 2, 0.0)
    assert begun.wait(10)
    told = plays.wait("first", endless(begun), 2, 0.0)
    second = plays.wait("second", endless(begun), 1, 0.0)
    assert isinstance(first, PlayProgress)
    assert isinstance(told, PlayProgress)
    assert isinstance(second, PlayProgress)
    assert "0 of 2 contenders done, the next one is at 250 s of 900 s" in told.sentence
    assert "another play" in second.sentence
    for number in range(MOST_WAITING - 2):
        plays.wait(number, endless(begun), 1, 0.0)
    with pytest.raises(PageError, match="under way"):
        plays.wait("one more", endless(begun), 1, 0.0)
    plays.close()


def test_what_a_play_raises_is_raised_for_who_asks_and_nothing_is_kept_of_it() -> None:
    plays: Plays[str] = Plays()

    def fails(_done: Callable[[], None]) -> str:
        raise PageError("no")

    with pytest.raises(PageError, match="no"):
        plays.wait("it", fails, 1, 10.0)
    assert plays.wait("it", lambda _done: "yes", 1, 10.0) == "yes"
