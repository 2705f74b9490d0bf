from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignor_lab.cli.main import main
from assignor_lab.cli.text import plain
from tests.plugins.installing import write_distribution

HOSTILE = """
    from assignment_api import TaskAssignor
    from assignment_api.plugins import TaskAssignorPlugin, hookimpl

    class Mine(TaskAssignor):
        def assign(self, application):
            raise NotImplementedError

    @hookimpl
    def assignor_lab_task_assignors():
        return [TaskAssignorPlugin("mine", Mine, summary="[red]x[/red] :smile: \\x1b[2J \\u202etxt\\nnext")]
"""


@attrs.frozen
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ran:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert isinstance(left.value.code, int)
        printed = capsys.readouterr()
        return Ran(left.value.code, printed.out, printed.err)

    return run


SCENARIO = {
    "format": 1,
    "kind": "streams",
    "id": "one",
    "config": {"num.standby.replicas": 1, "max.warmup.replicas": 0},
    "tasks": [],
    "clients": [],
}


def scenario(folder: Path) -> str:
    path = folder / "scenarios.jsonl"
    path.write_text(json.dumps(SCENARIO) + "\n" + json.dumps({**SCENARIO, "id": "two", "config": {}}) + "\n")
    return str(path)


@pytest.mark.slow
def test_plugins_lists_what_is_installed(run: Any) -> None:
    ran = run("plugins")
    assert ran.code == 0
    assert "high_availability (default)" in ran.out


def test_one_kind_of_plugins_can_be_listed(run: Any) -> None:
    ran = run("plugins", "--kind", "group-assignor")
    assert "group_sticky" in ran.out
    assert "high_availability" not in ran.out
    listed = json.loads(run("plugins", "--kind", "metric", "--kind", "group-assignor", "--json").out)["plugins"]
    assert {row["kind"] for row in listed} == {"metric", "group-assignor"}


@pytest.mark.slow
def test_no_name_is_cut_at_80_columns(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = json.loads(run("plugins", "--json").out)["plugins"]
    words = run("plugins").out.split()
    assert not {row["name"] for row in listed} - set(words)


def test_plugins_are_listed_as_json_with_what_a_pin_is_made_of(run: Any) -> None:
    listed = json.loads(run("plugins", "--json").out)
    assert {row["name"]: row["status"] for row in listed["plugins"]}["sticky"] == "available"
    assert len(listed["distributions"]["assignor-lab"]["record_sha256"]) == 64


def test_a_blocked_plugin_is_listed_with_its_reason(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_distribution(tmp_path, "acme", {"acme_plugin": HOSTILE}, {"acme": "acme_plugin"})
    monkeypatch.syspath_prepend(tmp_path)
    ran = run("plugins", "-c", "assignor.plugins.block=acme")
    assert "blocked by assignor.plugins.block: acme" in ran.out


@pytest.mark.slow
def test_what_a_plugin_says_is_printed_as_text(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "hostile_plugin", raising=False)
    write_distribution(tmp_path, "hostile", {"hostile_plugin": HOSTILE}, {"hostile": "hostile_plugin"})
    ran = run("plugins")
    assert "[red]x[/red] :smile: \\x1b[2J \\u202etxt\\nnext" in ran.out
    assert "\x1b" not in ran.out
    assert "\x1b" not in run("plugins", "--json").out


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\r\n\tb", "a\\r\\n\\tb"),
        ("\u202e\ud800\x9b", "\\u202e\\ud800\\x9b"),
        ("Zürich 東京 😀", "Zürich 東京 😀"),
        ("a\u2028b\xa0c", "a b c"),
    ],
)
def test_nothing_that_is_printed_steers_the_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_config_shows_values_and_where_they_came_from(run: Any, tmp_path: Path) -> None:
    tmp_path.joinpath("app.properties").write_text("num.standby.replicas=2\nsasl.jaas.config=hunter2\n")
    ran = run("config", "--config", "app.properties", "-c", "task.assignor.class=StickyTaskAssignor")
    assert ran.code == 0
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in ran.out.splitlines() if line.split()}
    assert lines["num.standby.replicas"] == "2 --config app.properties:1"
    assert lines["max.warmup.replicas"] == "2 Kafka's default"
    assert lines["assignor:"].startswith("sticky (assignor-lab ")
    assert "hunter2" not in ran.out + ran.err
    assert "sasl" not in ran.out + ran.err


def test_config_prints_the_same_as_json(run: Any, tmp_path: Path) -> None:
    tmp_path.joinpath("app.toml").write_text("num.standby.replicas = 2\n")
    shown = json.loads(run("config", "--config", "app.toml", "--json").out)
    assert shown["config"]["num.standby.replicas"] == {
        "value": 2,
        "layer": "file",
        "place": "app.toml",
        "problem": None,
    }
    assert shown["assignor"]["name"] == "high_availability"


def test_config_shows_connects_keys_and_who_leads_a_connect_group(run: Any) -> None:
    shown = json.loads(run("config", "-c", "connect.protocol=static", "--json").out)
    assert shown["config"]["connect.protocol"]["value"] == "static"
    assert shown["config"]["scheduled.rebalance.max.delay.ms"]["value"] == 300_000
    assert shown["config"]["connect.assignor.class"]["layer"] == "default"
    assert (shown["assignor"]["name"], shown["connect_assignor"]["name"]) == ("high_availability", "connect_static")
    assert "group_sticky" in [found["name"] for found in shown["group_assignors"]]
    lines = [line.split() for line in run("config").out.splitlines() if line.startswith("for Kafka Connect:")]
    assert [line[3] for line in lines] == ["connect_incremental"]


