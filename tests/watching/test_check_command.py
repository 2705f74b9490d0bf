"""`assignor check` on recordings of real groups: exit code, limits, the part since the last check, and files."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app
from assignor_lab.watching.findings import RULES
from assignor_lab.watching.since import SinceError, read_since
from tests.capture.captured_logs import CAPTURES, logs
from tests.capture.flight_recording import write_recording


def check(*arguments: object, exit_code: int = 0) -> Result:
    words = ["check", *map(str, arguments)]
    told = CliRunner().invoke(build_app(words), words)
    assert told.exit_code == exit_code, told.output
    return told


def options(application: str) -> list[object]:
    return [*logs(application), "--config", CAPTURES / application / "application.properties"]


@pytest.mark.parametrize("group", ["classic", "streams", "real-connect"])
def test_an_ordinary_past_of_each_kind_passes(group: str, tmp_path: Path) -> None:
    write_recording(tmp_path / "past", group)
    assert "none out of the ordinary" in check(tmp_path / "past").stdout


@pytest.mark.slow
def test_a_group_whose_tasks_wander_fails_in_every_form(tmp_path: Path) -> None:
    junit, summary = tmp_path / "junit.xml", tmp_path / "summary.md"
    summary.write_text("# Job\n")
    told = check(*options("orders-2"), "--json", "--junit", junit, "--summary", summary, exit_code=1)
    (group,) = json.loads(told.stdout)["groups"]
    assert (group["rebalances"], group["is_ordinary"]) == (48, False)
    assert {each["rule"] for each in group["findings"]} == {"back and forth"}
    cases = ET.parse(junit).getroot().iter("testcase")
    assert [each.get("name") for each in cases if each.find("failure") is not None] == ["back and forth"]
    text = summary.read_text()
    assert text.startswith("# Job\n## Rebalances\n")
    assert "2\\_0 moved back and forth between i3 and i4." in text


@pytest.mark.slow
def test_limits_from_a_file_decide(tmp_path: Path) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text("returns = 9\n")
    assert "none out of the ordinary" in check(*options("orders-2"), "--limits", limits).stdout


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("retruns = 1", 'unknown key "retruns": did you mean "returns"?'),
        ("returns = -1", "returns: "),
        ('accepted = ["KAFKA-1"]', "accepted"),
        ("returns = ", "no TOML"),
    ],
)
def test_a_wrong_file_of_limits_is_refused_with_its_place(text: str, fault: str, tmp_path: Path) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text(text)
    with pytest.raises(Exception, match=r"limits\.toml") as error:
        CliRunner().invoke(build_app(["check"]), ["check", "x", "--limits", str(limits)], catch_exceptions=False)
    assert fault in str(error.value)


def test_a_file_remembers_the_last_check(tmp_path: Path) -> None:
    write_recording(tmp_path / "past", "classic")
    last = tmp_path / "last.json"
    assert "10 rebalances" in check(tmp_path / "past", "--since", last).stdout
    kept = last.read_bytes()
    assert "no rebalance in this part" in check(tmp_path / "past", "--since", last).stdout
    assert last.read_bytes() == kept
    last.write_text("{}")
    with pytest.raises(Exception, match=r"last\.json"):
        CliRunner().invoke(
            build_app(["check"]), ["check", str(tmp_path / "past"), "--since", str(last)], catch_exceptions=False
        )


def test_since_takes_durations_and_times() -> None:
    assert read_since(None, 5).is_new("any", -1)
    assert read_since("2h", 10_000_000).time_ms == 2_800_000
    at = datetime(2026, 11, 24, 6, tzinfo=UTC).timestamp() * 1000
    assert read_since("2026-11-24T06:00", 0).time_ms == at
    assert read_since("2026-11-24T07:00+01:00", 0).time_ms == at


@pytest.mark.parametrize("value", ["yesterday", "", ".", "2x", "\0.json"])
def test_other_forms_of_since_are_refused(value: str) -> None:
    with pytest.raises(SinceError, match="write a duration"):
        read_since(value, 0)


def test_a_past_without_decisions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    told = CliRunner().invoke(build_app(["check"]), ["check", str(tmp_path / "empty.jsonl")])
    assert told.exit_code != 0


def test_the_documentation_names_every_rule() -> None:
    page = Path("docs/how-to/nightly-check.md").read_text()
    assert [rule for rule in RULES if f"`{rule}`" not in page and f"*{rule}*" not in page] == []


def test_the_job_of_the_page_installs_what_reads_a_recording() -> None:
    page = Path("docs/how-to/nightly-check.md").read_text(encoding="utf-8")
    installed = re.search(r"pip install 'assignor-lab\[(.+?)\]'", page)
    assert installed is not None
    assert {"cli", "kafka", "statistics"} <= set(installed[1].split(","))
