"""Limits of options on the command line: no value ends a plan or an advice with an internal error."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app

PLAN = Path(__file__).parents[1] / "data" / "captures" / "plans" / "P1" / "capture.jsonl"


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "roll", "--down-seconds"), ("plan", "roll", "--poll-seconds"), ("plan", "roll", "--revoke-seconds"),
        ("plan", "kill", "d1", "--back-after"), ("advise", "--down-seconds"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_infinite_seconds_are_refused(words: tuple[str, ...]) -> None:
    command, *rest = words
    done = CliRunner().invoke(build_app(), [command, str(PLAN), *rest, "inf"])
    assert isinstance(done.exception, Exception)
    assert str(done.exception) == f"{words[-1]}: expected a number from 0 to 86,400, found inf (a number)"
