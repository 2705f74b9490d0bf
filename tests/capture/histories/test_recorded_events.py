"""Events that the records of a group show: each kind of group, and the odd orders of records."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from assignor_lab.capture.histories.recorded_events import recorded_events
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.capture.recorded.kept_records import KeptRecord, KeptRecords
from assignor_lab.documents.errors import Place
from assignor_lab.model.events import GroupEvent, InstanceGone, InstanceRestartedInSession
from tests.capture.coordinator_records import generation, key, stable_groups, value
from tests.capture.flight_recording import records
from tests.capture.live.recorded_lives import CLASSIC, CONNECT, STREAMS

GROUP = "orders"
_Record = tuple[int, bytes, bytes | None]


def events(*listed: _Record, group: str = GROUP) -> list[GroupEvent]:
    kept = [
        KeptRecord(Place("records.jsonl", at + 1), GroupRecord(at, time_ms, each, content))
        for at, (time_ms, each, content) in enumerate(listed)
    ]
    return recorded_events(KeptRecords(group, tuple(kept), (), Place("records.jsonl")))


def told(found: Iterable[GroupEvent]) -> list[tuple[str, int]]:
    return [(each.type, each.at.latest_ms) for each in found]


def classic(number: int, time_ms: int) -> _Record:
    return time_ms, key(2, GROUP), generation(number, stable_groups()[-1], time_ms=time_ms)


def empty(number: int, time_ms: int, protocol_type: str = "consumer") -> _Record:
    content = value(
        "GroupMetadataValue", 3, protocol_type=protocol_type, generation=number, protocol=None, leader=None,
        members=[], current_state_timestamp=time_ms,
    )  # fmt: skip
    return time_ms, key(2, GROUP), content


def member(name: str, process: str, time_ms: int, instance: str | None = None) -> _Record:
    content = value(
        "StreamsGroupMemberMetadataValue", 0, client_id=f"{process}-StreamThread-1-consumer", process_id=process,
        instance_id=instance, rack_id=None, client_host="/127.0.0.1", rebalance_timeout_ms=300_000, topology_epoch=0,
        user_endpoint=None, client_tags=[],
    )  # fmt: skip
    return time_ms, key(19, GROUP, name), content


def gone(name: str, time_ms: int) -> _Record:
    return time_ms, key(19, GROUP, name), None


@pytest.mark.parametrize("first", ["new", "first member"])
def test_new_group_is_no_outage(first: str) -> None:
    before = [empty(0, 100, "")] if first == "new" else []

    assert events(*before, classic(1, 200)) == []


def test_outage_of_a_classic_group_has_its_generation() -> None:
    found = events(classic(1, 200), empty(2, 900), empty(2, 950), classic(3, 60_900))

    assert told(found) == [("group_emptied", 900), ("group_refilled", 60_900)]
    assert [getattr(each, "number", None) or getattr(each, "empty_ms", None) for each in found] == [2, 60_000]


def test_deleted_group_begins_anew() -> None:
    found = events(classic(7, 200), empty(8, 900), (5_000, key(2, GROUP), None), classic(1, 9_000))

    assert told(found) == [("group_emptied", 900), ("group_deleted", 5_000), ("group_refilled", 9_000)]


def test_deletion_at_the_end_is_an_event() -> None:
    assert told(events(classic(7, 200), (5_000, key(2, GROUP), None))) == [("group_deleted", 5_000)]


def test_group_moves_to_the_streams_protocol_and_back() -> None:
    found = events(
        classic(7, 200), empty(8, 900), (5_000, key(2, GROUP), None), member("m1", "p1", 5_000),
        gone("m1", 7_000), (8_000, key(17, GROUP), None), classic(1, 8_000),
    )  # fmt: skip

    assert told(found) == [
        ("group_emptied", 900), ("protocol_changed", 5_000), ("group_refilled", 5_000), ("group_emptied", 7_000),
        ("instance_gone", 7_000), ("protocol_changed", 8_000), ("group_refilled", 8_000),
    ]  # fmt: skip


def test_instance_is_gone_with_its_last_thread() -> None:
    found = events(
        member("m1", "p1", 100), member("m2", "p1", 110), member("m3", "p2", 120), gone("m1", 500), gone("m2", 900)
    )

    assert [(each.instance, each.at.latest_ms) for each in found if isinstance(each, InstanceGone)] == [("p1", 900)]
    assert len(found) == 1


def test_static_member_of_the_streams_protocol_is_replaced_in_one_request() -> None:
    found = events(member("m1", "p1", 100, "i1"), gone("m1", 5_000), member("m2", "p2", 5_000, "i1"))

    assert told(found) == [("instance_restarted_in_session", 5_000)]
    assert isinstance(found[0], InstanceRestartedInSession)


def test_group_of_other_consumers_has_no_events() -> None:
    other = value(
        "GroupMetadataValue", 3, protocol_type="consumer", generation=1, protocol="range", leader="m",
        members=[], current_state_timestamp=1,
    )  # fmt: skip

    assert events((1, key(2, GROUP), other), empty(2, 900)) == []


def test_unreadable_record_is_left_out() -> None:
    assert told(events(classic(1, 200), (300, key(2, GROUP), b"\xff\xff"), empty(2, 900))) == [("group_emptied", 900)]


def test_times_do_not_go_back_with_the_coordinators_clock() -> None:
    found = events(classic(1, 10_000_000), empty(2, 10_000_100), classic(3, 1_000_000))

    assert told(found) == [("group_emptied", 10_000_100), ("group_refilled", 10_000_100)]


@pytest.mark.parametrize("group", [CLASSIC, STREAMS, CONNECT])
def test_stop_of_all_members_is_an_outage_for_every_kind_of_group(group: str) -> None:
    kept = [(each.time_ms, each.key, each.value) for each in records(group)]
    end = kept[-1][0] + 10_000
    if group == STREAMS:
        members = dict.fromkeys(each for _, each, content in kept if each[:2] == b"\x00\x13" and content)
        after: list[_Record] = [(end, each, None) for each in members]
    else:
        kind = "connect" if group == CONNECT else "consumer"
        content = value(
            "GroupMetadataValue", 3, protocol_type=kind, generation=99, protocol=None, leader=None, members=[],
            current_state_timestamp=end,
        )  # fmt: skip
        after = [(end, key(2, group), content)]

    found = events(*kept, *after, group=group)

    assert [each.type for each in found if each.type == "group_emptied"][-1:] == ["group_emptied"]
    assert found[-1].at.latest_ms == end
