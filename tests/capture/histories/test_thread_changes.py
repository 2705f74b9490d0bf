from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.simulation.streams.formats.episodes import read_episode
from tests.capture.flight_recording import decisions, write_recording
from tests.capture.histories.pasts import decisions_of
from tests.capture.live.recorded_lives import STREAMS

_UUID = "00000000-0000-4000-8000-00000000000"


def events(scenarios: Sequence[Scenario], **timings: int) -> list[dict[str, Any]]:
    (history,) = read_histories(scenarios)
    document = history_episode(history, {"session_timeout_ms": 10_000, **timings})
    read_episode(scenario_from_document(document, Place("past")))
    return [each for each in document["events"] if "client" in each]


def with_threads(scenario: Scenario, client_id: str, numbers: Sequence[int]) -> Scenario:
    document = json.loads(json.dumps(dict(scenario.document)))
    for client in document["clients"]:
        if client["consumers"] and client["consumers"][0].startswith(f"{client_id}-"):
            known = {int(name.split("-StreamThread-")[1].split("-")[0]): name for name in client["consumers"]}
            names = [
                known.get(number, f"{client_id}-StreamThread-{number}-consumer-{_UUID}{number}") for number in numbers
            ]
            client.update(consumers=names, threads=len(names), previous_by_consumer=None)
    document["observed"]["threads"] = None
    return scenario_from_document(document, scenario.place)


def tagged(changes: dict[int, Sequence[int]]) -> list[Scenario]:
    """The decisions of a group with other threads of i1 in generations of these numbers."""
    return [
        with_threads(each, "i1", changes[number]) if number in changes else each
        for number, each in enumerate(decisions_of("tagged"), start=1)
    ]


def of_i1(scenarios: Sequence[Scenario]) -> list[tuple[str, int | None]]:
    return [
        (each["type"], each.get("threads", each.get("thread")))
        for each in events(scenarios)
        if each["client"] == "i1" and each["type"] != "stop"
    ]


def test_threads_that_are_the_same_all_the_time_are_those_of_the_start() -> None:
    assert of_i1(tagged({})) == [("start", 2)]


def test_a_thread_that_comes_minutes_later_is_added_then_and_not_charged_to_the_start() -> None:
    scenarios = tagged(dict.fromkeys(range(6, 25), (1, 2, 3)))
    assert of_i1(scenarios) == [("start", 2), ("add_thread", None)]
    (history,) = read_histories(scenarios)
    (added,) = [each for each in events(scenarios) if each["type"] == "add_thread"]
    begin = history_episode(history)["initial"]["source"]["time_ms"]
    assert history.moments[4].time_ms < begin + added["at_ms"] < history.moments[5].time_ms


def test_a_thread_that_joins_after_the_others_at_the_start_is_one_of_the_start() -> None:
    assert of_i1(tagged({1: (1,)})) == [("start", 2)]


def test_a_thread_that_is_gone_for_good_was_removed() -> None:
    assert of_i1(tagged(dict.fromkeys(range(6, 25), (2,)))) == [("start", 2), ("remove_thread", 1)]


def test_a_thread_that_is_missing_for_a_moment_was_late() -> None:
    assert of_i1(tagged({6: (2,)})) == [("start", 2)]


def test_threads_that_go_shortly_before_their_process_ended_with_it() -> None:
    # The session of one of i4's threads ends before the other one's.
    scenarios = [
        with_threads(each, "i4", (2,)) if number == 21 else each
        for number, each in enumerate(decisions_of("tagged"), start=1)
    ]
    kinds = [each["type"] for each in events(scenarios) if each["client"] == "i4"]
    assert kinds == ["start", "stop"]


def test_a_history_that_begins_in_the_middle_has_changes_of_what_was_there() -> None:
    scenarios = tagged(dict.fromkeys(range(13, 25), (2, 3)))[10:16]
    (history,) = read_histories(scenarios)
    document = history_episode(history, {"session_timeout_ms": 10_000})
    read_episode(scenario_from_document(document, Place("past")))
    kinds = [each["type"] for each in document["events"] if each["type"].endswith("thread")]
    assert sorted(kinds) == ["add_thread", "remove_thread"]


def test_an_added_member_of_a_streams_group_keeps_its_id(tmp_path: Any) -> None:
    write_recording(tmp_path / "past", STREAMS)
    documents = json.loads(json.dumps(decisions(tmp_path / "past")))
    for document in documents[1:]:
        first = next(each for each in document["members"])
        process = documents[0]["members"][0]["process_id"]
        document["members"].append(
            {**first, "id": "later", "client_id": None, "process_id": process, "active": {}, "standby": {}}
        )
        document["observed"]["members"]["later"] = {"active": {}, "standby": {}, "warmup": {}}
        document["source"]["time_ms"] += 120_000
    scenarios = [scenario_from_document(each, Place("past", number)) for number, each in enumerate(documents, 1)]
    added = [each for each in events(scenarios[:2]) if each["type"] == "add_thread"]
    assert [each["member_id"] for each in added] == ["later"]


@pytest.mark.parametrize(
    ("reason", "leave"),
    [("explicit `LeaveGroup` request for (h3-StreamThread-1) members.", True), ("heartbeat expiration", None)],
)
def test_a_stop_that_the_coordinator_reports_as_a_request_leaves_the_group(reason: str, leave: bool | None) -> None:
    documents = [json.loads(json.dumps(dict(each.document))) for each in decisions_of("plain-ha")]
    there = [
        any(name.startswith("h3-") for client in each["clients"] for name in client["consumers"]) for each in documents
    ]
    gone = max(place for place, is_there in enumerate(there) if is_there) + 1
    for document in documents:
        document["source"].pop("done", None)
    documents[gone]["source"]["reason"] = reason
    scenarios = [scenario_from_document(each, Place("past", number)) for number, each in enumerate(documents, 1)]
    (stop,) = [each for each in events(scenarios) if each["type"] == "stop"]
    assert stop.get("leave") is leave
