"""The tables in a terminal."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from assignor_lab.report import print_summary
from tests.report.summaries import hostile, tagged


def printed(document: dict[str, Any], width: int = 160, *, colours: bool = False) -> str:
    target = io.StringIO()
    print_summary(
        document,
        Console(file=target, width=width, force_terminal=colours, color_system="truecolor" if colours else None),
    )
    return target.getvalue()


def test_the_tables_tell_the_ranking_and_the_agreement() -> None:
    text = printed(tagged())
    assert "sticky does best over all 28 measures together, each kind of measure counting alike." in text
    assert "24 of 24" in text
    assert "stateful_actives_moved ↓ (tasks)" in text
    assert "not loaded: ModuleNotFoundError: No module named 'acme_solver'" in text


def test_what_a_call_costs_and_depends_on_is_told() -> None:
    text = printed(tagged())
    assert "20 KiB" in text
    assert "nothing (in 2 decisions)" in text
    assert "the hash seed (1 of 2)" in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_every_assignor_is_shown_at_any_width(width: int) -> None:
    document = tagged()
    text = printed(document, width)
    assert max(map(len, text.splitlines())) <= width
    for place in document["results"]["ranking"]["by_metric"][0]["places"]:
        assert f"{place['mean']:.2f}" in text


def test_hostile_names_neither_steer_the_terminal_nor_style_the_text() -> None:
    text = printed(hostile(), 400)
    assert {sign for sign in text if not sign.isprintable()} == {"\n"}
    assert "\\x1b[31m[red]\\u202e" in text


def test_the_only_terminal_codes_are_our_own_bold_and_dim() -> None:
    text = printed(hostile(), 400, colours=True)
    codes = {part.partition("m")[0] for part in text.split("\x1b[")[1:]}
    assert codes <= {"0", "1", "2", "1;3"}
