from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignor_lab.documents.errors import DocumentFormatError, Place
from assignor_lab.documents.files import document_of, read_document
from assignor_lab.documents.json_lines import json_lines
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import (
    Check,
    Mismatch,
    any_value,
    at,
    faults_at,
    format_number,
    hexadecimal,
    open_record,
    text,
    whole,
)
from assignor_lab.documents.toml_text import parse_toml
from assignor_lab.documents.values import value_of


@attrs.frozen
class Inner:
    name: str
    share: float | None


@attrs.frozen
class Outer:
    inner: Inner
    flags: tuple[bool, ...]
    by_name: dict[str, tuple[Inner, ...]]
    number: int = 7
    rest: tuple[tuple[int | None, ...], ...] = ()


GOOD: dict[str, Any] = {
    "inner": {"name": "a", "share": 1},
    "flags": [True],
    "by_name": {"x": [{"name": "b", "share": None, "unknown": 3}]},
}
OUTER: Check[Outer] = value_of(Outer, "look again")


def read(document: Any) -> Outer:
    return document_of(json.dumps(document).encode(), parse_json, OUTER, Place("f.json"))


def test_an_object_becomes_a_value_of_its_class() -> None:
    assert read(GOOD) == Outer(Inner("a", 1.0), (True,), {"x": (Inner("b", None),)})
    assert type(read(GOOD).inner.share) is float
    assert read({**GOOD, "number": 1, "rest": [[1, None], []]}).rest == ((1, None), ())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"inner": {"name": "a"}}, 'f.json, inner.share: required key "share" is missing: look again'),
        ({"inner": {"name": 3, "share": None}}, "f.json, inner.name: expected a text, found 3 (a number)"),
        ({"inner": None}, "f.json, inner: expected an object, found null: look again"),
        ({"flags": [True, 1]}, "f.json, flags[1]: expected true or false, found 1 (a number)"),
        ({"flags": {}}, "f.json, flags: expected a list, found an object"),
        ({"by_name": {"x": [{"name": "b", "share": "3"}]}}, "f.json, by_name.x[0].share: expected a finite number"),
        ({"by_name": {"x": [{"name": "b", "share": True}]}}, "f.json, by_name.x[0].share: expected a finite number"),
        ({"number": True}, "f.json, number: expected a whole number"),
        ({"number": 1.0}, "f.json, number: expected a whole number"),
        ({"rest": [[1], ["x"]]}, "f.json, rest[1][0]: expected a whole number"),
    ],
)
def test_a_fault_is_named_by_its_key(change: dict[str, Any], said: str) -> None:
    with pytest.raises(DocumentFormatError) as caught:
        read({**GOOD, **change})
    assert str(caught.value).startswith(said)


def test_a_class_that_no_check_can_be_made_for_is_a_mistake_of_ours() -> None:
    @attrs.frozen
    class Odd:
        field: set[int]

    with pytest.raises(TypeError, match="no check for fields of type"):
        value_of(Odd, "")


@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["inner", "flags", "by_name", "name", "share", "number", "rest"]), inner
    ),
))  # fmt: skip
def test_any_value_is_one_of_the_class_or_a_mismatch(value: Any) -> None:
    try:
        found = OUTER(value)
    except Mismatch:
        return
    assert isinstance(found, Outer)


def test_an_open_record_leaves_other_keys_out() -> None:
    check = open_record({"a": text}, {"b": any_value})
    assert check({"a": "x", "c": 1}) == {"a": "x"}
    assert check({"c": 1, "b": [], "a": "x"}) == {"a": "x", "b": []}


def test_checks_below_a_value_name_the_way_to_it() -> None:
    with pytest.raises(Mismatch) as caught:
        at(whole(0, 3), 4, "a", 1)
    assert caught.value.path == ["a", 1]


@pytest.mark.parametrize("value", ["0", "zz", "é", 3, None])
def test_what_is_no_hexadecimal_text_is_told(value: object) -> None:
    with pytest.raises(Mismatch, match="expected"):
        hexadecimal(value)
    assert hexadecimal("00Ff") == b"\x00\xff"


@pytest.mark.parametrize("value", [0, 2, True, 1.0, "1", None])
def test_another_format_is_told(value: object) -> None:
    with pytest.raises(Mismatch, match="this version reads format 1"):
        format_number(1)(value)


@pytest.mark.parametrize(
    ("parse", "content", "place"),
    [
        (parse_json, b'{"a": 1,\n "b": }\n', "line 2: not JSON at column 7"),
        (parse_toml, b"a = 1\nb = \n", "line 2: no TOML at column 5"),
        (parse_toml, b"\xff", "byte 0 is not UTF-8"),
    ],
)
def test_text_that_is_no_document_is_told_with_its_line(tmp_path: Path, parse: Any, content: bytes, place: str) -> None:
    path = tmp_path / "f"
    path.write_bytes(content)
    with pytest.raises(DocumentFormatError) as caught:
        read_document(path, parse, any_value, max_bytes=100, subject="a file of tests")
    assert str(caught.value).startswith(str(path))
    assert place in str(caught.value)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_table_or_a_mismatch(content: bytes) -> None:
    try:
        found = parse_toml(content)
    except Mismatch:
        return
    assert isinstance(found, dict)


def test_a_file_that_is_too_large_or_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b" " * 101)
    with pytest.raises(DocumentFormatError, match="larger than 100 bytes: is this a file of tests"):
        read_document(tmp_path / "f", parse_json, any_value, max_bytes=100, subject="a file of tests")
    for path in (tmp_path / "missing", tmp_path, "a\0b"):
        with pytest.raises(DocumentFormatError, match=r"cannot be read: .*; check the path"):
            read_document(path, parse_json, any_value, max_bytes=100, subject="a file of tests")


def test_lines_come_with_their_places_and_blank_ones_are_passed_over() -> None:
    source = io.BytesIO(b'1\n\n  \n{"a": 2}\n[')
    lines = json_lines(source)
    assert [next(lines), next(lines)] == [(Place("<stream>", 1), 1), (Place("<stream>", 4), {"a": 2})]
    with pytest.raises(DocumentFormatError, match="<stream>, line 5: not JSON at column 2"):
        next(lines)


def test_a_fault_in_a_line_keeps_the_lines_number() -> None:
    with pytest.raises(DocumentFormatError) as caught, faults_at(Place("f", 7)):
        parse_toml(b"a = \n")
    assert caught.value.line == 7
