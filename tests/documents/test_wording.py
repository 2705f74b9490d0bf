from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignor_lab.documents.wording import figure, listed, mean, plain, plural, shortened


@given(st.text(st.characters()))
def test_plain_text_can_be_printed_and_stored(text: str) -> None:
    # Spaces other than the common one are not "printable", but do not affect the text around them.
    assert all(sign.isprintable() or unicodedata.category(sign) == "Zs" for sign in plain(text))


def test_plain_text_leaves_what_people_write() -> None:
    assert plain("Zürich–1 日本 [red] <b> & \\n") == "Zürich–1 日本 [red] <b> & \\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("\x1b[31m", "\\x1b[31m"), ("a\u202eb", "a\\u202eb"), ("\ud800", "\\ud800"), ("\U000e0001", "\\U000e0001")],
)
def test_steering_characters_are_written_out(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text(), st.integers(min_value=5, max_value=40))
def test_a_shortened_text_fits(text: str, limit: int) -> None:
    assert len(shortened(text, limit)) <= limit


def test_a_shortened_text_keeps_both_ends() -> None:
    assert shortened("i1-StreamThread-1-consumer-3aad", 16) == "i1-StreamT…-3aad"[:11] + "-3aad"


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (None, "tasks", "–"),
        (3.0, "tasks", "3"),
        (1234567.0, "tasks", "1\u202f234\u202f567"),
        (0.544, "tasks", "0.54"),
        (0.00123, "ms", "0.0012"),
        (0.957905, "share", "95.8 %"),
        (3 * 1024**3, "bytes", "3 GiB"),
        (1e300, "", "1e+300"),
        (-2.5, "", "-2.50"),
    ],
)
def test_figures_are_readable(value: float | None, unit: str, shown: str) -> None:
    assert figure(value, unit) == shown


def test_a_mean_always_has_its_decimals() -> None:
    assert [mean(value) for value in (1.0, 1.304, None)] == ["1.00", "1.30", "–"]


def test_words_for_numbers_and_lists() -> None:
    assert [plural(1, "state"), plural(2, "copy", "copies")] == ["1 state", "2 copies"]
    assert [listed([]), listed(["a"]), listed(["a", "b", "c"])] == ["", "a", "a, b and c"]
