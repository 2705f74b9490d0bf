"""Messages for authors of a broken assignor: place, task, and a debugger in place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app

pytestmark = [pytest.mark.slow, pytest.mark.long]

SMALL = str(Path(__file__).parents[1] / "data" / "scale" / "streams" / "small-4x40.jsonl.gz")
BREAKS = """
import time
from assignment_api import StreamsClientAssignment, TaskAssignment, TaskAssignor

def deeper(number):
    missing = {}
    return missing[number]

class Breaks(TaskAssignor):
    def assign(self, application):
        return deeper(7)

class Hangs(TaskAssignor):
    def assign(self, application):
        while True:
            waits()

def waits():
    time.sleep(3_600)

class LeavesOut(TaskAssignor):
    def assign(self, application):
        first, *_ = application.streams_client_states()
        return TaskAssignment([StreamsClientAssignment.of(first, ())])
"""


@pytest.fixture(autouse=True)
def author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "breaking.py").write_text(BREAKS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(build_app(), arguments, input=text)


@pytest.mark.parametrize("isolate", ["untrusted", "none"])
def test_a_traceback_begins_in_the_plugin_wherever_it_runs(isolate: str) -> None:
    where = ("-c", f"assignor.plugins.isolate={isolate}")
    ended = run("assign", "--assignor", "breaking:Breaks", SMALL, "--traceback", *where)
    told = [line.removeprefix("assignor: ") for line in ended.stderr.splitlines()]
    first = next(number for number, line in enumerate(told) if "raised KeyError: 7" in line)
    assert told[first + 1 : first + 3] == [
        "  breaking.py:11 in assign: return deeper(7)",
        "  breaking.py:7 in deeper: return missing[number]",
    ]


def test_who_has_a_deadline_and_misses_it_is_told_where_the_code_was() -> None:
    first = json.loads(run("assign", "--assignor", "sticky", SMALL).stdout.splitlines()[0])["id"]
    limit = ("-c", "assignor.plugins.call.timeout.ms=500")
    words = ("assign", "--assignor", "breaking:Hangs", SMALL, "--id", first, "--traceback", *limit)
    ended = run(*words)
    assert ended.exit_code == 0
    assert json.loads(ended.stdout)["error"]["type"] == "DeadlineExceededError"
    assert "breaking:Hangs was stopped in" in ended.stderr
    places = [line.rpartition("/")[2] for line in ended.stderr.splitlines() if "/breaking.py:" in line]
    assert places == ["breaking.py:19 in waits", "breaking.py:16 in assign", "breaking.py:19 in waits"]
    timed = run("bench", "--assignor", "breaking:Hangs", SMALL, *limit)
    lines = [json.loads(line) for line in timed.stdout.splitlines()]
    assert {line["error"]["type"] for line in lines} == {"DeadlineExceededError"}
    assert all(line["stopped_at"][-1].endswith("breaking.py:19 in waits") for line in lines)


def test_without_the_option_no_traceback_is_told() -> None:
    assert "breaking.py" not in run("assign", "--assignor", "breaking:Breaks", SMALL).stderr


def test_a_refusal_names_the_clients_that_got_no_assignment() -> None:
    ended = run("assign", "--assignor", "breaking:LeavesOut", SMALL)
    error = json.loads(ended.stdout.splitlines()[0])["error"]
    assert "MISSING_PROCESS_ID: no assignment for client 0" in error["message"]


def test_the_debugger_opens_where_the_plugin_raised() -> None:
    states = json.loads(run("assign", "--assignor", "sticky", SMALL).stdout.splitlines()[0])["id"]
    words = ("assign", "--assignor", "breaking:Breaks", SMALL, "--id", states, "--pdb")
    ended = run(*words, text="p number\nq\n")
    assert "(Pdb) 7" in ended.stderr
    assert len(ended.stdout.splitlines()) == 1


def test_an_id_that_is_not_there_is_refused() -> None:
    ended = run("assign", "--assignor", "sticky", SMALL, "--id", "nobody")
    assert "holds no scenario of id 'nobody'" in str(ended.exception)


def test_the_configuration_names_the_assignor(author: Path) -> None:
    (author / "app.properties").write_text("task.assignor.class=breaking:Breaks\n")
    ended = run("assign", SMALL, "--config", "app.properties")
    assert json.loads(ended.stdout.splitlines()[0])["assignor"] == "breaking:Breaks"
    assert "assignor breaking:Breaks: task.assignor.class" in ended.stderr


def test_nobody_named_anywhere_is_refused_with_the_remedy() -> None:
    ended = run("assign", SMALL)
    assert ended.exit_code == 2
    assert "name one, or a configuration that names one" in " ".join(ended.stderr.replace("│", " ").split())
