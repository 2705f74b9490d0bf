from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from kafka import KafkaConsumer
from typer.testing import CliRunner

from assignor_lab.capture.live.access import read_access
from assignor_lab.capture.live.cluster_files import ClusterFiles
from assignor_lab.capture.live.errors import GroupUnusableError
from assignor_lab.capture.live.group_recording import HISTORY
from assignor_lab.capture.live.one_recorder import alone_in
from assignor_lab.capture.live.recorder import _LiveReading
from assignor_lab.capture.live.recordings import RECORDING, ManyGroups
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.cli.app import build_app
from tests.capture.coordinator_records import generation, key, stable_groups, value
from tests.capture.recorded.log_segment_bytes import batch, offset_commit

HOSTILE = ["../up", "..", "a/b", "Orders", "orders", "x" * 300, RECORDING, "nul\0", ""]


def records(*groups: str, generations: int = 2, first: int = 0) -> list[GroupRecord]:
    described = stable_groups()[-1]
    numbered = [(group, number) for number in range(1, generations + 1) for group in groups]
    return [
        GroupRecord(first + at, 5_000 + at, key(2, group), generation(number, described))
        for at, (group, number) in enumerate(numbered)
    ]


def many(folder: Path, *, resume: bool = False, told: list[tuple[str, int]] | None = None) -> ManyGroups:
    def on_generation(group: str, document: Mapping[str, Any]) -> None:
        if told is not None:
            told.append((group, document["generation"]))

    made = ManyGroups(folder, on_generation)
    made.open(resume=resume)
    return made


def take(recordings: ManyGroups, listed: Iterable[GroupRecord], partition: int = 0) -> None:
    end = 0
    for each in listed:
        recordings.take(partition, each)
        end = each.offset + 1
    recordings.settle({partition: end})
    recordings.write_histories()


def histories(folder: Path) -> dict[str, list[int]]:
    index = [json.loads(line) for line in (folder / RECORDING).read_text().splitlines()]
    folders = {each["group"]: each["folder"] for each in index if "group" in each}
    return {
        group: [json.loads(line)["generation"] for line in (folder / name / HISTORY).read_text().splitlines()]
        for group, name in folders.items()
    }


def test_each_group_has_a_folder_of_its_own_whatever_it_is_called(tmp_path: Path) -> None:
    take(many(tmp_path / "past"), records(*HOSTILE))
    assert histories(tmp_path / "past") == {name: [1, 2] for name in HOSTILE}
    assert [each.name for each in tmp_path.iterdir()] == ["past"]
    folders = [each.name.lower() for each in (tmp_path / "past").iterdir()]
    assert len(folders) == len(set(folders)) == len(HOSTILE) + 1


