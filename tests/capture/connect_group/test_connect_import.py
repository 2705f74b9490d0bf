"""Recorded answers about real Connect groups become histories, and our assignors answer as the leaders did."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import discover
from assignor_lab.capture.recorded.connect.answers import read_connect_groups
from assignor_lab.capture.recorded.connect.comparison import compare_observed
from assignor_lab.capture.recorded.connect.histories import SeenRound, histories
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.cli.main import main
from assignor_lab.scenarios import DocumentFormatError, Place, canonical_line, read_scenarios, scenario_from_document

DATA = Path(__file__).parents[2] / "data" / "captures"
REGISTRY = discover()


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["connect", "import", *arguments])
    assert isinstance(left.value.code, int)
    return left.value.code


def documents(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def recording(path: Path, lines: Sequence[object]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def exchanges(group: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / "connect" / group / "exchanges.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("group", "rounds", "histories"), [("sessioned", 25, 4), ("eager", 11, 1), ("conflict", 24, 8)]
)
def test_every_recorded_generation_comes_out_as_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], group: str, rounds: int, histories: int
) -> None:
    out = tmp_path / "out.jsonl"
    assert run(str(DATA / "connect" / group / "exchanges.jsonl.gz"), "--check", "--out", str(out)) == 0
    said = capsys.readouterr().err
    assert f"{rounds} of {rounds} recorded generations reproduced" in said
    assert len(documents(out)) == histories
    # The written file reads back the same.
    again = b"".join(canonical_line(scenario.document) for scenario in read_scenarios(out))
    assert again == out.read_bytes()


@pytest.mark.parametrize("seed", [1, 3, 4, 5])
def test_answers_that_came_later_now_and_earlier_then_are_no_differences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    draw = random.Random(seed)
    lines = exchanges("sessioned")
    # A round begins with its first answer, which comes at most this much later than the leader's decision.
    late = {line["response_hex"]: draw.randrange(900) for line in lines}
    times = accumulate((line["t"] + late[line["response_hex"]] for line in lines), max)
    moved = [{**line, "t": time} for line, time in zip(lines, times, strict=True)]
    path = recording(tmp_path / "late.jsonl", moved)
    assert run(path, "--check", "--out", str(tmp_path / "out.jsonl")) == 0
    assert "25 of 25 recorded generations" in capsys.readouterr().err


def test_another_answer_is_a_difference(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    run(str(DATA / "connect" / "sessioned" / "exchanges.jsonl.gz"), "--out", str(out))
    document = documents(out)[2]
    assigned = document["observed"]["rounds"][1]["delay_ms"] = 12_345
    assert assigned
    history = scenario_from_document(document, Place("x")).connect_history
    found = compare_observed(history, document["observed"], lambda name: REGISTRY.connect_assignor(name).create())
    assert [each.number for each in found if each.difference] == [1]


def test_a_changed_recording_ends_the_check_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = exchanges("eager")
    # Replace one worker's task in the bytes of an assignment.
    task = b"\x00\x02ea\x00\x00\x00\x02\xff\xff\xff\xff".hex()
    changed = [
        {**line, "response_hex": line["response_hex"].replace(task, task.replace("ffffffff", "00000001"))}
        for line in lines
    ]
    path = recording(tmp_path / "changed.jsonl", changed)
    ours = [line for line, other in zip(lines, changed, strict=True) if line != other]
    assert run(path, "--check", "--out", str(tmp_path / "out.jsonl")) == (1 if ours else 0)
    assert ours
    assert "recorded" in capsys.readouterr().err


def test_a_missing_generation_begins_a_new_history(tmp_path: Path) -> None:
    # Between these moments lies the generation that revokes tasks for the worker that joins.
    lines = [line for line in exchanges("sessioned") if not 1795234511000 < line["t"] < 1795234514000]
    out = tmp_path / "out.jsonl"
    assert run(recording(tmp_path / "gap.jsonl", lines), "--check", "--out", str(out)) == 0
    assert [len(each["rounds"]) for each in documents(out)] == [2, 1, 7, 8, 6]


def test_what_the_answers_do_not_tell_is_assumed_or_given(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    path = str(DATA / "connect" / "sessioned" / "exchanges.jsonl.gz")
    run(path, "--out", str(out))
    assert documents(out)[0]["max_delay_ms"] == 30_000
    assert "the longest delay that was sent" in documents(out)[0]["assumptions"][0]
    run(path, "-c", "scheduled.rebalance.max.delay.ms=60000", "--out", str(out))
    assert documents(out)[0]["max_delay_ms"] == 60_000
    assert not any("max.delay" in each for each in documents(out)[0]["assumptions"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"t": 1, "api_key": 15, "api_version": 6, "response_hex": "zz"}, "pairs of hexadecimal digits"),
        ({"t": 1, "api_key": 15, "api_version": 6, "response_hex": "00ff"}, "cannot be read"),
        ({"t": 1, "api_key": 15, "api_version": 99, "response_hex": "00"}, "cannot be read"),
        ({"t": 1, "api_key": 15, "api_version": 6}, '"response_hex" is missing'),
        ({"t": -1, "api_key": 15, "api_version": 6, "response_hex": ""}, "expected a whole number"),
        ({"hello": 1}, "is this a recording?"),
        ([1], "is this a recording?"),
        ({"t": 1, "status": {"a": {"status": {"name": "a"}}}}, "is missing"),
        ({"t": 1, "status": {"a": 3}}, "expected an object"),
        ({"t": 1, "status": {}}, "holds no stable Connect group"),
    ],
)
def test_what_is_no_recording_is_told_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: object, said: str
) -> None:
    out = tmp_path / "out.jsonl"
    path = recording(tmp_path / "bad.jsonl", [line])
    assert run(path, "--out", str(out)) == 2
    message = capsys.readouterr().err
    assert said in message
    assert path in message
    assert not out.exists()


@pytest.mark.slow
def test_bytes_of_a_member_cut_short_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = next(line for line in exchanges("sessioned") if line["state"] == "create connectors")
    for end in range(0, len(line["response_hex"]), 40):
        path = recording(tmp_path / "cut.jsonl", [{**line, "response_hex": line["response_hex"][:end]}])
        assert run(path, "--out", str(tmp_path / "out.jsonl")) == 2
        assert "cut.jsonl" in capsys.readouterr().err


def test_what_is_beyond_the_format_is_told_and_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = {"id": 2_000_000_000, "state": "RUNNING", "worker_id": "a:1"}
    status = {"name": "c", "connector": {"state": "RUNNING", "worker_id": "a:1"}, "tasks": [task]}
    out = tmp_path / "out.jsonl"
    assert run(recording(tmp_path / "big.jsonl", [{"status": {"c": {"status": status}}}]), "--out", str(out)) == 2
    assert (
        "big.jsonl, line 1: makes no history: rounds[0].connectors.c: more than 1,000,000 tasks"
        in capsys.readouterr().err
    )
    assert not out.exists()


# --- REST -------------------------------------------------------------------------------------------


def test_recorded_rest_answers_are_states(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert run(str(DATA / "rest" / "sessioned.jsonl.gz"), "--out", str(out)) == 0
    first = documents(out)[0]
    assert first["protocol"] == "sessioned"
    assert first["rounds"][0]["connectors"] == {"gen-a": 4, "gen-b": 6, "gen-c": 2, "gen-d": 3, "sink": 3}
    members = first["rounds"][0]["members"]
    assert [member["id"] for member in members] == [f"127.0.0.1:1808{number}" for number in (1, 2, 3)]
    assert sum(len(member["owned"]["tasks"]) for member in members) == 18
    assert all(member["static"] == {"connectors": None, "tasks": None} for member in members)
    assert any("connect.protocol" in each for each in first["assumptions"])
    assert [scenario.kind for scenario in read_scenarios(out)] == ["connect"] * len(documents(out))


def test_a_calm_state_stays_as_it_is_and_a_lost_worker_is_replaced(tmp_path: Path) -> None:
    out, answers = tmp_path / "out.jsonl", tmp_path / "answers.jsonl"
    run(str(DATA / "rest" / "sessioned.jsonl.gz"), "--lose", "127.0.0.1:18083", "--join", "new", "--out", str(out),
        "-c", "scheduled.rebalance.max.delay.ms=0")  # fmt: skip
    with pytest.raises(SystemExit) as left:
        main(["assign", "--assignor", "connect_incremental", str(out), "--out", str(answers)])
    assert left.value.code == 0
    calm, lost, *_ = documents(answers)[0]["rounds"]
    assert not any(jobs["tasks"] or jobs["connectors"] for jobs in calm["assigned"].values())
    assert len(lost["assigned"]["new"]["tasks"]) == 6


def test_the_state_of_a_group_is_not_told_by_other_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"method": "GET", "path": "/connectors", "status": 200, "body": ["a"]},
        {"method": "POST", "path": "/connectors?expand=status", "status": 200, "body": {}},
        {"method": "GET", "path": "/connectors?expand=status", "status": 500, "body": {}},
    ]
    assert run(recording(tmp_path / "other.jsonl", lines), "--out", str(tmp_path / "out.jsonl")) == 2
    assert "holds no stable Connect group" in capsys.readouterr().err


def test_one_source_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 2
    assert run("x.jsonl", "--url", "http://127.0.0.1:1") == 2
    assert "one of the two" in capsys.readouterr().err


# --- hostile bytes ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_changed_bytes_are_a_value_or_a_typed_error() -> None:
    line = max(exchanges("sessioned"), key=lambda each: len(each["response_hex"]))
    data, draw = bytes.fromhex(line["response_hex"]), random.Random(1)
    outcomes = {"value": 0, "error": 0}
    for _ in range(1_500):
        changed = bytearray(data)
        for _ in range(draw.choice((1, 1, 2, 8))):
            changed[draw.randrange(len(changed))] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        try:
            rounds = read_connect_groups(bytes(changed), line["api_version"])
            seen = [SeenRound("f", 1, number, described) for number, described in enumerate(rounds)]
            for document, _ in histories(seen):
                scenario_from_document(json.loads(canonical_line(document)), Place("x"))
            outcomes["value"] += 1
        except (BrokerAnswerError, DocumentFormatError):
            outcomes["error"] += 1
    assert min(outcomes.values()) > 100, outcomes
