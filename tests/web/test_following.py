"""A growing recording: its shown part, and its status."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.web import opened as opening
from assignor_lab.web.following import FollowedRecording
from assignor_lab.web.opened import opened
from tests.web.recordings import Growing

pytestmark = pytest.mark.slow


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    return Growing(tmp_path / "recording")


@pytest.fixture
def followed(growing: Growing, clock: Clock) -> FollowedRecording:
    config = config_sources(environ={}, start=growing.records.parent)
    folder = str(growing.records.parent)
    read = partial(opening._read, folder, [folder], discover(), config, lambda _sentence: None, PastTerms(plays=1))
    growing.seen_at(clock.now)
    return FollowedRecording(folder, growing.records, read, clock)


def decisions(followed: FollowedRecording) -> int:
    states = followed.states
    return 0 if states is None else len(states.entries)


@pytest.mark.slow
def test_a_recording_without_a_decision_is_followed_from_its_first_line(
    growing: Growing, followed: FollowedRecording, clock: Clock
) -> None:
    assert followed.states is None
    assert followed.pulse().word == "empty"
    clock.now += 5
    growing.written_to(growing.length, clock.now)
    assert decisions(followed) > 1
    assert followed.pulse().word == "recording"


def test_each_decision_is_there_once_it_was_written_and_the_version_tells(
    growing: Growing, followed: FollowedRecording, clock: Clock
) -> None:
    growing.written_to(growing.length // 2, clock.now)
    before, version = decisions(followed), followed.pulse().version
    clock.now += 5
    growing.written_to(growing.length, clock.now)
    assert decisions(followed) > before > 0
    assert followed.pulse().version > version


def test_what_tells_nothing_new_changes_no_version(growing: Growing, followed: FollowedRecording, clock: Clock) -> None:
    growing.written_to(growing.length, clock.now)
    version, states = followed.pulse().version, followed.states
    clock.now += 5
    growing.written_to(growing.length, clock.now, half=b'{"read_to":')
    assert followed.pulse().version == version
    assert followed.states is states


def test_half_a_line_is_waited_for(growing: Growing, followed: FollowedRecording, clock: Clock) -> None:
    growing.written_to(growing.length // 2, clock.now, half=b'{"offset":58,"t":17953633')
    assert followed.pulse().word == "recording"
    assert decisions(followed) > 0


def test_silence_is_said_and_so_is_that_it_goes_on(growing: Growing, followed: FollowedRecording, clock: Clock) -> None:
    growing.written_to(growing.length // 2, clock.now)
    assert "something was written 0 s ago" in followed.pulse().sentence
    clock.now += 200
    quiet = followed.pulse()
    assert quiet.word == "quiet"
    assert "Nothing was written for 3 min" in quiet.sentence
    growing.written_to(growing.length, clock.now)
    assert followed.pulse().word == "recording"


def test_what_was_read_stays_when_the_folder_goes_or_is_spoilt(
    growing: Growing, followed: FollowedRecording, clock: Clock
) -> None:
    growing.written_to(growing.length, clock.now)
    count = decisions(followed)
    clock.now += 5
    growing.written_to(growing.length, clock.now, half=b"nonsense\n")
    spoilt = followed.pulse()
    assert spoilt.word == "unreadable"
    assert "records.jsonl" in spoilt.sentence
    assert decisions(followed) == count
    shutil.rmtree(growing.records.parent)
    assert followed.pulse().word == "gone"
    assert decisions(followed) == count


def test_it_is_not_read_again_at_each_look(growing: Growing, followed: FollowedRecording, clock: Clock) -> None:
    growing.written_to(growing.length // 2, clock.now)
    before = decisions(followed)
    growing.written_to(growing.length, clock.now)
    assert decisions(followed) == before
    clock.now += 600
    assert decisions(followed) > before


def test_the_groups_of_a_recording_of_many_are_opened_one_by_one(tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    (many / "recording.jsonl").write_text("")
    for group in ("classic", "streams"):
        each = Growing(many / group, group)
        each.written_to(each.length, 1.0)
    config = config_sources(environ={}, start=tmp_path)
    found = opened([str(many)], discover(), config, lambda _sentence: None)
    assert [Path(source.name).name for source in found.sources] == ["classic", "streams"]
    assert [len(found.states(number).pasts) for number in range(2)] == [1, 1]
    shutil.rmtree(many / "classic")
    shutil.rmtree(many / "streams")
    with pytest.raises(HistoryError, match="no group yet"):
        opened([str(many)], discover(), config, lambda _sentence: None)
