"""Recorded decisions of many small applications come out again, with and without the text of the topology."""

from __future__ import annotations

import pytest

from tests.capture.topology_recordings import STREAMS, unpacked

#: Applications of the archive; a test compares them with it.
CLASSIC = (
    "exactlyonce", "foreignkey", "foreignkeynamed", "globalstore", "many", "merge", "optimised", "optimisedlist",
    "orders", "orders-eu", "ownrepartition", "pattern", "plaintable", "readonly", "severalstores", "sharedstore",
    "stale", "stateless", "streamjoin", "suppressed", "tablejoin", "twostateless", "unlogged", "windows",
)  # fmt: skip
STREAMS_ONLY_CLASSIC = {"pattern"}
#: Without a text their changelogs are unknown, or others fit better, and lags differ from the leader's.
NOT_WITHOUT_TOPOLOGY = {"many", "stale", "tablejoin"}


def test_each_application_was_recorded_in_each_protocol_that_allows_it() -> None:
    streams = [f"{name}{STREAMS}" for name in CLASSIC if name not in STREAMS_ONLY_CLASSIC]
    assert unpacked().names() == sorted([*CLASSIC, *streams])


@pytest.mark.parametrize("name", CLASSIC)
def test_every_logged_decision_comes_out_again(name: str) -> None:
    found = unpacked()
    logs = [*map(str, found.logs(name)), *found.config(name)]
    decisions, differences = found.checked(*logs)
    assert (decisions > 5, differences) == (True, [])
    assert found.checked(*logs, *found.topology(name)) == (decisions, [])


@pytest.mark.parametrize("name", CLASSIC)
def test_every_recorded_decision_comes_out_again_with_the_topology(name: str) -> None:
    found = unpacked()
    decisions, differences = found.checked(str(found.past(name)), *found.config(name), *found.topology(name))
    assert (decisions > 5, differences) == (True, [])


@pytest.mark.parametrize("name", [name for name in CLASSIC if name not in NOT_WITHOUT_TOPOLOGY])
def test_every_recorded_decision_comes_out_again_without_the_topology(name: str) -> None:
    found = unpacked()
    decisions, differences = found.checked(str(found.past(name)), *found.config(name))
    assert (decisions > 5, differences) == (True, [])


@pytest.mark.parametrize("name", CLASSIC)
def test_tasks_are_as_the_running_application_had_them(name: str) -> None:
    found = unpacked()
    assert [wrong for document in found.decisions(name) for wrong in found.wrong_tasks(name, document)] == []


def test_what_is_unknown_without_the_topology_is_not_invented() -> None:
    found = unpacked()
    for name in CLASSIC:
        for document in found.decisions(name, topology=False):
            for task in document["tasks"]:
                known = found.subtopologies(name)[task["id"].partition("_")[0]]
                assert task["logged"] == bool(known["changelogs"]), (name, task)
                assert task["stores"] is None or len(task["stores"]) == len(known["changelogs"]), (name, task)


def test_every_target_of_the_streams_protocol_comes_out_again() -> None:
    found = unpacked()
    for name in found.names():
        if name.endswith(STREAMS):
            decisions, differences = found.checked(str(found.past(name)))
            assert (decisions > 3, differences) == (True, []), name
