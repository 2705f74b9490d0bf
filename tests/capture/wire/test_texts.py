"""Java's texts on the wire. The results for malformed bytes are those of the released classes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignor_lab.kafka.wire.integer_map import order_of_computed_keys
from assignor_lab.kafka.wire.texts import (
    MalformedTextError,
    decode_modified_utf8,
    decode_utf8,
    encode_modified_utf8,
    encode_utf8,
)


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("t1", "7431"),
        ("nul\0x", "6e756cc08078"),
        ("é", "c3a9"),
        ("東", "e69db1"),
        ("😀", "eda0bdedb880"),
    ],
)
def test_modified_utf8_spells_nul_in_two_bytes_and_other_planes_in_six(text: str, encoded: str) -> None:
    assert encode_modified_utf8(text).hex() == encoded
    assert decode_modified_utf8(bytes.fromhex(encoded)) == text


@given(st.text(st.characters()))
def test_any_text_survives_modified_utf8(text: str) -> None:
    assert decode_modified_utf8(encode_modified_utf8(text)) == text


def test_modified_utf8_is_read_as_leniently_as_java_reads_it() -> None:
    assert decode_modified_utf8(b"\0a") == "\0a"
    assert decode_modified_utf8(b"\xe0\x81\x81") == "A"
    assert decode_modified_utf8(b"\xed\xa0\x80") == "\ud800"


@pytest.mark.parametrize(
    ("encoded", "position"), [(b"a\xc3", 1), (b"\x80", 0), (b"ab\xf0\x9f\x98\x80", 2), (b"\xe6\x9da", 0)]
)
def test_what_is_no_modified_utf8_is_refused_where_it_begins(encoded: bytes, position: int) -> None:
    with pytest.raises(MalformedTextError) as raised:
        decode_modified_utf8(encoded)
    assert raised.value.position == position


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        (b"a\xffb", "a\ufffdb"),
        (b"\xed\xa0\x80", "\ufffd"),
        (b"\xe4\xba", "\ufffd"),
        (b"\xf0\x90\x80", "\ufffd"),
        (b"\xf0\x80\x80\x80", "\ufffd" * 4),
        (b"\xc0\x80", "\ufffd" * 2),
        (b"\xf4\x90\x80\x80", "\ufffd" * 4),
        (b"\xc3a", "\ufffda"),
    ],
)
def test_malformed_utf8_becomes_as_many_replacements_as_java_puts_there(encoded: bytes, text: str) -> None:
    assert decode_utf8(encoded) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_utf8_is_utf8(text: str) -> None:
    assert decode_utf8(encode_utf8(text)) == text


def test_half_of_a_surrogate_pair_is_written_as_a_question_mark() -> None:
    assert encode_utf8("a\ud800") == b"a?"


def test_a_computed_key_comes_to_the_head_of_its_slot() -> None:
    assert order_of_computed_keys([2, 3, 4, 0xD5_0001, 5, 4]) == [2, 3, 0xD5_0001, 4, 5]


def test_a_map_of_computed_keys_grows_one_call_late() -> None:
    thirteen = [*range(12), 16]
    assert order_of_computed_keys(thirteen) == [16, *range(12)]
    assert order_of_computed_keys([*thirteen, 0]) == [*range(12), 16]
