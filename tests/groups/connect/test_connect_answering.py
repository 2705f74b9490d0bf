from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import UntrustedCodeError, config_sources, discover
from assignor_lab.cli.main import main
from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
from assignor_lab.scenarios import Place, Scenario, ScenarioKindError, scenario_from_document

DATA = Path(__file__).parents[2] / "data" / "golden" / "connect"
EAGER = DATA / "eager.scenarios.jsonl.gz"
INCREMENTAL = DATA / "incremental.scenarios.jsonl.gz"
CODE = "tests.groups.connect.connect_plugins:"


def member(name: str, *owned: str, lists: list[str] | None = None) -> dict[str, Any]:
    return {
        "id": name,
        "owned": {"connectors": [], "tasks": list(owned)},
        "static": {"connectors": None, "tasks": lists},
    }


def history(*rounds: dict[str, Any], protocol: str = "sessioned", max_delay_ms: int = 300_000) -> Scenario:
    document = {
        "format": 1,
        "kind": "connect",
        "id": "h",
        "protocol": protocol,
        "max_delay_ms": max_delay_ms,
        "rounds": [{"time_ms": 1_000 + 10 * number, **each} for number, each in enumerate(rounds)],
    }
    return scenario_from_document(document, Place("h.jsonl", 1))


def one_round(*members: dict[str, Any], files: int = 2, **further: Any) -> dict[str, Any]:
    return {"connectors": {"files": files}, "members": list(members), **further}


def row(selector: str, scenario: Scenario, *overrides: str, said: list[str] | None = None) -> dict[str, Any]:
    options = AnswerOptions(config_sources(overrides=overrides), on_problem=(said if said is not None else []).append)
    return answerer(selector, discover(), options, may_run_code=True)(scenario)


