from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from assignor_lab.capture.live.record_file import RecordFile
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_history import GroupRecord, RecordedHistory
from assignor_lab.capture.recorded.group_records import GroupKey, _layout, read_classic_generation, read_group_key
from assignor_lab.documents.errors import DocumentFormatError
from tests.capture.coordinator_records import generation, key, stable_groups, value

GROUP = "orders"


def history(*records: tuple[bytes, bytes | None]) -> RecordedHistory:
    made = RecordedHistory(GROUP)
    for offset, (each, content) in enumerate(records):
        made.take(GroupRecord(offset, 5_000 + offset, each, content))
    return made


def test_keys_tell_type_group_and_member() -> None:
    assert read_group_key(key(2, "orders")) == GroupKey(2, "orders")
    assert read_group_key(key(21, "orders", "m-1")) == GroupKey(21, "orders", "m-1")


@pytest.mark.parametrize("kind", [0, 1, 9, 18, 24, 300])
def test_offset_commits_and_unknown_records_are_passed_over_by_their_first_bytes(kind: int) -> None:
    assert read_group_key(key(kind, "orders") + b"whatever follows") is None


@pytest.mark.parametrize(
    "data", [b"", b"\0", key(2), key(2, "orders")[:-1], key(2, "orders") + b"!", key(21, "orders")]
)
def test_a_garbled_key_is_named(data: bytes) -> None:
    with pytest.raises(BrokerAnswerError, match="key of a group's record"):
        read_group_key(data)


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_a_generation_tells_what_members_had_and_got(version: int) -> None:
    group = stable_groups()[-1]
    (told,) = history((key(2, GROUP), generation(1, group, version))).generations
    assert told["generation"] == 1
    assert told["t"] == (1_001 if version >= 2 else 5_000)
    assert list(told["members"]) == [each.member_id for each in group.members]
    for member in told["members"].values():
        assert member["process_id"]
        assert member["got"]["active"]


def test_members_that_joined_and_left_are_told() -> None:
    groups = stable_groups()
    small, large = min(groups, key=lambda each: len(each.members)), max(groups, key=lambda each: len(each.members))
    told = history((key(2, GROUP), generation(1, small)), (key(2, GROUP), generation(2, large))).generations
    ids = [{each.member_id for each in group.members} for group in (small, large)]
    assert (set(told[1]["joined"]), set(told[1]["left"])) == (ids[1] - ids[0], ids[0] - ids[1])


def test_what_compaction_took_is_a_hole() -> None:
    group = stable_groups()[-1]
    told = history((key(2, GROUP), generation(4, group)), (key(2, GROUP), generation(7, group))).generations
    assert [each.get("hole") for each in told] == [[1, 3], [5, 6]]


def test_a_clock_that_goes_back_is_said_and_the_order_stays() -> None:
    group = stable_groups()[-1]
    old = [(key(2, GROUP), generation(number, group, version=1)) for number in (1, 2, 3)]
    made = RecordedHistory(GROUP)
    for offset, (time_ms, (each, content)) in enumerate(zip((9_000, 4_000, 4_500), old, strict=True)):
        made.take(GroupRecord(offset, time_ms, each, content))
    assert [each["generation"] for each in made.generations] == [1, 2, 3]
    assert [each.get("clock_back_ms") for each in made.generations] == [None, 5_000, None]


def test_a_generation_that_is_written_again_counts_once() -> None:
    group = stable_groups()[-1]
    told = history((key(2, GROUP), generation(1, group)), (key(2, GROUP), generation(1, group))).generations
    assert len(told) == 1
    assert len(told[0]["joined"]) == len(group.members)


def test_a_group_that_is_deleted_and_made_anew_counts_from_the_beginning() -> None:
    group = stable_groups()[-1]
    first, gone = (key(2, GROUP), generation(1, group)), (key(2, GROUP), None)
    told = history(first, gone, first, gone, (key(2, GROUP), generation(3, group))).generations
    assert [each["generation"] for each in told] == [1, None, 1, None, 3]
    assert [each.get("hole") for each in told] == [None, None, None, None, [1, 2]]
    assert len(told[2]["joined"]) == len(group.members)


def test_a_group_that_goes_on_in_the_other_protocol_says_so_and_no_clock_went_back() -> None:
    group = stable_groups()[-1]
    made = RecordedHistory(GROUP)
    classic, streams = [(key(2, GROUP), generation(2, group, version=1))], streams_records(2, {"m": [0]})
    records = [*classic, (key(2, GROUP), None), *streams, *((each, None) for each, _ in streams), *classic]
    # A decision after a deletion is a moment older than its record.
    times = [5_000, 6_000, *(5_990 for _ in streams), *(7_000 for _ in streams), 6_950]
    for offset, (time_ms, (each, content)) in enumerate(zip(times, records, strict=True)):
        made.take(GroupRecord(offset, time_ms, each, content))
    told = [(each["generation"], each.get("was_before"), each.get("clock_back_ms")) for each in made.generations]
    assert [each for each in told if each[0] is not None] == [
        (2, None, None),
        (2, "classic", None),
        (2, "streams", None),
    ]


def test_records_of_other_groups_change_nothing() -> None:
    assert history((key(2, "other"), generation(1, stable_groups()[-1]))).generations == []


