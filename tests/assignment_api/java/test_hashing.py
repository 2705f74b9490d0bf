from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api.java import (
    boolean_hash,
    host_info_hash,
    int32,
    pair_hash,
    spread,
    string_hash,
    subtopology_hash,
    task_id_hash,
    topic_partition_hash,
    uuid_hash,
)


def hash_of_uuid(text: str) -> int:
    number = UUID(text).int
    return uuid_hash(number >> 64, number & 2**64 - 1)


@pytest.mark.parametrize(
    ("number", "wrapped"), [(2**31, -(2**31)), (2**31 - 1, 2**31 - 1), (-(2**31) - 1, 2**31 - 1), (2**32 + 5, 5)]
)
def test_integers_wrap_around_as_in_java(number: int, wrapped: int) -> None:
    assert int32(number) == wrapped


def test_task_ids_have_kafkas_hash_codes() -> None:
    assert task_id_hash(0, 0) == 29791
    assert task_id_hash(1, 0) == task_id_hash(0, 31) == 30752
    assert task_id_hash(3, 7, "topoA") == 110579266


def test_uuids_have_javas_hash_codes() -> None:
    assert hash_of_uuid("131f0ada-6b6a-4e75-a6a0-4149958664e3") == 1263755525
    assert hash_of_uuid("b533260f-6479-4014-a007-818481bd98c6") == -252674215


def test_a_uuid_hashes_alike_from_signed_and_unsigned_halves() -> None:
    assert uuid_hash(-1, 5) == uuid_hash(2**64 - 1, 5)


def test_texts_have_javas_hash_codes() -> None:
    assert string_hash("") == 0
    assert string_hash("store-0-changelog") == -1547577013


@given(st.text(max_size=300), st.text(max_size=300))
def test_the_hash_code_of_two_texts_in_a_row_follows_from_theirs(first: str, second: str) -> None:
    units = len(second.encode("utf-16-be", "surrogatepass")) // 2
    assert string_hash(first + second) == int32(string_hash(first) * 31**units + string_hash(second))


@given(st.integers(-(2**31), 2**31 - 1))
def test_what_was_spread_twice_is_as_it_was(code: int) -> None:
    assert int32(spread(spread(code))) == code


def test_a_supplementary_character_counts_as_two_units() -> None:
    assert string_hash("\U0001f600") == int32(31 * 0xD83D + 0xDE00)


def test_composed_values_combine_the_hash_codes_of_their_parts() -> None:
    assert subtopology_hash(2) == 31 * 33
    assert subtopology_hash(2, "a") == 31 * 33 + 97
    assert topic_partition_hash("a", 3) == 31 * 34 + 97
    assert host_info_hash("a", 80) == 31 * 97 + 80
    assert pair_hash(1, 2) == 31 * 32 + 2
    assert boolean_hash(value=True) == 1231
    assert boolean_hash(value=False) == 1237


def test_spreading_mixes_the_upper_half_of_an_unsigned_code() -> None:
    assert spread(-1) == 0xFFFF0000
    assert spread(0x00012345) == 0x00012344
