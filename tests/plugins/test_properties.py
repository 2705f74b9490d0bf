from __future__ import annotations

import pytest

from assignment_api.plugins.properties import PropertiesSyntaxError, decode_properties, parse_properties


def entries(text: str) -> list[tuple[str, str]]:
    return [(entry.key, entry.value) for entry in parse_properties(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1\nb:2\nc 3\nd\t4\ne\f5", [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")]),
        ("a = 1\nb : 2\nc   =   3", [("a", "1"), ("b", "2"), ("c", "3")]),
        ("a==1\nb = : 2\nc : = 3", [("a", "=1"), ("b", ": 2"), ("c", "= 3")]),
        ("a\nb=\n=c", [("a", ""), ("b", ""), ("", "c")]),
        ("  a=1  ", [("a", "1  ")]),
        ("# c=1\n! d=2\n   # e=3\nf=#4", [("f", "#4")]),
        ("a=1\r\nb=2\rc=3", [("a", "1"), ("b", "2"), ("c", "3")]),
        ("a=1,\\\n    2,\\\r\n\t3", [("a", "1,2,3")]),
        ("a=1\\\n# no comment\nb=2", [("a", "1# no comment"), ("b", "2")]),
        ("# comment \\\na=1", [("a", "1")]),
        ("a=1\\\n\nb=2", [("a", "1"), ("b", "2")]),
        ("a=1\\\\\nb=2", [("a", "1\\"), ("b", "2")]),
        ("a=1\\", [("a", "1")]),
        ("\\\n# comment\na=1", [("a", "1")]),
        (r"a\ b\=c\:d = e", [("a b=c:d", "e")]),
        (r"a=\t\n\r\f\q\"\\", [("a", '\t\n\r\fq"\\')]),
        (r"a=\u00e9\uD83D\uDE00", [("a", "é😀")]),
        (r"\u0061=1", [("a", "1")]),
        ("a=1\na=2", [("a", "1"), ("a", "2")]),
    ],
)
def test_a_file_is_read_as_java_reads_it(text: str, expected: list[tuple[str, str]]) -> None:
    assert entries(text) == expected


@pytest.mark.parametrize("text", [r"a=\u12", r"a=\u12g4", "ok=1\n\\u=1"])
def test_a_malformed_escape_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(PropertiesSyntaxError) as caught:
        entries(text)
    assert caught.value.line == text.count("\n") + 1


def test_an_entry_knows_the_line_in_which_it_begins() -> None:
    assert [entry.line for entry in parse_properties("# c\na=1\\\n2\n\nb=3")] == [2, 5]


@pytest.mark.parametrize("content", ["ä=ö".encode(), b"\xef\xbb\xbf" + "ä=ö".encode(), "ä=ö".encode("iso-8859-1")])
def test_utf_8_and_iso_8859_1_are_both_understood(content: bytes) -> None:
    assert entries(decode_properties(content)) == [("ä", "ö")]


def test_a_value_is_not_shown_where_an_entry_is() -> None:
    (entry,) = parse_properties("sasl.jaas.config=hunter2")
    assert "hunter2" not in repr(entry)
