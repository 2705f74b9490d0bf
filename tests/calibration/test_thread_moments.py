"""Threads of a recorded episode join and leave at the recorded moments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from calibration.episodes import import_episode

CAPTURES = Path(__file__).parents[1] / "data" / "captures"


def events(timeline: str, folder: str, kind: str) -> list[dict[str, Any]]:
    document = import_episode(CAPTURES / "timelines" / f"{timeline}.json.gz", CAPTURES / folder)
    return [event for event in document["events"] if event["type"] == kind]


@pytest.mark.slow
def test_every_thread_of_a_streams_group_joins_when_its_broker_had_written_that_it_did() -> None:
    starts = events("orders-group-3", "orders-group-3", "start")
    assert [(event["client"], event["joins_ms"]) for event in starts[:3]] == [
        ("i1", [2877, 2888]), ("i2", [3342, 3338]), ("i3", [3085, 3076]),
    ]  # fmt: skip


def test_and_leaves_when_it_wrote_that_it_did() -> None:
    stops = events("orders-group-3", "orders-group-3", "stop")
    # Thread 2 left a quarter of a second after thread 1; a target came in between.
    assert (stops[0]["client"], stops[0]["leaves_ms"]) == ("i1", [72, 349])


@pytest.mark.slow
def test_in_a_classic_group_the_thread_that_set_the_rebalance_off_is_told_of() -> None:
    starts = events("orders-classic-2", "orders-2", "start")
    assert (starts[1]["client"], starts[1]["joins_ms"]) == ("i2", [4410, None])
    assert (starts[3]["client"], starts[3]["joins_ms"]) == ("i4", [None, 7247])


@pytest.mark.slow
def test_who_is_not_told_of_in_an_empty_group_joined_after_the_one_who_is() -> None:
    starts = events("orders-classic-2", "orders-2", "start")
    first = starts[1]["at_ms"] + 4410
    for event in (starts[0], starts[2]):
        assert event["joins_ms"] == [first - event["at_ms"] + 1] * 2


@pytest.mark.slow
def test_where_that_is_what_usually_happens_nothing_is_said() -> None:
    starts = events("tagged-classic", "tagged", "start")
    assert [("joins_ms" in event) for event in starts[:3]] == [False, False, True]


def test_static_members_are_known_by_their_instance_id_and_number() -> None:
    starts = events("plain-classic", "plain", "start")
    assert starts[0]["joins_ms"] == [6563, None]
    # A start without a rebalance has no information.
    assert "joins_ms" not in starts[2]
