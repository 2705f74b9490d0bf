from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.capture.histories.connect_rounds import recorded_rounds
from assignor_lab.capture.histories.group_histories import history_of_rounds
from assignor_lab.capture.histories.timeline import GroupTimeline
from assignor_lab.cli.app import build_app
from assignor_lab.documents.values import plain_document
from assignor_lab.scenarios import read_scenarios
from assignor_lab.scenarios.formats.connect import read_connect
from assignor_lab.scoring.sources.timelines import SourceTimeline
from tests.capture.captured_logs import CAPTURES

SESSIONED = CAPTURES / "connect" / "sessioned" / "exchanges.jsonl.gz"


def jobs(*tasks: str) -> dict[str, list[str]]:
    return {"connectors": [], "tasks": list(tasks)}


def answer(assigned: dict[str, dict[str, list[str]]], revoked: dict[str, dict[str, list[str]]], delay: int = 0) -> Any:
    return {"delay_ms": delay, "assigned": assigned, "revoked": revoked}


def member(name: str, *tasks: str) -> dict[str, Any]:
    return {"id": name, "owned": jobs(*tasks), "static": {"connectors": None, "tasks": None}}


def document(protocol: str, *rounds: tuple[list[dict[str, Any]], Any], begin: int = 0) -> dict[str, Any]:
    return {
        "format": 1, "kind": "connect", "id": "c-1", "protocol": protocol, "max_delay_ms": 60_000,
        "rounds": [
            {"time_ms": begin + 1_000 * number, "connectors": {"c": 2}, "members": members}
            for number, (members, _) in enumerate(rounds)
        ],
        "observed": {"rounds": [answered for _, answered in rounds]},
        "source": {"group": "connect-a"},
    }  # fmt: skip


ONE, TWO = "w1-00000000-0000-4000-8000-000000000001", "w2-00000000-0000-4000-8000-000000000002"
AGAIN = "w1-00000000-0000-4000-8000-000000000003"
FIRST = ([member(ONE)], answer({ONE: jobs("c-0", "c-1")}, {}))
JOINS = ([member(ONE, "c-0", "c-1"), member(TWO)], answer({}, {ONE: jobs("c-1")}))
MOVES = ([member(ONE, "c-0"), member(TWO)], answer({TWO: jobs("c-1")}, {}))
LOST = ([member(TWO, "c-1")], answer({}, {}, 60_000))
RETURNS = ([member(AGAIN), member(TWO, "c-1")], answer({AGAIN: jobs("c-0")}, {}))


def timeline(*documents: Mapping[str, Any]) -> GroupTimeline:
    source = documents[0].get("source", {})
    return GroupTimeline.of(history_of_rounds(source.get("group") or documents[0]["id"], map(read_connect, documents)))


def test_a_job_moves_when_another_worker_gets_it_and_not_when_it_is_taken_away() -> None:
    entries = timeline(document("sessioned", FIRST, JOINS, MOVES, LOST, RETURNS)).entries
    assert [each.active_moved for each in entries] == [0, 0, 1, 0, 0]
    assert [each.joined for each in entries] == [(), ("w2",), (), (), ("w1",)]
    assert [each.gone for each in entries] == [(), (), (), ("w1",), ()]
    assert entries[1].reason == "1 job taken away first"
    assert entries[3].reason == "jobs of lost workers wait 60 s"


def test_under_eager_an_answer_is_all_that_a_worker_runs() -> None:
    first = ([member(ONE)], answer({ONE: jobs("c-0", "c-1")}, {}))
    second = ([member(ONE), member(TWO)], answer({ONE: jobs("c-0"), TWO: jobs("c-1")}, {}))
    assert [each.active_moved for each in timeline(document("eager", first, second)).entries] == [0, 1]


def test_a_worker_that_comes_back_under_another_member_id_at_once_is_a_new_one() -> None:
    (_, second) = timeline(document("sessioned", FIRST, ([member(AGAIN)], answer({AGAIN: jobs("c-0")}, {})))).entries
    assert (second.restarted, second.joined, second.gone) == (("w1",), (), ())


def test_histories_of_one_group_are_one_timeline_that_tells_of_missing_rounds() -> None:
    later = document("sessioned", LOST, begin=60_000)
    made = timeline(later, document("sessioned", FIRST))
    assert [each.time_ms for each in made.entries] == [0, 60_000]
    assert made.entries[1].reason.startswith("rounds before it are not there; ")


def test_an_answer_that_nobody_knows_is_said() -> None:
    (_, second) = timeline(document("sessioned", FIRST, ([member(ONE, "c-0")], None))).entries
    assert second.reason == "the leader's answer is unknown"


def test_generations_and_created_changed_and_deleted_connectors_are_shown() -> None:
    made = document("sessioned", FIRST, JOINS, MOVES)
    for each, connectors in zip(made["rounds"], ({"c": 2}, {"c": 1, "d": 0}, {"c": 1}), strict=True):
        each["connectors"] = connectors
    made["source"]["generations"] = [4, 5, 6]
    entries = timeline(made).entries
    assert [each.generation for each in entries] == [4, 5, 6]
    assert entries[1].reason == "1 job taken away first; connector d created; connector c has 1 task (2 before)"
    assert entries[2].reason == "connector d deleted"


@cache
def imported() -> str:
    told = CliRunner().invoke(build_app(), ["connect", "import", str(SESSIONED)])
    assert told.exit_code == 0
    return "".join(f"{line}\n" for line in told.stdout.splitlines() if line.startswith("{"))


@pytest.mark.slow
def test_history_shows_a_recorded_groups_rebalances_and_decides_them_again(tmp_path: Path) -> None:
    file = tmp_path / "connect.jsonl"
    file.write_text(imported())
    shown = CliRunner().invoke(build_app(), ["history", str(file), "--check"])
    assert shown.exit_code == 0
    assert "connect-main: 25 rebalances, sessioned protocol" in shown.stdout
    assert "25 of 25 decisions equal the recording" in shown.stdout
    told = json.loads(CliRunner().invoke(build_app(), ["history", str(file), "--json"]).stdout)
    (history,) = told["histories"]
    assert (history["moves"], len(history["decisions"])) == ("jobs", 25)
    assert sum(each["active_moved"] for each in history["decisions"]) == 33


@pytest.mark.slow
def test_a_scored_source_of_connect_has_the_same_timeline(tmp_path: Path) -> None:
    file = tmp_path / "connect.jsonl"
    file.write_text(imported())
    told = SourceTimeline()
    scenarios = list(read_scenarios(file))
    assert all(recorded_rounds(each.content) for each in scenarios)
    for each in scenarios:
        told.add(each)
    (shown,) = told.timelines()
    past = timeline(*(each.document for each in scenarios))
    written = plain_document(shown)
    events = written.pop("events")
    assert {"delay_begun", "jobs_revoked"} <= {each["type"] for each in events}
    assert written == {**past.document(), "given": None}
