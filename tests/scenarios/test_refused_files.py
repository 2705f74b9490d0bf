"""Unreadable files are refused with their place, in bounded time and memory."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import tracemalloc
from pathlib import Path
from time import process_time

import pytest

from assignor_lab.scenarios import DocumentFormatError, Scenario, read_scenarios
from tests.scenarios.documents import refusal_of_bytes, streams_document

LINE = json.dumps(streams_document()).encode() + b"\n"
GIGABYTE = 1 << 30


def read_until_refused(path: Path) -> tuple[list[Scenario], DocumentFormatError]:
    scenarios: list[Scenario] = []
    with pytest.raises(DocumentFormatError) as caught:
        scenarios.extend(read_scenarios(path))
    return scenarios, caught.value


@pytest.mark.parametrize(
    ("line", "key", "reason"),
    [
        (b'{"format": 1,', "", "not JSON at column"),
        (b"hello", "", "not JSON at column 1"),
        (b'{"a": 1} {"b": 2}', "", "not JSON at column 10"),
        (b"{'a': 1}", "", "not JSON at column 2"),
        (b'{"a": "\x01"}', "", "not JSON at column"),
        (b"\xef\xbb\xbf" + LINE, "", "byte order mark"),
        (b"\xff\xfe{\x00}\x00", "", "byte order mark"),
        (b'{"id": "\xff"}', "", "byte 9 of the line is not UTF-8"),
        (b'{"id": "\xed\xa0\x80"}', "", "is not UTF-8"),
        (b'{"id": "\\ud800"}', "id", "half of a surrogate pair"),
        (b'{"a": {"\\udc00x": 1}}', "a", "half of a surrogate pair"),
        (b'{"id": 1, "id": 2}', "id", "the key occurs twice"),
        (b'{"a": [0, {"b": 1, "c": 2, "b": 3}]}', "a[1].b", "the key occurs twice"),
        (b'{"a": [NaN]}', "a[0]", "NaN and infinite numbers"),
        (b'{"a": Infinity}', "a", "NaN and infinite numbers"),
        (b'{"a": -Infinity}', "a", "NaN and infinite numbers"),
        (b'{"a": 1e999}', "a", "NaN and infinite numbers"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "", "a number of thousands of digits"),
        (b"[" * 200_000, "", "nested"),
        (b'{"a":' * 200_000, "", "nested"),
        (b"[" + b"[]," * 1_000_000 + b"0]", "", "more than 1,000,000 lists and objects"),
        (b"[" * 90 + b'"\\ud800"' + b"]" * 90, "", "nested"),
    ],
)
def test_a_line_that_is_not_strict_json_is_refused(line: bytes, key: str, reason: str) -> None:
    error = refusal_of_bytes(LINE + line)
    assert (error.line, error.key) == (2, key)
    assert reason in error.reason


def test_a_surrogate_pair_is_one_character() -> None:
    line = json.dumps(streams_document(id="🦆")).encode()
    assert b"\\ud83e\\udd86" in line
    assert [scenario.id for scenario in read_scenarios(io.BytesIO(line))] == ["🦆"]


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    _, error = read_until_refused(tmp_path / "none.jsonl")
    assert str(error) == f"{tmp_path / 'none.jsonl'}: cannot be read: No such file or directory; check the path"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "Is a directory" in str(read_until_refused(tmp_path)[1])


def test_a_path_with_a_null_character_is_refused() -> None:
    assert "cannot be read" in str(read_until_refused(Path("a\0b"))[1])


def test_the_line_of_the_fault_counts_from_one_and_the_lines_before_it_are_read(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(LINE + b"\n" + LINE + b"{}\n" + LINE)
    scenarios, error = read_until_refused(path)
    assert [scenario.place.line for scenario in scenarios] == [1, 3]
    assert error.line == 4


@pytest.mark.parametrize("kept", [1, 5, 9, 30, -1, -5, -9])
def test_truncated_gzip_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(LINE * 3)[:kept])
    error = read_until_refused(path)[1]
    assert "gzip" in error.reason
    assert str(path) in str(error)


def test_an_empty_file_that_claims_to_be_gzip_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(b"")
    assert "it was cut off" in read_until_refused(path)[1].reason


def test_damaged_gzip_is_refused(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(LINE * 3))
    packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / "damaged.jsonl.gz"
    path.write_bytes(packed)
    read_until_refused(path)


def test_garbage_after_gzip_data_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "more.jsonl.gz"
    path.write_bytes(gzip.compress(LINE) + b"garbage")
    assert "damaged gzip data" in read_until_refused(path)[1].reason


@pytest.mark.slow
def test_a_gigabyte_without_a_line_end_is_refused_in_bounded_time_and_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as stream:
        stream.truncate(GIGABYTE)
    refused_quickly(path)


@pytest.mark.slow
def test_a_gigabyte_from_a_small_gzip_file_is_refused_in_bounded_time_and_memory(tmp_path: Path) -> None:
    piece = 1 << 24
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b"0" * piece) * (GIGABYTE // piece))
    refused_quickly(path)


def refused_quickly(path: Path) -> None:
    tracemalloc.start()
    try:
        start = process_time()
        error = read_until_refused(path)[1]
        seconds = process_time() - start
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (error.line, error.key) == (1, "")
    assert "longer than 67,108,864 bytes" in error.reason
    assert seconds < 5
    assert peak < 256 << 20


def test_a_file_of_line_ends_alone_is_refused_before_it_takes_long() -> None:
    error = refusal_of_bytes(gzip.compress(b"\n" * 5_000))
    assert "more than 1,000 blank lines" in error.reason


def test_texts_of_the_file_reach_the_message_without_control_characters_and_shortened() -> None:
    error = refusal_of_bytes(json.dumps(streams_document(**{"\x1b[31m" + "x" * 5_000: 1})).encode())
    assert "\x1b" not in str(error)
    assert "\\u001b[31m" in str(error)
    assert len(str(error)) < 1_000


def test_the_error_travels_between_processes() -> None:
    error = refusal_of_bytes(b"{")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert (copy.file, copy.line, copy.key) == (error.file, error.line, error.key)
