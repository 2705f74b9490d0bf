from __future__ import annotations

import pytest

from assignor_lab.cli.text import console, table

COLUMNS = ("settings", "duration s", "task-seconds")
ROWS = [("as it is", "31.6 (26.8 to 40.8)", "126 (116 to 144)"), ("static members", "9.1 (7.7 to 15.0)", "36")]


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    console().print(table(COLUMNS, ROWS))
    return [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]


def test_a_narrow_table_breaks_before_a_range(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    lines = [line.split("  ") for line in printed(capsys)]
    cells = [[cell.strip() for cell in line if cell] for line in lines]
    assert cells[2:4] == [["as it is", "31.6", "126"], ["(26.8 to 40.8)", "(116 to 144)"]]


def test_a_wide_table_has_one_line_for_each_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert printed(capsys)[2] == "as it is         31.6 (26.8 to 40.8)   126 (116 to 144)"


def test_columns_stand_closer_before_a_word_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "32")
    columns = ("instances", "throughput", "verdict")
    console().print(table(columns, [("2", "1,200", "wasted")]))
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0] == list(columns)
    assert lines[2] == ["2", "1,200", "wasted"]


def test_brackets_in_a_sentence_are_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    console().print(table(("NAME",), [("Kafka's sticky assignor (KIP-924): leaves tasks",)]))
    assert "Kafka's sticky assignor (KIP-924):" in capsys.readouterr().out
