"""``--day`` and ``--dates`` on commands that read one state or play a past."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.capture.public_cases import log, run


@pytest.fixture
def of_day(tmp_path: Path) -> str:
    """A log with times of day only."""
    text = gzip.decompress(Path(log("05-poll-timeout", "node-a.log")).read_bytes()).decode()
    file = tmp_path / "node-a.log"
    file.write_text(text.replace("2024-05-06 ", ""))
    return str(file)


def test_a_played_past_has_the_given_day(of_day: str) -> None:
    (document,) = run("simulate", "--from", of_day, "--document", "--day", "2024-05-06").stdout.splitlines()
    assert json.loads(document)["initial"]["source"]["time_ms"] == 1_714_989_605_160


@pytest.mark.parametrize(
    "command",
    [
        ("explain",),
        ("compare", "--assignor", "high_availability", "--assignor", "sticky"),
    ],
)
def test_states_of_a_log_have_the_given_day(command: tuple[str, ...], of_day: str) -> None:
    name, *options = command
    assert run(name, of_day, *options, "--day", "2024-05-06", "--json").exit_code == 0
    wrong = run(name, of_day, *options, "--day", "yesterday")
    assert wrong.exit_code == 2
    assert "no date" in wrong.output
