"""Tables of Connect's commands on a console of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from assignor_lab.cli.connect.views import print_rows
from assignor_lab.cli.main import main


@pytest.fixture(autouse=True)
def console_of_80(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


WIDE = {"protocol": "incremental", **{f"measured_in_{number}": 123_456.5 for number in range(7)}}
LONG = {
    "what": "the best rate between two commits",
    **{f"a_rather_long_name_{number}": "a_rather_long_value" for number in range(6)},
}


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([{"phase": "start", "ours": 1.5}], " start   1.5"),
        ([WIDE, WIDE], " measured in 3   123,456.5     123,456.5"),
        ([LONG, LONG, LONG, LONG], "    a rather long name 0 a_rather_long_value, a rather long name 1"),
    ],
)
def test_a_table_lies_on_its_side_or_becomes_paragraphs_before_it_breaks_words(
    rows: Sequence[dict[str, Any]], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_rows("Title", rows)
    printed = capsys.readouterr().out.splitlines()
    assert line in [each.rstrip() for each in printed]
    assert max(map(len, printed)) <= 80


def test_a_played_episode_fits(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["connect", "simulate", "kip987-test-plan"])
    printed = capsys.readouterr().out.splitlines()
    (header,) = [number for number, line in enumerate(printed) if line.split()[:1] == ["generation"]]
    assert printed[header].split() == [
        "generation",
        "at",
        "(s)",
        "leader",
        "protocol",
        "jobs",
        "delay",
        "(s)",
        "because",
    ]
    assert max(map(len, printed[header:])) <= 80