def test_a_generation_is_told_when_it_is_on_disk(tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    made = many(tmp_path, told=told)
    for each in records("orders"):
        made.take(0, each)
    assert (told, made.has_news) == ([], True)
    made.settle({0: 2})
    assert (told, made.has_news) == ([("orders", 1), ("orders", 2)], False)


def test_groups_of_other_software_are_left_out(tmp_path: Path) -> None:
    described = stable_groups()[-1]
    foreign = generation(1, described).replace(b"consumer", b"registry", 1)
    take(many(tmp_path), [GroupRecord(0, 0, key(2, "registries"), foreign)])
    assert histories(tmp_path) == {}


def test_what_an_empty_group_left_counts_once_it_is_known_whose_it_is(tmp_path: Path) -> None:
    empty = value(
        "GroupMetadataValue", 3, protocol_type="consumer", generation=1, protocol=None, leader=None,
        current_state_timestamp=1, members=[],
    )  # fmt: skip
    before = [GroupRecord(at, 0, key(2, group), empty) for at, group in enumerate(("orders", "consumers"))]
    take(many(tmp_path), [*before, GroupRecord(2, 0, key(2, "orders"), generation(2, stable_groups()[-1]))])
    assert histories(tmp_path) == {"orders": [1, 2]}


@pytest.mark.slow
def test_a_recording_of_many_goes_on_wherever_it_was_killed(tmp_path: Path) -> None:
    listed = records("orders", "payments", generations=3)
    whole = tmp_path / "whole"
    take(many(whole), listed)
    for cut in range(len(listed)):
        folder = tmp_path / f"cut-{cut}"
        made = many(folder)
        take(made, listed[:cut])
        # These were not reported as saved: the process had ended.
        for each in listed[cut : cut + 2]:
            made.take(0, each)
        index = folder / RECORDING
        index.write_bytes(index.read_bytes() + b'{"read_to":{"0"')
        again = many(folder, resume=True)
        assert again.begin(0) == cut
        take(again, listed[again.begin(0) :])
        assert histories(folder) == histories(whole)


def test_records_that_a_group_has_and_the_index_does_not_know_of_count_once(tmp_path: Path) -> None:
    listed = records("orders", generations=3)
    take(many(tmp_path), listed)
    index = tmp_path / RECORDING
    lines = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(b"".join(line for line in lines if b"read_to" not in line))
    again = many(tmp_path, resume=True)
    assert again.begin(0) == 0
    take(again, listed)
    assert histories(tmp_path) == {"orders": [1, 2, 3]}
    kept = (tmp_path / "orders" / "records.jsonl").read_text()
    assert kept.count("key_hex") == 3


def test_a_second_recording_in_one_folder_is_refused(tmp_path: Path) -> None:
    many(tmp_path)
    with pytest.raises(GroupUnusableError, match="go on with --resume"):
        many(tmp_path)
    with pytest.raises(GroupUnusableError, match="leave --resume out"):
        many(tmp_path / "other", resume=True)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(build_app(["record"]), ["record", *arguments])


def segment(folder: Path) -> Path:
    made = folder / "__consumer_offsets-7" / "00000000000000000000.log"
    made.parent.mkdir()
    foreign = [GroupRecord(offset, 0, *offset_commit("consumers", offset)) for offset in range(10)]
    made.write_bytes(batch(foreign) + batch(records("orders", "payments", first=10)))
    return made


def test_two_recorders_never_write_into_one_folder(tmp_path: Path) -> None:
    folder = tmp_path / "past"
    with alone_in(folder):
        said = "another assignor record writes there: stop it first"
        with pytest.raises(GroupUnusableError, match=said), alone_in(folder):
            raise AssertionError("the second one came in")
        (folder / "records.jsonl").touch()
    with alone_in(folder):
        assert [each.name for each in folder.iterdir()] == ["records.jsonl"]


def test_a_recording_does_not_begin_where_another_one_goes_on(tmp_path: Path) -> None:
    words = ["record", "--segments", str(segment(tmp_path)), "--group", "orders", "--out", str(tmp_path / "past")]
    with alone_in(tmp_path / "past"):
        told = CliRunner().invoke(build_app(words), words)
        assert isinstance(told.exception, GroupUnusableError)
        assert list((tmp_path / "past").iterdir()) == []
    assert CliRunner().invoke(build_app(words), words).exit_code == 0


def test_another_leader_of_the_partition_is_told_once_it_is_there(tmp_path: Path) -> None:
    told: list[str] = []
    files = ClusterFiles(cast("Any", None), {})
    reading = _LiveReading(read_access("b:9092", None, 30), many(tmp_path), None, files, lambda: False, told.append)
    reading._positions = {7: 41}
    leaders: dict[int, int | None] = {}
    for leader in (2, 2, None, None, 1, 1):
        leaders = reading._tell_moved(leaders, {7: leader})
    assert told == [
        "partition 7 of __consumer_offsets is led by broker 1 now, and was by 2: reading goes on at offset 41"
    ]
    # The client library has no public API for it.
    assert callable(KafkaConsumer(bootstrap_servers=[], api_version=(2, 8))._client.cluster.leader_for_partition)


def test_segments_give_the_history_without_a_broker(tmp_path: Path) -> None:
    file = segment(tmp_path)
    one = run("--segments", str(file), "--group", "orders", "--out", str(tmp_path / "one"), "--json")
    assert [each["generation"] for each in json.loads(one.stdout)["generations"]] == [1, 2]
    all_ = run("--segments", str(file.parent), "--all", "--out", str(tmp_path / "all"), "--json")
    told = json.loads(all_.stdout)
    assert [(each["group"], each["generations"]) for each in told["groups"]] == [("orders", 2), ("payments", 2)]
    assert (told["kept"], told["read_to"]) == (4, {"7": 14})


def test_copies_of_one_segment_count_once(tmp_path: Path) -> None:
    file = segment(tmp_path)
    copy = tmp_path / "other-broker" / "__consumer_offsets-7" / file.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(file.read_bytes())
    out = str(tmp_path / "past")
    told = run("--segments", str(file), "--segments", str(copy), "--group", "orders", "--out", out, "--json")
    assert json.loads(told.stdout)["kept"] == 2


def test_what_is_passed_over_in_segments_is_said(tmp_path: Path) -> None:
    file = segment(tmp_path)
    file.write_bytes(file.read_bytes() + b"\1" * 70)
    told = run("--segments", str(file), "--group", "orders", "--out", str(tmp_path / "past"))
    assert "70 bytes at byte" in told.stderr


def test_a_group_without_records_in_segments_is_named_and_leaves_no_file(tmp_path: Path) -> None:
    told = run("--segments", str(segment(tmp_path)), "--group", "nobody", "--out", str(tmp_path / "past"))
    assert "none of 4 records" in str(told.exception)
    assert not (tmp_path / "past").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--group", "g"], "give one source"),
        (["--group", "g", "--segments", "x", "--bootstrap-server", "h:1"], "give one source"),
        (["--segments", "x"], "name the group"),
        (["--group", "g", "--all", "--segments", "x"], "name the group"),
        (["--group", "g", "--segments", "x", "--follow"], "files are read once"),
        (["--group", "g", "--bootstrap-server", "h:1", "--sample-every", "1s"], "add --follow"),
        (["--group", "g", "--bootstrap-server", "h:1", "--follow", "--sample-every", "0s"], "write a number"),
    ],
)
def test_options_that_contradict_each_other_are_said(arguments: list[str], said: str, tmp_path: Path) -> None:
    told = run(*arguments, "--out", str(tmp_path / "past"))
    assert told.exit_code == 2
    assert said in " ".join(told.stderr.replace("│", "").split())
    assert not (tmp_path / "past").exists()
