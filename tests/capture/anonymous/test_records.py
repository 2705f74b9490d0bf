"""Recordings with pseudonyms: no byte contains a name, and every decision is the same."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import attrs
import pytest

from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.capture.recorded.anonymous_records import anonymous_record
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_history import GroupRecord, RecordedHistory
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.scenarios.anonymous import Pseudonyms, read_pseudonyms
from tests.capture.coordinator_records import generation, key, stable_groups
from tests.capture.flight_recording import (
    ASSIGNORS,
    FLIGHT,
    GROUPS,
    answers,
    decisions,
    records,
    samples,
    write_recording,
)
from tests.capture.live.recorded_lives import CLASSIC, CONNECT, STREAMS

KEY = b"a key of the test's own"
#: Names in the recording: groups, topics, stores, clients, hosts, racks, connectors.
SECRETS = (b"classic", b"streams", b"real-connect", b"counts", b"p1", b"p2", b"w1", b"127.0.0.1", b"r1", b"read-0")


def cluster(group: str) -> ClusterAnswer:
    file = FLIGHT / group / "racks.toml"
    told = tomllib.loads(file.read_text()) if file.exists() else {"brokers": {}, "topics": {}}
    topics = {name: dict(enumerate(map(tuple, of))) for name, of in told["topics"].items()}
    return ClusterAnswer({int(broker): rack for broker, rack in told["brokers"].items()}, topics)


def anonymous(folder: Path, group: str) -> GroupRecording:
    names = Pseudonyms(KEY)
    made = GroupRecording(folder, names.group(group), 0, names)
    made.original = group
    made.create()
    for each in records(group):
        made.take(each)
    made.settle(1_000)
    made.write_history()
    for sample in samples(group):
        made.add_sample(sample)
    made.write_cluster(cluster(group))
    assert made.left_out == []
    return made


@pytest.mark.parametrize("group", GROUPS)
def test_no_name_is_left_in_any_file(group: str, tmp_path: Path) -> None:
    made = anonymous(tmp_path / "past", group)
    lines = [json.loads(line) for line in (tmp_path / "past" / "records.jsonl").read_text().splitlines()]
    content = b"".join(
        bytes.fromhex(each["key_hex"] + (each["value_hex"] or "")) for each in lines if "key_hex" in each
    )
    content += b"".join(file.read_bytes() for file in (tmp_path / "past").iterdir() if file.name != "records.jsonl")
    known = [
        secret for secret in SECRETS if secret in b"".join(each.key + (each.value or b"") for each in records(group))
    ]
    assert len(known) > 3
    # Names of keys and protocols are no secrets.
    for word in (b'"protocol":"streams"', b'"read_to"', b'"streams_group_describe"'):
        content = content.replace(word, b"")
    assert [secret for secret in known if secret in content] == []
    assert made.history.generations


@pytest.mark.parametrize("group", [CLASSIC, STREAMS])
def test_every_decision_is_the_same(group: str, tmp_path: Path) -> None:
    write_recording(tmp_path / "known", group)
    anonymous(tmp_path / "past", group)
    plain, hidden = decisions(tmp_path / "known"), decisions(tmp_path / "past")
    part = "assignment" if group == CLASSIC else "members"
    found = [each[part] for each in answers(ASSIGNORS[group], hidden, tmp_path)]
    assert found == [each["observed"][part] for each in hidden] == [each["observed"][part] for each in plain]


def test_connect_rounds_differ_in_names_alone(tmp_path: Path) -> None:
    write_recording(tmp_path / "known", CONNECT)
    anonymous(tmp_path / "past", CONNECT)
    (plain,), (hidden,) = decisions(tmp_path / "known"), decisions(tmp_path / "past")

    def shape(document: dict[str, object]) -> list[list[int]]:
        return [
            sorted(len(jobs["connectors"]) * 100 + len(jobs["tasks"]) for jobs in each["assigned"].values())
            for each in document["observed"]["rounds"]  # type: ignore[index]
        ]

    assert shape(hidden) == shape(plain)


def test_the_same_key_gives_the_same_names_in_every_file_and_another_key_others() -> None:
    record = records(CLASSIC)[5]
    assert anonymous_record(record, Pseudonyms(KEY)) == anonymous_record(record, Pseudonyms(KEY))
    assert anonymous_record(record, Pseudonyms(b"another key of the test")) != anonymous_record(record, Pseudonyms(KEY))


def test_what_cannot_be_read_cannot_be_kept(tmp_path: Path) -> None:
    names = Pseudonyms(KEY)
    made = GroupRecording(tmp_path / "past", names.group("orders"), 0, names)
    made.create()
    made.take(GroupRecord(3, 0, key(2, "orders"), b"\x00\x63secret"))
    made.settle(4)
    assert [offset for offset, _ in made.left_out] == [3]
    assert "secret" not in (tmp_path / "past" / "records.jsonl").read_text()
    assert "orders" not in made.left_out[0][1]


def test_hosts_tags_and_racks_of_clients_are_hidden() -> None:
    (told,) = (each for each in [stable_groups("tagged/exchanges.jsonl.gz")[-1]])
    record = GroupRecord(0, 0, key(2, "tagged"), generation(3, told))
    names = Pseudonyms(KEY)
    hidden = anonymous_record(record, names)
    plain_value, value = record.value or b"", hidden.value or b""
    words = [word for word in (b"zone", b"127.0.0.1", b"tagged") if word in plain_value]
    assert words
    assert [word for word in words if word in value] == []
    history = RecordedHistory(names.group("tagged"))
    assert history.take(attrs.evolve(hidden))
    assert all(member["got"]["active"] for member in history.generations[0]["members"].values())


@pytest.mark.parametrize("group", GROUPS)
def test_garbled_records_are_typed_errors(group: str) -> None:
    names = Pseudonyms(KEY)
    for record in records(group):
        for length in range(0, len(record.value or b""), 7):
            try:
                anonymous_record(attrs.evolve(record, value=(record.value or b"")[:length]), names)
            except BrokerAnswerError:
                continue


def test_keys_that_are_none_are_named_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("tiny-secret")
    with pytest.raises(DocumentFormatError, match="16 to 4096 bytes") as raised:
        read_pseudonyms(tmp_path / "short")
    assert "tiny-secret" not in str(raised.value)
    with pytest.raises(DocumentFormatError, match="openssl rand"):
        read_pseudonyms(tmp_path / "missing")
