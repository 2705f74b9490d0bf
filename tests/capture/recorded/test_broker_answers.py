"""Answers of brokers: all versions give the same result; any bytes give a value or a typed error."""

from __future__ import annotations

import contextlib
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignor_lab.capture.recorded.broker_answers import DescribedGroup, read_cluster_answer, read_group_answer
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.recording import read_recording
from assignor_lab.capture.topology.group_topology import Topic
from assignor_lab.documents.errors import DocumentFormatError
from tests.capture.captured_logs import CAPTURES
from tests.capture.recorded.groups import recording


@cache
def exchanges() -> list[dict[str, Any]]:
    with gzip.open(CAPTURES / "warm" / "exchanges.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_all_versions_of_an_answer_say_the_same() -> None:
    told: dict[int, DescribedGroup] = {}
    for exchange in exchanges():
        if exchange["api_key"] == 15:
            (answer,) = read_group_answer(bytes.fromhex(exchange["response_hex"]), exchange["api_version"])
            if answer.state == "Stable" and answer.generation == 6:
                told[exchange["api_version"]] = answer
    assert sorted(told) == [0, 4, 5, 6]
    assert len({repr(attrs.evolve(answer, group="")) for answer in told.values()}) == 1


def test_a_group_tells_the_input_and_the_outcome_of_its_generation() -> None:
    *_, seen = recording("warm").stable()
    member = seen.answer.members[0]

    assert seen.answer.generation == 6
    assert member.subscription is not None
    assert member.subscription.rack == "r2"
    assert member.subscription.info.client_tags == {"zone": "b"}
    assert member.subscription.owned_partitions == (("notes-in", 2),)
    assert member.assignment is not None
    assert len(member.assignment.partitions) == len(member.assignment.info.active_tasks)


def test_a_topic_is_taken_from_the_latest_answer_that_knows_it() -> None:
    found = recording("warm").topic("warm-classic-cities-changelog", 0)

    assert found == Topic({0: ("r2", "r3"), 1: ("r3", "r1"), 2: ("r1", "r2"), 3: ("r1", "r3")})
    assert recording("warm").topic("no-such-topic", 0) is None


@given(st.data())
def test_a_damaged_answer_is_a_value_or_a_typed_error(data: st.DataObject) -> None:
    exchange = data.draw(st.sampled_from(exchanges()))
    message = bytearray.fromhex(exchange["response_hex"])
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, max(len(message) - 1, 0)))
        if data.draw(st.booleans()):
            message[position : position + 4] = data.draw(st.binary(min_size=1, max_size=4))
        else:
            del message[position : position + data.draw(st.integers(1, 400))]
    read = read_group_answer if exchange["api_key"] == 15 else read_cluster_answer
    with contextlib.suppress(BrokerAnswerError):
        read(bytes(message), exchange["api_version"])


@given(st.binary(max_size=300), st.integers(0, 6))
def test_any_bytes_are_a_value_or_a_typed_error(message: bytes, version: int) -> None:
    for read in (read_group_answer, read_cluster_answer):
        with contextlib.suppress(BrokerAnswerError):
            read(message, version)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "is this a recording"),
        ('{"t": 1, "api_key": 15, "api_version": 6}', '"response_hex" is missing'),
        (
            '{"t": 1, "api_key": 15, "api_version": 6, "response_hex": "xx"}',
            "response_hex: expected pairs of hex",
        ),
        ('{"t": 1, "api_key": 15, "api_version": 6, "response_hex": "00"}', "DescribeGroups answer: cannot be read"),
        ('{"t": 1, "api_key": 15, "api_version": 99, "response_hex": "00"}', "DescribeGroups answer: cannot be read"),
        ('{"t": -1, "api_key": 15, "api_version": 6, "response_hex": "00"}', "expected a whole number"),
    ],
)
def test_a_line_that_is_no_exchange_is_refused_with_its_place(tmp_path: Path, line: str, reason: str) -> None:
    file = tmp_path / "exchanges.jsonl"
    file.write_text('{"t": 1, "api_key": 2, "api_version": 7, "response_hex": "no matter"}\n' + line + "\n")
    with pytest.raises(DocumentFormatError, match=r"exchanges\.jsonl, line 2.*" + reason.replace("?", r"\?")):
        read_recording([file])


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(DocumentFormatError, match=r"missing\.jsonl: cannot be read"):
        read_recording(["missing.jsonl"])
