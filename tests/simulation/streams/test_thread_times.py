"""Threads join and leave at times given in an episode."""

from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.scenarios import DocumentFormatError
from assignor_lab.simulation.streams.spread import spread_around
from tests.simulation.streams.episodes import happens, played, started

#: No additions of a machine.
STREAMS = {
    "streams_heartbeat_interval_ms": 3_000, "streams_session_timeout_ms": 10_000, "acknowledge_ms": 100, "leave_ms": 50,
    "acknowledge_new_ms": 100, "acknowledge_loop_ms": 100,
}  # fmt: skip


def moments(event: str, *events: dict[str, Any], protocol: str = "classic") -> list[tuple[int, str]]:
    found = played(list(events), protocol=protocol, timings=STREAMS)
    return [(entry.time_ms, entry.text) for entry in found.world.log.entries if entry.event == event]


@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_each_thread_joins_when_its_start_says(protocol: str) -> None:
    joined = moments("joins", started("a", threads=2, joins_ms=[700, 400]), protocol=protocol)
    assert [(at, text[:8]) for at, text in joined] == [(400, "thread 2"), (700, "thread 1")]


def test_a_thread_that_it_does_not_tell_of_joins_after_the_first_one_that_it_does() -> None:
    joined = moments("joins", started("a", threads=3, joins_ms=[None, 400]))
    assert [(at, text[:8]) for at, text in joined] == [(400, "thread 2"), (401, "thread 1"), (401, "thread 3")]


def test_the_next_start_is_one_as_any() -> None:
    joined = moments(
        "joins", started("a", joins_ms=[400]), happens("stop", "a", 60_000), started("a", 90_000)
    )  # fmt: skip
    assert [at for at, _ in joined] == [400, 91_000]


def test_member_ids_go_to_threads_in_the_order_in_which_they_join() -> None:
    joined = moments(
        "joins", started("a", threads=2, joins_ms=[700, 400], member_ids=["one", "two"]), protocol="streams"
    )
    assert [text for _, text in joined] == ["thread 2 joins as one", "thread 1 joins as two"]


def test_each_thread_leaves_a_streams_group_when_its_stop_says() -> None:
    left = moments(
        "removed", started("a", threads=3), started("b"), happens("stop", "a", 60_000, leaves_ms=[300, None, 20]),
        protocol="streams",
    )  # fmt: skip
    assert [at for at, _ in left] == [60_020, 60_050, 60_300]


def test_a_target_that_comes_between_two_leaves_sees_one_of_them() -> None:
    apart = played(
        [started("a", threads=2), started("b", threads=2), happens("stop", "a", 60_000, leaves_ms=[50, 5_000])],
        protocol="streams", timings=STREAMS,
    )  # fmt: skip
    assert [generation.members for generation in apart.generations][-2:] == [3, 2]


@pytest.mark.parametrize(
    "event", [started("a", joins_ms=400), started("a", joins_ms=[-1]), happens("stop", "a", 60_000, leaves_ms=["x"])]
)
def test_what_is_no_list_of_moments_is_refused_with_its_place(event: dict[str, Any]) -> None:
    events = [event] if event["type"] == "start" else [started("a"), event]
    with pytest.raises(DocumentFormatError, match=rf"events\[{len(events) - 1}\]\.(joins|leaves)_ms"):
        played(events)


def test_spread_durations_have_the_median_and_the_quartiles_that_are_asked_for() -> None:
    assert spread_around(137, 190, 0.5) == 137
    assert spread_around(137, 190, 0.75) - spread_around(137, 190, 0.25) == 190
    assert spread_around(137, 190, 0.99) > 1_000  # a machine is sometimes busy
    assert spread_around(137, 190, 0.0) == spread_around(137, 190, 0.01) > 0


def test_without_a_spread_a_duration_is_always_the_same() -> None:
    assert {spread_around(100, 0, drawn) for drawn in (0.0, 0.3, 0.99)} == {100}
    assert spread_around(0, 190, 0.9) == 0
