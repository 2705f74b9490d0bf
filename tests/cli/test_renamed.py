"""Former names of commands and options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assignment_api import exports
from assignor_lab.cli import renamed
from assignor_lab.cli.renamed import present_words


@pytest.mark.parametrize(
    ("former", "present", "noted"),
    [
        ("import-log a.log --out b", "import a.log --out b", "import-log is now named import"),
        ("import-recording r --log a.log", "import r --log a.log", "import-recording is now named import"),
        ("assign --assignor a --scenarios f", "assign --assignor a f", "--scenarios is not needed any more"),
        ("assign --scenarios=f", "assign f", "assignor assign FILE"),
        ("convert --scenarios -", "convert -", "assignor convert FILE"),
        ("score --again m --out o", "score --reproduce m --out o", "--again is now named --reproduce"),
        ("score f --answers", "score f --keep-assignments", "--answers is now named --keep-assignments"),
        ("score f --histories decisions", "score f --mode independent", "--histories is now named --mode"),
        ("score f --histories=played", "score f --mode=played", "--histories is now named --mode"),
        ("simulate e --coming-refiner", "simulate e --experimental-warmup", "--coming-refiner is now named"),
    ],
)
def test_a_former_name_works_and_one_line_names_the_present_one(
    former: str, present: str, noted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert present_words(former.split()) == present.split()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("assignor: ")
    assert noted in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    "words", ["", "--help", "compare f --answers a", "assign f -- --scenarios", "score --mode played"]
)
def test_other_words_stay_as_they_are(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert present_words(words.split()) == words.split()
    assert capsys.readouterr().err == ""


def test_the_page_of_promises_lists_every_former_name() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "promises.md").read_text(encoding="utf-8")
    table = page.partition("## Former names")[2]
    for options in renamed._OPTIONS.values():
        for former, present in options.items():
            assert f"`{former}" in table, former
            assert f"`{present or 'FILE'}" in table, former
    for former, present in {**renamed.FORMER_COMMANDS, **exports.RENAMED}.items():
        assert {f"`{former}`", f"`{present}`"} <= set(re.findall(r"`[^`]+`", table)), former
