from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api.java import string_hash
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.recording import read_recording
from assignor_lab.capture.recorded.streams_group_answers import read_streams_group_answer
from assignor_lab.scenarios import DocumentFormatError
from calibration.episodes import import_episode
from calibration.episodes.made_up_processes import hashed_process_id

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
ORDERS = CAPTURES / "timelines" / "orders-group-3.json.gz"


@pytest.fixture(scope="module")
def orders() -> dict[str, Any]:
    return import_episode(ORDERS, CAPTURES / "orders-group-3")


@pytest.fixture(scope="module")
def downtime() -> dict[str, Any]:
    return import_episode(CAPTURES / "downtime" / "D" / "timeline.json.gz", CAPTURES / "downtime" / "D")


@pytest.mark.slow
def test_group_and_broker_are_configured_not_the_members(orders: dict[str, Any], downtime: dict[str, Any]) -> None:
    for episode in (orders, downtime):
        assert episode["protocol"] == "streams"
        assert episode["initial"]["config"] == {"num.standby.replicas": 1}
        assert episode["timings"]["streams_heartbeat_interval_ms"] == 3_000
        assert episode["timings"]["streams_session_timeout_ms"] == 10_000
        assert any("session timeout is not recorded" in sentence for sentence in episode["assumptions"])


def test_members_have_the_ids_and_processes_that_the_broker_knew(orders: dict[str, Any]) -> None:
    starts = [event for event in orders["events"] if event["type"] == "start"]
    timeline = json.loads(gzip.decompress(ORDERS.read_bytes()))
    joined = [each["member"] for each in timeline["member_states"] if each.get("event") == "joins"]
    assert sorted(member for event in starts for member in event["member_ids"]) == sorted(joined)
    assert len({event["process_id"] for event in starts}) == 4
    assert all(1_000 < event["startup_ms"] < 7_000 for event in starts)


def test_topology_is_the_described_one(orders: dict[str, Any]) -> None:
    tasks = {task["id"]: task for task in orders["initial"]["tasks"]}
    assert len(tasks) == 14
    assert tasks["0_0"]["stores"] == ["counts", "latest"]
    assert [each["topic"] for each in tasks["1_3"]["partitions"]] == [
        "orders-group-by-city-repartition", "orders-group-cities-changelog",
    ]  # fmt: skip
    assert not tasks["2_0"]["logged"]
    assert "orders-group-by-city-repartition" in orders["missing_topics"]


def test_topics_that_were_there_before_are_not_missing(downtime: dict[str, Any]) -> None:
    assert downtime["missing_topics"] == []


def test_what_followed_are_targets_and_changes_of_members(orders: dict[str, Any]) -> None:
    recorded = orders["recorded"]
    assert [each["generation"] for each in recorded["generations"]][:3] == [8, 9, 10]
    first = recorded["generations"][0]["assigned"]
    assert sum(len(tasks["active"]) for tasks in first.values()) == 14
    # The last change after the scale-out, from the timeline's own summary.
    scale_out = next(event["at_ms"] for event in orders["events"] if event["client"] == "i4")
    crash = next(event["at_ms"] for event in orders["events"] if event["type"] == "crash")
    assert max(each for each in recorded["changes"] if each < crash) - scale_out == 13_224


def test_garbled_description_of_a_streams_group_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    file.write_text('{"t": 1, "api_key": 89, "api_version": 0, "response_hex": "00000001000000000005"}\n')
    with pytest.raises(DocumentFormatError, match=r"exchanges.jsonl, line 1"):
        read_recording([file])
    with pytest.raises(BrokerAnswerError):
        read_streams_group_answer(b"\x00" * 3)


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("targets", [{"t": 1, "epoch": 1, "target": {"m": {"active": ["nonsense"]}}}], "targets"),
        ("member_states", [{"t": 1, "member": "m", "active": ["0"]}], "member_states"),
        ("clients", {"m": 1}, "clients"),
    ],
)
def test_what_is_wrong_in_a_timeline_is_refused_with_its_place(
    tmp_path: Path, key: str, value: Any, place: str
) -> None:
    timeline = json.loads(gzip.decompress(ORDERS.read_bytes()))
    file = tmp_path / "timeline.json"
    file.write_text(json.dumps({**timeline, key: value}))
    with pytest.raises(DocumentFormatError, match=place):
        import_episode(file, CAPTURES / "orders-group-3")


@pytest.mark.slow
def test_settings_of_the_group_are_those_that_it_was_given_and_no_others(tmp_path: Path) -> None:
    timeline = json.loads(gzip.decompress(ORDERS.read_bytes()))
    given = ["streams.session.timeout.ms=50000", "streams.heartbeat.interval.ms=soon", "streams.num.standby.replicas=2"]
    timeline["actions"][0]["config"] = given
    file = tmp_path / "timeline.json"
    file.write_text(json.dumps(timeline))
    episode = import_episode(file, CAPTURES / "orders-group-3")
    assert episode["initial"]["config"] == {"num.standby.replicas": 2}
    # A value that is not a number counts as not recorded.
    assert episode["timings"]["streams_session_timeout_ms"] == 50_000
    assert episode["timings"]["streams_heartbeat_interval_ms"] == 3_000


@pytest.mark.parametrize("longest_ms", [0, 900])
def test_settings_of_which_nothing_shows_are_kafkas_defaults(tmp_path: Path, longest_ms: int) -> None:
    """Without a kill, and without a member that waited for its next heartbeat, no setting is derived."""
    timeline = json.loads(gzip.decompress(ORDERS.read_bytes()))
    state = {"member": "m", "state": "UNRELEASED_TASKS", "active": [], "standby": []}
    timeline["member_states"] = [{"t": 1, **state}, {"t": 1 + longest_ms, **state}][: 2 if longest_ms else 0]
    file = tmp_path / "timeline.json"
    file.write_text(json.dumps(timeline))
    episode = import_episode(file, CAPTURES / "orders-group-3")
    assert not [name for name in episode["timings"] if name.startswith("streams")]
    assert not [sentence for sentence in episode["assumptions"] if "is not recorded:" in sentence]


@pytest.mark.parametrize("capacity", [4, 16, 1024])
def test_made_up_processes_stand_in_a_brokers_hash_table_in_the_order_that_is_wanted(capacity: int) -> None:
    places = [0, 1, 2, 3]
    ids = [str(hashed_process_id(place, number)) for place, number in zip(places, (0, 3, 0, 1), strict=True)]
    spread = [string_hash(each) ^ (string_hash(each) & 0xFFFFFFFF) >> 16 for each in ids]
    assert [each % capacity for each in spread] == places
    assert len(set(ids)) == 4


def test_processes_that_no_answer_shows_are_in_the_order_of_the_first_target(downtime: dict[str, Any]) -> None:
    first = downtime["recorded"]["generations"][0]["assigned"]
    assert first["d2"]["active"][0] == "0_0"
    ids = {event["client"]: event["process_id"] for event in downtime["events"][:2]}
    places = {name: (string_hash(ids[name]) ^ (string_hash(ids[name]) & 0xFFFFFFFF) >> 16) % 4 for name in ids}
    assert (places["d2"], places["d1"]) == (0, 1)
