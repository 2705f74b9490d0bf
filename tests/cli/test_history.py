from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import assignor_lab as lab
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.past_terms import AUTO, PastTerms
from assignor_lab.cli.app import build_app
from assignor_lab.cli.main import main
from assignor_lab.report.sections.pasts import pasts
from assignor_lab.scoring.output.summary_file import summary_of
from tests.capture.captured_logs import CAPTURES
from tests.capture.histories.flight_folders import classic_folder
from tests.captured_states import logged_states
from tests.scoring.in_process import scored

pytestmark = pytest.mark.slow

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
    assert "14 of 14 decisions equal the recording when high_availability decides again" in result.stdout


def test_a_narrow_terminal_shows_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(*LOGS, "--config", PROPERTIES).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("generation 3, instances" in line and "2026-11-21 05:44:02" in line for line in lines)
    assert any(line.startswith("    +h3; ") for line in lines)


@pytest.mark.slow
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
    assert "0 of 14 decisions" in result.stdout or "of 14 decisions equal the recording" in result.stdout


@pytest.mark.slow
def test_a_recordings_states_of_which_no_decision_is_known_are_counted(tmp_path: Path) -> None:
    result = run(str(classic_folder(tmp_path / "past", "orders-2")))
    assert result.exit_code == 0
    assert "orders-classic-2: 27 decisions" in result.stdout
    assert "1 generation left out: the decision is unknown" in result.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing-there", "cannot be read"),
        ("empty.jsonl", "no recorded decision; use a file of assignor import"),
        ("", "no recorded decision; use a file of assignor import"),
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


def test_history_and_report_count_probing_rebalances_alike(tmp_path: Path) -> None:
    tagged = logged_states("tagged", tmp_path / "tagged.jsonl")
    shown = " ".join(run(tagged).stdout.split())
    summary = scored([tagged], ["sticky"], tmp_path / "out", past=PastTerms(AUTO))
    (past,) = pasts(summary_of(summary).results, {})
    assert past.words in shown
    # Other requested ones were overtaken by another rebalance.
    assert "5 to probe whether copies have caught up" in past.words
    assert "19 of them requested a probing rebalance" in past.words


@pytest.mark.parametrize("words", [("history",), ("history", "--json"), ("history", "--check"), ("check",)])
def test_states_without_a_decision_are_no_history(words: tuple[str, ...]) -> None:
    states = CAPTURES / "connect-plans" / "delay-20" / "states.jsonl.gz"
    result = CliRunner().invoke(build_app(), [*words, str(states)])
    assert isinstance(result.exception, HistoryError)
    assert "holds no recorded decision; use a file of assignor import or a folder" in str(result.exception)
    with pytest.raises(HistoryError, match="holds no recorded decision"):
        _ = lab.open(states, state="roll, leader first").history
