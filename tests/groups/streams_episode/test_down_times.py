"""Downtimes of a play's tasks: the same time as in its totals, by cause, and each task's owners."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from assignor_lab.documents.values import plain_document
from assignor_lab.groups.streams_episode import down_times as module
from assignor_lab.groups.streams_episode.down_times import CAUSES, down_times
from assignor_lab.groups.streams_episode.snapshots import _rebalances
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from tests.groups.streams_episode.test_episode_kind import answers

NAMES = ("high_availability", "group_sticky_4_4")


@pytest.fixture(scope="module")
def plays() -> dict[str, tuple[PlayedStreamsEpisode, dict[str, Any]]]:
    found = {}
    for name, each in answers(*NAMES).items():
        assert each.outcome.answer is not None
        found[name] = (each.outcome.answer.played, attrs.asdict(each.outcome.answer.totals))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_causes_add_up_to_the_totals(plays: dict[str, tuple[PlayedStreamsEpisode, dict[str, Any]]], name: str) -> None:
    played, totals = plays[name]
    down = plain_document(down_times(played.history))
    by_cause = dict.fromkeys(CAUSES, 0)
    for task in down["tasks"]:
        assert task["down_ms"] == sum(to - begin for begin, to, *_ in task["intervals"])
        for begin, to, cause, *_ in task["intervals"]:
            by_cause[CAUSES[cause]] += to - begin
    assert by_cause == dict(zip(down["causes"], down["by_cause_ms"], strict=True))
    assert {cause: length / 1000 for cause, length in by_cause.items() if length} == {
        cause: length for cause, length in totals["unavailable_by_cause_s"].items() if length
    }
    assert sum(by_cause.values()) / 1000 == totals["unavailable_task_s"]
    assert down["tasks"][0]["down_ms"] / 1000 == totals["worst_task_s"]


@pytest.mark.parametrize("name", NAMES)
def test_who_crashed_had_it_before(plays: dict[str, tuple[PlayedStreamsEpisode, dict[str, Any]]], name: str) -> None:
    down = plain_document(down_times(plays[name][0].history))
    unnoticed = {
        (down["instances"][before], down["instances"][after], begin)
        for task in down["tasks"]
        for begin, _, cause, before, after in task["intervals"]
        if CAUSES[cause] == "not_noticed"
    }
    assert {who for who, _, _ in unnoticed} == {"b"}
    assert {who for _, who, _ in unnoticed} == {"a"}
    assert {begin for _, _, begin in unnoticed} == {100_000}


def test_stretches_count_once_and_the_first_was_nobodys(
    plays: dict[str, tuple[PlayedStreamsEpisode, dict[str, Any]]],
) -> None:
    for played, _ in plays.values():
        for task in plain_document(down_times(played.history))["tasks"]:
            begins = [begin for begin, *_ in task["intervals"]]
            ends = [to for _, to, *_ in task["intervals"]]
            assert task["times"] == 1 + sum(begin != to for begin, to in zip(begins[1:], ends, strict=False))
            assert task["intervals"][0][3] == -1


def test_a_simulated_clock_is_no_time_of_day(plays: dict[str, tuple[PlayedStreamsEpisode, dict[str, Any]]]) -> None:
    assert down_times(plays[NAMES[0]][0].history).begun_ms is None


def test_what_is_left_out_is_counted(
    plays: dict[str, tuple[PlayedStreamsEpisode, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    played = plays[NAMES[0]][0]
    whole = plain_document(down_times(played.history))
    monkeypatch.setattr(module, "MOST_TASKS", 1)
    monkeypatch.setattr(module, "MOST_INTERVALS", 3)
    down = plain_document(down_times(played.history))
    assert (len(down["tasks"]), down["tasks_left_out"]) == (1, len(whole["tasks"]) - 1)
    (task,) = down["tasks"]
    assert len(task["intervals"]) <= 3
    assert len(task["intervals"]) + task["intervals_left_out"] == len(whole["tasks"][0]["intervals"])
    assert task["down_ms"] == whole["tasks"][0]["down_ms"]
    assert down["by_cause_ms"] == whole["by_cause_ms"]


def test_a_rebalance_says_when_all_tasks_ran_again(
    plays: dict[str, tuple[PlayedStreamsEpisode, dict[str, Any]]],
) -> None:
    """A task with a departed owner that is not yet noticed waits for the next rebalance, and does not count."""
    for played, _ in plays.values():
        down = plain_document(down_times(played.history))
        noticed = [
            (begin, to)
            for task in down["tasks"]
            for begin, to, cause, *_ in task["intervals"]
            if CAUSES[cause] not in ("not_noticed", "nobody")
        ]
        rows = plain_document(_rebalances(played.history))
        begins = [each.prepared_ms - played.first_ms for each in played.generations]
        assert any(row["running_ms"] for row in rows)
        for row, limit in zip(rows, [*begins[1:], 10**9], strict=True):
            ends = [to for begin, to in noticed if begin < limit]
            if row["running_ms"] is None:
                assert max(ends) >= limit
            else:
                assert row["running_ms"] == max(0, max(ends) - row["at_ms"])
                assert max(ends) < limit
