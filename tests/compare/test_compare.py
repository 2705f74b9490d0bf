"""``assignor compare``: common parts and costs of two answers to the same states."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app

DATA = Path(__file__).parents[1] / "data"
CONNECT = str(DATA / "scenarios" / "connect-incremental.scenarios.jsonl.gz")
GROUP = str(DATA / "scenarios" / "streams-group-sticky.scenarios.jsonl.gz")
STATE = "tagged-classic-generation-10"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["compare", *arguments], env={"COLUMNS": "80"})


def document(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def first_line(path: str) -> dict[str, Any]:
    with gzip.open(path, "rt") as lines:
        found: dict[str, Any] = json.loads(next(lines))
        return found


def figures(found: dict[str, Any]) -> dict[str, Any]:
    return {figure["figure"]: figure for figure in found["figures"]}


@pytest.mark.slow
def test_kafkas_own_decisions_are_those_of_its_assignor(tagged: str) -> None:
    found = document(tagged, "--assignor", "high_availability")
    assert [contender["name"] for contender in found["contenders"]] == ["kafka", "high_availability"]
    assert len(found["states"]) == 24
    assert not any(state["differing"] for state in found["states"])
    assert {figure["difference"] for figure in found["figures"]} == {0.0, None}


def test_what_each_moves_is_what_ran_elsewhere_before(tagged: str) -> None:
    (state,) = document(tagged, "--assignor", "high_availability", "--assignor", "sticky", "--id", STATE)["states"]
    with Path(tagged).open() as lines:
        scenario = next(each for each in map(json.loads, lines) if each["id"] == STATE)
    ran = {task: client["process_id"] for client in scenario["clients"] for task in client["previous_active"]}
    runs = {
        task: process for process, held in scenario["observed"]["assignment"].items() for task in held["active"]
    }  # fmt: skip
    moved = sorted(task for task in ran if runs[task] != ran[task])
    assert moved
    assert sorted(state["answers"][0]["moved"]) == moved
    assert state["answers"][1]["moved"] == []
    assert [each["task"] for each in state["differing"] if each["owners"][0] != each["owners"][1]] == moved


def test_gains_and_losses_are_those_of_the_clients(tagged: str) -> None:
    (state,) = document(tagged, "--assignor", "high_availability", "--assignor", "sticky", "--id", STATE)["states"]
    for client in state["clients"]:
        one, other = client["actives"]
        assert other - one == len(client["gains"]) - len(client["loses"])
    gained = sorted(task for client in state["clients"] for task in client["gains"])
    assert gained == sorted(task for client in state["clients"] for task in client["loses"])
    assert gained


@pytest.mark.slow
def test_a_variant_has_keys_of_its_own(tagged: str) -> None:
    found = document(
        tagged, "--assignor", "high_availability", "--variant", "two=high_availability,num.standby.replicas=0",
        "--id", STATE,
    )  # fmt: skip
    (state,) = found["states"]
    assert found["contenders"][1] == {"name": "two", "is": "high_availability, num.standby.replicas=0"}
    assert sum(client["copies"][1] for client in state["clients"]) < sum(
        client["copies"][0] for client in state["clients"]
    )
    assert figures(found)["restored"]["difference"] is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "source", "assignor", "other"),
    [
        ("streams", str(DATA / "scale" / "streams" / "small-4x40.jsonl.gz"), "sticky", "high_availability"),
        ("streams-group", GROUP, "group_sticky", "group_sticky_4_4"),
        ("connect", CONNECT, "connect_incremental", "connect_static"),
    ],
)
def test_answers_in_a_file_are_those_of_who_wrote_them(
    kind: str, source: str, assignor: str, other: str, tmp_path: Path
) -> None:
    out = str(tmp_path / "answers.jsonl")
    identity = first_line(source)["id"]
    assert first_line(source)["kind"] == kind
    written = CliRunner().invoke(
        build_app(), ["assign", "--assignor", assignor, source, "--out", out]
    )  # fmt: skip
    assert written.exit_code == 0
    found = document(source, "--assignor", assignor, "--answers", out, "--id", identity)
    assert not any(state["differing"] for state in found["states"])
    assert found["contenders"][1]["is"] == f"answers of {assignor} in a file"
    assert document(source, "--assignor", other, "--answers", out, "--id", identity)["states"]


@pytest.mark.slow
def test_a_round_of_a_history_can_be_chosen() -> None:
    identity = first_line(CONNECT)["id"]
    names = ("--assignor", "connect_incremental", "--assignor", "connect_static", "--id", identity)
    whole = document(CONNECT, *names)["states"]
    assert [state["round"] for state in whole] == list(range(len(first_line(CONNECT)["rounds"])))
    assert document(CONNECT, *names, "--round", "1")["states"] == whole[1:2]


def test_avoidable_parts_of_both_answers_are_goal_by_goal(tagged: str) -> None:
    (state,) = document(tagged, "--assignor", "high_availability", "--assignor", "sticky", "--id", STATE)["states"]
    for answer in state["answers"]:
        assert [gap["goal"] for gap in answer["gaps"]][:2] == ["ready", "balance(tasks)"]
        moves = next(gap for gap in answer["gaps"] if gap["goal"] == "moves(tasks)")
        assert moves["value"] == len(answer["moved"])
        assert moves["avoidable"] == moves["value"] - moves["bound"]
    shown = run(tagged, "--assignor", "high_availability", "--assignor", "sticky", "--id", STATE)
    assert "unavoidable for this balance" in " ".join(shown.stdout.split())


@pytest.mark.slow
def test_the_table_fits_80_columns_and_says_what_is_not_measured(tagged: str) -> None:
    for arguments in (("--id", STATE), ()):
        shown = run(tagged, "--assignor", "sticky", *arguments)
        assert shown.exit_code == 0
        assert max(map(len, shown.stdout.splitlines())) <= 80
        assert "Not measured here: task-seconds unavailable" in shown.stdout


@pytest.mark.slow
def test_a_failing_contender_is_a_sentence_and_costs_the_other_nothing(tmp_path: Path) -> None:
    scenario = first_line(str(DATA / "scale" / "streams" / "small-4x40.jsonl.gz"))
    for client in scenario["clients"]:
        client["threads"] = 0
    source = tmp_path / "idle.jsonl"
    source.write_text(json.dumps(scenario))
    both = ("--assignor", "high_availability", "--assignor", "sticky@4.3")
    shown = run(str(source), *both)
    assert shown.exit_code == 0
    assert "sticky@4.3 has no answer: NoCapacityError" in shown.stdout
    assert figures(document(str(source), *both))["failures"]["means"] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--id", "no-such", "--assignor", "sticky"), "no state 'no-such'"),
        (("--assignor", "sticky", "--assignor", "rack_aware", "--assignor", "static"), "two answers are compared"),
        ((), "two answers are compared"),
        (("--assignor", "no_such_one"), "no_such_one"),
        (("--assignor", "connect_incremental"), "connect_incremental"),
        (("--assignor", "sticky", "--answers", "no-such-file"), "no-such-file"),
        (("--variant", "new=sticky,group.protocol=streams"), "assignor convert"),
        (("--assignor", "sticky", "--round", "7"), "no such round"),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[str, ...], says: str, tagged: str) -> None:
    refused = CliRunner().invoke(build_app(), ["compare", tagged, *arguments])
    said = refused.output if refused.exception is None or isinstance(refused.exception, SystemExit) else str(
        refused.exception
    )  # fmt: skip
    assert refused.exit_code != 0
    assert says in said
    assert "Traceback" not in said


def test_a_state_without_kafkas_decision_asks_for_a_second_contender() -> None:
    refused = CliRunner().invoke(build_app(), ["compare", GROUP, "--assignor", "group_sticky"])
    assert "has no decision of Kafka" in str(refused.exception)


def test_a_file_of_something_else_is_no_answers(tagged: str) -> None:
    refused = CliRunner().invoke(build_app(), ["compare", tagged, "--assignor", "sticky", "--answers", tagged])
    assert "this is no result line" in str(refused.exception)


def test_jobs_that_wait_for_a_lost_worker_are_counted(tmp_path: Path) -> None:
    state = json.loads((DATA / "public" / "connect-roll.json").read_text("utf-8"))["initial"]
    first = state["rounds"][0]
    left = {**first, "time_ms": 1_000, "members": first["members"][:2]}
    state["rounds"] = [first, left, {**left, "time_ms": 302_000}]
    file = tmp_path / "loss.jsonl"
    file.write_text(json.dumps(state) + "\n", "utf-8")
    contenders = ("--assignor", "connect_incremental", "--assignor", "connect_eager")
    found = document(str(file), *contenders)
    assert [len(side["waiting"]) for side in found["states"][1]["answers"]] == [12, 0]
    assert "leaves 12 waiting" in run(str(file), *contenders).output.replace("\n", " ")
