"""The table of raw answers: the form of result lines for every kind of group, joined by keys to the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from assignor_lab.cli.main import main
from assignor_lab.scoring.output.folder import ANSWERS
from assignor_lab.scoring.output.tables import KEY_NAMES
from assignor_lab.simulation.connect.named_episodes import EPISODES
from tests.scoring.in_process import scored
from tests.scoring.runs import NAMED, results_of

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
GROUPS = DATA / "scenarios" / "streams-group-sticky.scenarios.jsonl.gz"
CONNECT = DATA / "scenarios" / "connect-incremental.scenarios.jsonl.gz"
LOGS = [str(path) for path in sorted((DATA / "captures" / "plain").glob("*.log.gz"))]


def answers_of(out: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(out / ANSWERS).to_pylist()
    return rows


def lines_of(folder: Path, scenarios: str, assignor: str) -> list[dict[str, Any]]:
    with pytest.raises(SystemExit) as left:
        main(["assign", "--assignor", assignor, scenarios, "--followups", "--out", f"{folder}/lines"])
    assert left.value.code == 0
    return [json.loads(line) for line in (folder / "lines").read_text(encoding="utf-8").splitlines()]


def imported(folder: Path) -> str:
    with pytest.raises(SystemExit):
        main(["import", *LOGS, "--out", str(folder / "captured.jsonl")])
    return str(folder / "captured.jsonl")


def test_answers_have_the_keys_of_results(tmp_path: Path) -> None:
    scored([imported(tmp_path)], ["sticky", NAMED + "Raises"], tmp_path / "out", raw=True)
    keys = [[row[name] for name in (*KEY_NAMES, "scenario")] for row in results_of(tmp_path / "out").to_pylist()]
    rows = answers_of(tmp_path / "out")
    assert [[row[name] for name in (*KEY_NAMES, "scenario")] for row in rows] == keys
    assert {row["assignor"] for row in rows if row["raw_answer"] is None} == {NAMED + "Raises"}


@pytest.mark.parametrize("assignor", ["sticky", "high_availability"])
def test_answers_of_applications_are_those_of_assign(tmp_path: Path, assignor: str) -> None:
    scenarios = imported(tmp_path)
    scored([scenarios], [assignor], tmp_path / "out", raw=True)
    told = [json.loads(row["raw_answer"]) for row in answers_of(tmp_path / "out") if row["assignor"] == assignor]
    lines = lines_of(tmp_path, scenarios, assignor)
    assert told == [{key: line[key] for key in ("assignment", "followup", "followups")} for line in lines]
    assert told


def test_answers_of_streams_groups_are_those_of_assign(tmp_path: Path) -> None:
    scored([str(GROUPS)], ["group_sticky"], tmp_path / "out", raw=True)
    lines = lines_of(tmp_path, str(GROUPS), "group_sticky")
    for row, line in zip(answers_of(tmp_path / "out"), lines, strict=True):
        assert (row["raw_answer"] is None) == (line["error"] is not None)
        assert row["raw_answer"] is None or json.loads(row["raw_answer"]) == {"members": line["members"]}


def test_answers_of_connect_are_those_of_assign(tmp_path: Path) -> None:
    scored([str(CONNECT)], ["connect_incremental"], tmp_path / "out", raw=True)
    told: dict[str, list[Any]] = {}
    for row in answers_of(tmp_path / "out"):
        told.setdefault(row["scenario"], []).append(row["raw_answer"] and json.loads(row["raw_answer"]))
    lines = {line["id"]: line for line in lines_of(tmp_path, str(CONNECT), "connect_incremental")}
    answered = {name: line["rounds"] for name, line in lines.items() if line["error"] is None}
    assert {name: told[name] for name in answered} == answered
    assert answered


def test_answers_in_an_episode_are_the_rebalances_that_were_led(tmp_path: Path) -> None:
    scored([EPISODES["worker-joins"].document()], ["connect_incremental"], tmp_path / "out", raw=True)
    (row,) = answers_of(tmp_path / "out")
    rounds = json.loads(row["raw_answer"])["rounds"]
    assert [each["generation"] for each in rounds] == sorted({each["generation"] for each in rounds})
    assert all(each["assigned"].keys() == each["revoked"].keys() for each in rounds)
    assert {len(each["assigned"]) for each in rounds} == {2, 3}


def test_without_the_option_there_are_none(tmp_path: Path) -> None:
    scored([str(GROUPS)], ["group_sticky"], tmp_path / "out")
    assert not (tmp_path / "out" / ANSWERS).exists()