def documents(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def assign(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["assign", *arguments])
    return int(left.value.code or 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assignor", "scenarios", "results"),
    [
        ("connect_eager", EAGER, "eager.eager"),
        ("connect_incremental", INCREMENTAL, "incremental.incremental_cooperative"),
    ],
)
def test_the_command_gives_kafkas_answers(assignor: str, scenarios: Path, results: str, tmp_path: Path) -> None:
    some, out = tmp_path / "some.jsonl", tmp_path / "out.jsonl.gz"
    with gzip.open(scenarios) as lines:
        some.write_bytes(b"".join(islice(lines, 0, None, 5)))
    assert assign("--assignor", assignor, str(some), "--out", str(out)) == 0
    name = f"connect_{results.partition('.')[0]}"
    expected = [{**result, "assignor": name} for result in documents(DATA / f"{results}.results.jsonl.gz")[::5]]
    assert len(expected) >= 40
    assert documents(out) == expected


def test_a_row_names_every_member_and_sorts_its_jobs() -> None:
    answered = row("connect_incremental", history(one_round(member("z"), member("a"), files=12)))
    assert list(answered["rounds"][0]["assigned"]) == ["z", "a"]
    assert answered["rounds"][0]["assigned"]["z"]["tasks"] == [f"files-{number}" for number in range(1, 12, 2)]
    assert answered["rounds"][0]["revoked"]["a"] == {"connectors": [], "tasks": []}
    assert answered["error"] is None


def test_explicit_configuration_replaces_the_historys_delay() -> None:
    lost = history(
        one_round(member("w1"), member("w2")),
        one_round(member("w1", "files-0")),
    )
    assert row("connect_incremental", lost)["rounds"][1]["delay_ms"] == 300_000
    shorter = row("connect_incremental", lost, "scheduled.rebalance.max.delay.ms=7")
    assert shorter["rounds"][1]["delay_ms"] == 7


def test_explicit_configuration_makes_lists_count() -> None:
    listed = history(one_round(member("w1"), member("s", lists=["files-0", "files-1"])))
    assert row("connect_static", listed)["rounds"][0]["assigned"]["w1"]["tasks"] == ["files-1"]
    strict = row("connect_static", listed, "connect.protocol=static")
    assert strict["rounds"][0]["assigned"]["s"]["tasks"] == ["files-0", "files-1"]


def test_settings_of_an_assignor_reach_it() -> None:
    listed = history(one_round(member("w1"), member("s", lists=[])), protocol="static")
    setting = "assignor.connect_static.empty_static_is_wildcard=true"
    assert row("connect_static", listed, setting)["rounds"][0]["assigned"]["s"]["tasks"] != []


def test_a_new_leader_knows_nothing_of_the_rounds_before() -> None:
    rounds = one_round(member("w1"), member("w2")), one_round(member("w1", "files-0"))
    waits = row("connect_incremental", history(*rounds))["rounds"][1]
    assert (waits["delay_ms"], waits["assigned"]["w1"]["tasks"]) == (300_000, [])
    led = row("connect_incremental", history(rounds[0], {**rounds[1], "new_leader": True}))["rounds"][1]
    assert (led["delay_ms"], led["assigned"]["w1"]["tasks"]) == (0, ["files-1"])


def test_a_generation_gap_makes_the_leader_forget_what_was_placed() -> None:
    rounds = one_round(member("w1"), member("w2")), one_round(member("w1", "files-0"), generation_gap=True)
    answered = row("connect_incremental", history(*rounds))["rounds"][1]
    assert (answered["delay_ms"], answered["assigned"]["w1"]["tasks"]) == (0, ["files-1"])


def test_what_an_eager_assignor_would_do_to_an_incremental_group_is_said_to_be_a_supposition() -> None:
    said: list[str] = []
    answered = row("connect_eager", history(one_round(member("w1", "files-1"), member("w2", "files-0"))), said=said)
    assert answered["rounds"][0]["assigned"]["w1"]["tasks"] == ["files-1"]
    assert answered["rounds"][0]["assigned"]["w2"]["tasks"] == ["files-0"]
    assert said == ["h.jsonl, line 1: connect_eager leads eager groups only: answered as if this one spoke eager"]


def test_an_incremental_assignor_cannot_know_what_an_eager_group_owns() -> None:
    answered = row("connect_incremental", history(one_round(member("w1")), protocol="eager"))
    assert answered["rounds"] is None
    assert answered["error"]["type"] == "UnsupportedConnectProtocolError"
    assert answered["error"]["message"].startswith(
        "rounds[0]: connect_incremental cannot lead a group that speaks eager"
    )


def test_what_nobody_may_run_is_said_once() -> None:
    said: list[str] = []
    alone = one_round(member("s", lists=[]))
    assert row("connect_static", history(alone, alone, protocol="static"), said=said)["error"] is None
    assert said == [
        "h.jsonl, line 1, rounds[0]: connect_static: 3 jobs stay unassigned, since no worker lists them and there is "
        "no wildcard worker: files, files-0, files-1"
    ]


# --- plugins ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("attribute", ["AllToTheFirst", "FIRST"])
def test_an_assignor_may_be_named_as_code_and_lives_through_all_rounds(attribute: str) -> None:
    answered = row(CODE + attribute, history(one_round(member("w1")), one_round(member("w1", "files-0"))))
    assert answered["assignor"] == CODE + attribute
    assert [each["delay_ms"] for each in answered["rounds"]] == [1, 2]
    assert answered["rounds"][1]["assigned"]["w1"] == {"connectors": ["files"], "tasks": ["files-1"]}


def test_an_unknown_assignor_is_refused_without_a_scenario_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(SystemExit) as ended:
        main(["assign", "--assignor", "nosuch", str(empty)])
    assert ended.value.code == 2
    assert "unknown assignor 'nosuch'" in capsys.readouterr().err


def test_code_runs_only_where_it_may() -> None:
    options = AnswerOptions(config_sources())
    with pytest.raises(UntrustedCodeError):
        answerer(CODE + "AllToTheFirst", discover(), options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attribute", "error", "message"),
    [
        ("no_assignor", "PluginLoadError", "its factory made str, expected a subclass of assignment_api.connect"),
        ("exits", "SystemExit", "3"),
        ("returns_text", "InvalidAnswerError", "returned str, expected ConnectAssignment"),
        ("unknown_member", "InvalidAnswerError", "there is no member 'w9' in the group"),
        ("unknown_job", "InvalidAnswerError", "connector instance 'gone' of 'w1' is not configured"),
        ("owned_job", "InvalidAnswerError", "task 'files-1' is given to 'w1', and another worker"),
        ("wrong_item", "InvalidAnswerError", "workers['w1'].assigned.tasks"),
        ("negative_delay", "InvalidAnswerError", "delay_ms is -1, expected 0 or more"),
    ],
)
def test_whatever_a_plugin_does_is_a_row(attribute: str, error: str, message: str) -> None:
    answered = row(CODE + attribute, history(one_round(member("w1"), member("w2", "files-1"))))
    assert answered["rounds"] is None
    assert answered["error"]["type"] == error
    assert message in answered["error"]["message"]


@pytest.mark.slow
def test_a_configuration_that_an_assignor_refuses_is_a_row() -> None:
    answered = row(CODE + "AllToTheFirst", history(one_round(member("w1")), max_delay_ms=13))
    assert answered["error"] == {
        "type": "ConnectConfigError",
        "java_type": "ConfigException",
        "message": "rounds[0]: 13 brings bad luck",
    }


@pytest.mark.parametrize("assignor", ["sticky", "group_sticky", "utils.identity"])
def test_an_assignor_of_another_kind_is_wrong_use(assignor: str) -> None:
    with pytest.raises(ScenarioKindError, match=f"is of kind 'connect', and {assignor} answers"):
        row(assignor, history(one_round(member("w1"))))


def test_an_unreadable_line_is_named_and_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "h.jsonl", tmp_path / "out.jsonl"
    good = json.dumps(dict(history(one_round(member("w1"))).document))
    bad = json.dumps({**history().document, "rounds": [{"time_ms": 1, **one_round(member("w1", "files"))}]})
    file.write_text(f"{good}\n{bad}\n")
    assert assign("--assignor", "connect_incremental", str(file), "--out", str(out)) == 2
    assert "line 2, rounds[0].members[0].owned.tasks[0]" in capsys.readouterr().err
    assert not out.exists()