def test_a_version_that_is_not_known_is_counted_and_the_rest_is_read() -> None:
    group = stable_groups()[-1]
    made = history((key(2, GROUP), struct.pack(">h", 99)), (key(2, GROUP), generation(1, group)))
    assert [offset for offset, _ in made.unreadable] == [0]
    assert "version 99" in made.unreadable[0][1]
    assert len(made.generations) == 1


def streams_records(epoch: int, tasks: dict[str, list[int]]) -> list[tuple[bytes, bytes | None]]:
    """A target of a streams group, in the order of a coordinator's records."""
    target = _layout("StreamsGroupTargetAssignmentMemberValue")
    member = value(
        "StreamsGroupMemberMetadataValue", 0, instance_id=None, rack_id="r1", client_id="c", client_host="h",
        rebalance_timeout_ms=1, topology_epoch=0, process_id="p", user_endpoint=None, client_tags=[],
    )  # fmt: skip
    found: list[tuple[bytes, bytes | None]] = [(key(19, GROUP, name), member) for name in tasks]
    for name, partitions in tasks.items():
        active = [target.TaskIds(subtopology_id="0", partitions=partitions)]
        content = value(
            "StreamsGroupTargetAssignmentMemberValue", 0, active_tasks=active, standby_tasks=[], warmup_tasks=[]
        )
        found.append((key(21, GROUP, name), content))
    return [
        *found,
        (key(20, GROUP), value("StreamsGroupTargetAssignmentMetadataValue", 0, assignment_epoch=epoch)),
    ]


def test_an_epoch_is_told_when_its_target_is_complete() -> None:
    records = [*streams_records(2, {"m1": [0, 1]}), *streams_records(3, {"m1": [0], "m2": [1]})]
    told = history(*records).generations
    assert [each["generation"] for each in told] == [2, 3]
    assert [each["joined"] for each in told] == [["m1"], ["m2"]]
    assert told[1]["members"]["m2"]["got"]["active"] == {"0": [1]}
    assert told[1]["members"]["m2"]["process_id"] == "p"


def test_an_epoch_that_was_never_decided_on_is_no_hole() -> None:
    bumped = [(key(17, GROUP), value("StreamsGroupMetadataValue", 0, epoch=epoch)) for epoch in (2, 3)]
    (told,) = history(*bumped, *streams_records(4, {"m1": [0]})).generations
    assert "hole" not in told
    (half,) = history(*bumped[1:], *streams_records(4, {"m1": [0]})).generations
    assert half["hole"] == [2, 3]


def test_a_member_whose_records_are_deleted_has_left() -> None:
    gone: list[tuple[bytes, bytes | None]] = [(key(kind, GROUP, "m1"), None) for kind in (19, 21, 22)]
    told = history(*streams_records(2, {"m1": [0], "m2": [1]}), *gone, *streams_records(3, {"m2": [0, 1]})).generations
    assert told[1]["left"] == ["m1"]


@pytest.mark.slow
def test_whatever_bytes_come_end_in_a_value_or_a_typed_error() -> None:
    draw = random.Random(7)
    content = generation(3, stable_groups()[-1])
    for _ in range(2_000):
        mutated = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            mutated[draw.randrange(len(mutated))] = draw.randrange(256)
        cut = bytes(mutated[: draw.randint(0, len(mutated))]) if draw.random() < 0.3 else bytes(mutated)
        made = history((key(2, GROUP), cut))
        assert len(made.generations) + len(made.unreadable) == 1


@pytest.mark.slow
def test_a_recording_goes_on_where_a_killed_process_left_it(tmp_path: Path) -> None:
    file = RecordFile(tmp_path / "records.jsonl", GROUP, 0)
    file.create()
    kept = GroupRecord(7, 70, key(2, GROUP), b"value")
    file.add(kept)
    file.settle(8)
    file.add(GroupRecord(9, 90, key(2, GROUP), None))
    file.settle(10)
    content = file.path.read_bytes()
    for length in range(len(content) - 60, len(content)):
        file.path.write_bytes(content[:length])
        records, read_to = RecordFile(file.path, GROUP, 0).read()
        assert (read_to, records) == (8, [kept])
        assert file.path.read_bytes().endswith(b"\n")
    file.path.write_bytes(content)
    records, read_to = file.read()
    assert (read_to, [each.offset for each in records]) == (10, [7, 9])


def test_what_a_kill_left_without_a_word_on_how_far_counts_once(tmp_path: Path) -> None:
    file = RecordFile(tmp_path / "records.jsonl", GROUP, 0)
    file.create()
    for read_to in (7, 9):
        file.add(GroupRecord(8, 80, key(2, GROUP), b"value"))
        file.settle(read_to)
    records, _ = file.read()
    assert [each.offset for each in records] == [8]


def test_a_recording_of_another_group_is_refused(tmp_path: Path) -> None:
    RecordFile(tmp_path / "records.jsonl", "other", 0).create()
    with pytest.raises(DocumentFormatError, match=f"no recording of group {GROUP}"):
        RecordFile(tmp_path / "records.jsonl", GROUP, 0).read()


def test_a_generation_of_an_unknown_version_is_a_typed_error() -> None:
    with pytest.raises(BrokerAnswerError, match="version -1, 0 to 4"):
        read_classic_generation(GROUP, b"")
