"""``assignor history``: a group's past in the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app
from assignor_lab.cli.main import main
from tests.capture.captured_logs import CAPTURES
from tests.capture.histories.flight_folders import classic_folder

LOGS = sorted(map(str, (CAPTURES / "plain-ha").glob("*.log.gz")))
PROPERTIES = str(CAPTURES / "plain-ha" / "application.properties")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["history", *arguments])


def test_logs_are_shown_with_times_and_checked() -> None:
    result = run(*LOGS, "--config", PROPERTIES, "--check")
    assert result.exit_code == 0
    assert "plain-ha-classic: 14 decisions, classic protocol" in result.stdout
    assert "+h3" in result.stdout
    assert "-h3" in result.stdout
    assert "2026-11-21 05:43:" in result.stdout
    assert "14 of 14 decisions come out as recorded, decided again by high_availability" in result.stdout


def test_json_has_the_same() -> None:
    told = json.loads(run(*LOGS, "--config", PROPERTIES, "--check", "--json").stdout)
    (history,) = told["histories"]
    assert [each["generation"] for each in history["decisions"]] == list(range(1, 15))
    assert told["checked"] == {"decisions": 14, "as_recorded": 14, "differences": []}
    assert json.loads(run(*LOGS, "--json").stdout)["checked"] is None


def test_decisions_that_come_out_otherwise_are_named_and_end_the_command_with_1() -> None:
    result = run(*LOGS, "--config", PROPERTIES, "--check", "-c", "num.standby.replicas=1")
    assert result.exit_code == 1
    assert "plain-ha-classic-generation-1, 2026-11-21" in result.stdout
    assert "0 of 14 decisions" in result.stdout or "of 14 decisions come out as recorded" in result.stdout


def test_a_recordings_states_of_which_no_decision_is_known_are_counted(tmp_path: Path) -> None:
    result = run(str(classic_folder(tmp_path / "past", "orders-2")))
    assert result.exit_code == 0
    assert "orders-classic-2: 27 decisions" in result.stdout
    assert "of 1 generation it is not known what was decided: left out" in result.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing-there", "cannot be read"),
        ("empty.jsonl", "holds no recorded decision"),
        ("", "holds no recorded decision"),
    ],
)
def test_what_is_no_past_is_refused_with_a_remedy(
    name: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(SystemExit) as left:
        main(["history", str(tmp_path / name)])
    assert left.value.code == 2
    assert words in " ".join(capsys.readouterr().err.split())
