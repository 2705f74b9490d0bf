"""Threads that are added to a running instance and removed from it, in both protocols."""

from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.scenarios import DocumentFormatError
from assignor_lab.simulation.streams.actions import action_name
from assignor_lab.simulation.streams.safety.rules import broken_rules
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from tests.simulation.streams.episodes import happens, started
from tests.simulation.streams.test_stalls import classic, said, streams


def threads(group: PlayedStreamsEpisode, name: str) -> list[int]:
    return [thread.number for thread in group.world.instances[name].threads]


def members(group: PlayedStreamsEpisode) -> list[int]:
    return [each.members for each in group.generations]


@pytest.mark.parametrize("play", [classic, streams])
def test_an_added_thread_joins_and_is_given_tasks(play: Any) -> None:
    group = play(happens("add_thread", "b", 60_500, joins_ms=200))
    assert threads(group, "b") == [1, 2]
    assert [at for at, _ in said(group, "thread_added")] == [60_500]
    assert members(group)[-1] == members(group)[0] + 1
    joined = [each for each in group.generations if each.prepared_ms - group.world.begin_ms >= 60_700]
    assert joined[0].prepared_ms - group.world.begin_ms < 61_000
    assert broken_rules(group) == []


@pytest.mark.parametrize("play", [classic, streams])
def test_a_removed_thread_leaves_at_once_and_its_process_stays(play: Any) -> None:
    group = play(happens("add_thread", "b", 60_500), happens("remove_thread", "b", 160_500))
    # Kafka removes the oldest thread.
    assert threads(group, "b") == [2]
    assert group.world.instances["b"].is_up
    left = [each for each in group.generations if each.prepared_ms - group.world.begin_ms >= 160_500]
    assert left[0].prepared_ms - group.world.begin_ms < 163_600  # streams: with the next heartbeat
    assert left[0].members == members(group)[0]
    assert [action_name(action) for action in group.actions][-2:] == ["add_thread", "remove_thread"]
    assert broken_rules(group) == []


def test_the_next_thread_has_the_least_number_that_is_free() -> None:
    group = classic(
        happens("add_thread", "b", 60_500), happens("remove_thread", "b", 160_500, thread=1),
        happens("add_thread", "b", 260_500),
    )  # fmt: skip
    assert threads(group, "b") == [2, 1]


def test_a_process_that_is_started_again_has_the_threads_that_are_configured() -> None:
    group = classic(
        happens("add_thread", "b", 60_500), happens("stop", "b", 120_000), started("b", 150_000),
    )  # fmt: skip
    assert threads(group, "b") == [1]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([happens("remove_thread", "b", 60_500)], "'b' has 1 thread: stop the instance"),
        ([happens("remove_thread", "b", 60_500, thread=3)], "'b' has 1 thread: there is no thread 3"),
        ([happens("add_thread", "c", 60_500)], "there is no instance 'c'"),
        (
            [happens("pause", "b", 60_500, for_ms=5_000), happens("add_thread", "b", 61_000)],
            "no add_thread can happen to it",
        ),
        (
            [
                happens("add_thread", "b", 60_500),
                happens("remove_thread", "b", 61_000, thread=1),
                happens("busy", "b", 62_000, for_ms=5, thread=1),
            ],
            "there is no thread 1",
        ),
    ],
)
def test_what_cannot_happen_is_refused_with_its_place(events: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(DocumentFormatError, match=words):
        classic(*events)
