"""Ends of a group's last instances in episodes: the records of an empty group bound them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.capture.histories.past import read_past
from assignor_lab.verification.replays import past_episodes
from tests.capture.event_recordings import event_folder

#: Times in the README of the recordings, in milliseconds: each is a record without members.
EMPTIED = {"outage": [1_795_772_779_666, 1_795_772_856_178], "static": [1_795_772_791_428]}


def episode(tmp_path: Path, group: str) -> dict[str, Any]:
    past = read_past([str(event_folder(tmp_path, group))])
    (found,) = past_episodes([each for each in past.scenarios if each.observed is not None])
    return dict(found.document)


def ends(document: dict[str, Any]) -> list[tuple[str, int, list[int]]]:
    first = document["initial"]["source"]["time_ms"]
    return [
        (each["client"], each["at_ms"] + first, [at + first for at in each.get("within_ms", ())])
        for each in document["events"]
        if each["type"] in ("stop", "crash")
    ]


@pytest.mark.parametrize(("group", "names"), [("outage", ["o1", "o2"]), ("static", ["b1"])])
def test_last_instances_of_a_classic_group_end_within_a_session_before_it_is_empty(
    group: str, names: list[str], tmp_path: Path
) -> None:
    document = episode(tmp_path, group)
    session_ms = document["timings"]["session_timeout_ms"]
    for emptied_ms in EMPTIED[group]:
        found = [each for each in ends(document) if each[2] and each[2][1] == emptied_ms - 1]
        assert sorted(name for name, _, _ in found) == names
        assert all(low >= emptied_ms - session_ms and low <= at < emptied_ms for _, at, (low, _) in found)


def test_downtime_of_an_outage_lasts_from_the_last_end_to_the_next_decision(tmp_path: Path) -> None:
    """The group was empty for 63 s, and its eight tasks ran nowhere; at the end they run nowhere, too."""
    document = episode(tmp_path, "outage")
    downtime = document["recorded"]["downtime"]
    assert all(sum(end - begin for begin, end in each) >= 63_000 for each in downtime["tasks"].values())
    assert len(downtime["tasks"]) == 8
    assert downtime["bounds_s"][0] >= 8 * 63
    assert all(each[-1][1] == document["until_ms"] for each in downtime["tasks"].values())


def test_last_instances_of_the_streams_protocol_end_with_their_records(tmp_path: Path) -> None:
    document = episode(tmp_path, "streamed")
    last = max(each["assignment_t_ms"] for each in document["recorded"]["generations"])
    first = document["initial"]["source"]["time_ms"]
    assert [name for name, at, _ in ends(document) if at - first > last] != []


def test_an_epoch_right_after_a_departure_belongs_to_it(tmp_path: Path) -> None:
    """In a large group the next heartbeat comes at once. Here f2 stops one millisecond before the epoch."""
    folder = event_folder(tmp_path, "streamed")
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for each in lines:
        if 85 <= each.get("offset", 0) <= 88:
            each["t"] = 1_795_772_969_838
    (folder / "records.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    past = read_past([str(folder)])
    (found,) = past_episodes([each for each in past.scenarios if each.observed is not None])
    first = found.document["initial"]["source"]["time_ms"]
    stop = next(each for each in found.document["events"] if each["type"] == "stop")
    (epoch,) = [each for each in found.document["recorded"]["generations"] if each["generation"] == 6]
    assert (stop["client"], stop["at_ms"] + first) == ("f2", 1_795_772_969_838)
    assert (epoch["t_ms"], epoch["assignment_t_ms"]) == (stop["at_ms"], stop["at_ms"] + 1)
