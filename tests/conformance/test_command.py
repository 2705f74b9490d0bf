"""``assignor conformance``, run as a user."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app

pytestmark = [pytest.mark.slow, pytest.mark.long]

FORGETS = """
from assignment_api import StreamsClientAssignment, TaskAssignment, TaskAssignor

class Forgets(TaskAssignor):
    def assign(self, application):
        return TaskAssignment(StreamsClientAssignment.of(client, ()) for client in application.streams_client_states())
"""
HOARDS = """
from assignment_api import AssignedTask, StreamsClientAssignment, TaskAssignment, TaskAssignor

class Hoards(TaskAssignor):
    def assign(self, application):
        first, *others = application.streams_client_states()
        tasks = map(AssignedTask.active, application.all_tasks())
        of = StreamsClientAssignment.of
        return TaskAssignment([of(first, tasks), *(of(other, ()) for other in others)])
"""
HANGS = """
import time
from assignment_api import TaskAssignor
from assignment_api.plugins import discover

class Hangs(TaskAssignor):
    def assign(self, application):
        if len(application.streams_client_states()) > 1:
            time.sleep(60)
        return discover().task_assignor("sticky").create().assign(application)
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["conformance", *arguments])


@pytest.fixture
def author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "forgetting.py").write_text(FORGETS)
    (tmp_path / "hanging.py").write_text(HANGS)
    (tmp_path / "hoarding.py").write_text(HOARDS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_assignor_that_holds_all_levels_ends_with_0() -> None:
    ended = run("sticky", "--histories", "5")
    assert ended.exit_code == 0
    assert "conformance 3 · sticky (streams) · valid ✓ complete ✓" in ended.stdout


def test_a_failure_is_told_with_commands_that_show_it(author: Path) -> None:
    ended = run("forgetting:Forgets", "--histories", "5", "--json")
    assert ended.exit_code == 1
    levels = {level["level"]: level for level in json.loads(ended.stdout)["levels"]}
    failure = next(each for each in levels["complete"]["failures"] if each["rule"] == "nothing lost")
    assert failure["found"] == "task 0_0 is active on no client"
    again = CliRunner().invoke(build_app(), failure["commands"][0].split("assignor ")[1].replace("'", "").split())
    assert again.exit_code == 1
    assert "task 0_0 is active on no client" in again.stdout
    shown = CliRunner().invoke(build_app(), ["assign", "--assignor", "forgetting:Forgets", failure["scenarios"]])
    assert '"active":[]' in shown.stdout


def test_poor_quality_is_a_warning_that_fails_only_on_request(author: Path) -> None:
    words = ("hoarding:Hoards", "--histories", "1", "--level", "valid", "--without", "empty", "--json")
    ended = run(*words)
    warnings = {each["figure"]: each for each in json.loads(ended.stdout)["warnings"]}
    assert warnings.keys() >= {"balance", "idle"}
    assert warnings["idle"]["value"] > warnings["idle"]["reference_value"] == 0
    assert (ended.exit_code, run(*words, "--strict-quality").exit_code) == (0, 1)


def test_an_assignor_that_hangs_is_stopped_and_its_history_is_small(author: Path) -> None:
    deadlines = ("-c", "assignor.plugins.call.timeout.ms=200", "--level", "valid")
    ended = run("hanging:Hangs", "--histories", "20", "--json", *deadlines)
    (failure,) = json.loads(ended.stdout)["levels"][0]["failures"]
    assert failure["rule"] == "in time"
    assert "did not answer within 0.2 s" in failure["found"]
    assert len(failure["history"]["members"]) <= 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("sticky", "--level", "fast"), "'fast' is none of valid"),
        (("sticky", "--without", "threads"), "'threads' is none of standbys"),
        (("sticky", "--kind", "connect"), "sticky is no assignor of kind 'connect'"),
    ],
)
def test_wrong_words_are_refused(words: tuple[str, ...], sentence: str) -> None:
    ended = run(*words)
    assert ended.exit_code == 2
    assert sentence in ended.output