def test_config_of_a_scenario_shows_its_bad_values_without_failing(run: Any, tmp_path: Path) -> None:
    ran = run("config", scenario(tmp_path))
    assert ran.code == 0
    assert "Value must be at least 1" in ran.err
    assert "left out there: Kafka's default" in ran.out


def test_config_finds_a_scenario_by_its_id(run: Any, tmp_path: Path) -> None:
    shown = json.loads(run("config", scenario(tmp_path), "--id", "two", "--json").out)
    assert shown["config"]["num.standby.replicas"]["place"].endswith("line 2 (left out there: Kafka's default)")


def test_one_standby_more_for_my_group_is_one_option(run: Any, tmp_path: Path) -> None:
    shown = json.loads(run("config", scenario(tmp_path), "-c", "num.standby.replicas=2", "--json").out)
    assert shown["config"]["num.standby.replicas"]["value"] == "2"


def test_the_brokers_assign_where_the_group_protocol_says_so(run: Any) -> None:
    assert "no assignor of the client runs" in run("config", "-c", "group.protocol=streams").err


@pytest.mark.slow
@pytest.mark.parametrize("key", ["task.assignor.class", "connect.assignor.class"])
@pytest.mark.parametrize("isolate", ["none", "untrusted"])
def test_config_does_not_import_code(run: Any, tmp_path: Path, key: str, isolate: str) -> None:
    tmp_path.joinpath("noisy.py").write_text("open('imported', 'w').close()\nclass Mine: pass\n")
    ran = run("config", "-c", f"{key}=noisy:Mine", "-c", f"assignor.plugins.isolate={isolate}")
    assert (ran.code, tmp_path.joinpath("imported").exists()) == (0, False)
    assert "noisy:Mine (code, not imported here)" in ran.out


@pytest.mark.slow
def test_config_names_code_that_the_policy_blocks(run: Any) -> None:
    ran = run("config", "-c", "task.assignor.class=noisy:Mine", "-c", "assignor.plugins.block=Mine")
    assert ran.code == 2
    assert "may not be imported" in ran.err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-c", "task.assignor.class=stiky"], "did you mean 'sticky'?"),
        (["-c", "task.assignor.class=connect_eager"], "'connect_eager' is a Connect assignor, not a task assignor"),
        (["-c", "connect.assignor.class=eager"], "did you mean 'connect_eager'?"),
        (["-c", "connect.assignor.class=group-sticky"], "is a broker-side assignor for Streams groups, not a Connect"),
        (["-c", "connect.protocl=static"], "did you mean 'connect.protocol'?"),
        (["-c", "task.assignor.class=com.acme.Mine"], "no assignor stands for the Java class 'com.acme.Mine'"),
        (["-c", "num.standby.replica=1"], "did you mean 'num.standby.replicas'?"),
        (["-c", "max.warmup.replicas=0"], "Value must be at least 1"),
        (["--config", "missing.toml"], "missing.toml: cannot be read"),
        (["--config", "broken.toml"], "broken.toml: no valid TOML (at line 1"),
        (["--config", "near.properties"], "near.properties:1: unknown key"),
        (["missing.jsonl"], "missing.jsonl"),
        (["empty.jsonl"], "empty.jsonl: holds no scenario"),
        (["--no-such-option"], "no-such-option"),
    ],
)
def test_wrong_use_is_one_message_and_exit_code_2(
    run: Any, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    tmp_path.joinpath("broken.toml").write_text("num.standby.replicas = = 1")
    tmp_path.joinpath("near.properties").write_text("num.standby.replica=1")
    tmp_path.joinpath("empty.jsonl").write_text("")
    ran = run("config", *arguments)
    assert ran.code == 2
    assert complaint in ran.err
    assert "Traceback" not in ran.err


def test_a_broken_discovered_file_is_exit_code_2(run: Any, tmp_path: Path) -> None:
    tmp_path.joinpath("assignor.toml").write_text("= 1")
    ran = run("plugins")
    assert ran.code == 2
    assert "assignor.toml: no valid TOML" in ran.err


@pytest.mark.slow
def test_assign_names_the_failure_of_every_state_on_standard_error(run: Any, tmp_path: Path) -> None:
    (tmp_path / "always_failing.py").write_text(
        "from assignment_api import TaskAssignor\n\n\nclass Fails(TaskAssignor):\n"
        "    def assign(self, application):\n        raise ValueError('no')\n"
    )
    ran = run("assign", scenario(tmp_path), "--assignor", "always_failing:Fails")
    assert (ran.code, len(ran.out.splitlines())) == (0, 2)
    assert "always_failing:Fails has no answer to any of 2 states" in ran.err


def test_a_scenarios_settings_are_shown_and_the_command_line_replaces_them(run: Any, tmp_path: Path) -> None:
    file = Path(scenario(tmp_path))
    lines = [
        {**json.loads(line), "settings": {"rebalance.timeout.ms": 9, "session.timeout.ms": 10_000}}
        for line in file.read_text().splitlines()
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    shown = json.loads(run("config", str(file), "--json").out)["config"]
    assert (shown["session.timeout.ms"]["value"], shown["session.timeout.ms"]["layer"]) == (10_000, "scenario")
    assert shown["rebalance.timeout.ms"]["value"] == 9
    given = json.loads(run("config", str(file), "-c", "session.timeout.ms=7000", "--json").out)["config"]
    assert (given["session.timeout.ms"]["value"], given["session.timeout.ms"]["layer"]) == ("7000", "command_line")
