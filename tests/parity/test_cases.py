"""Cases are drawn by seed and number, and a difference is kept as files that other commands read."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assignor_lab.scenarios import Place, read_scenarios, scenario_from_document
from parity.cases import ASSIGNORS, CONNECT_ASSIGNOR, GROUP_ASSIGNOR, draw_case, next_round
from parity.comparison import Comparison


def test_a_case_depends_on_seed_and_number_alone() -> None:
    assert [draw_case(3, number) for number in range(40)] == [draw_case(3, number) for number in range(40)]
    assert draw_case(3, 1) != draw_case(4, 1)


def test_every_case_is_a_scenario_of_format_1() -> None:
    for number in range(500):
        document = draw_case(1, number).document
        assert scenario_from_document(document, Place("case", number)).id == document["id"]


def test_every_kind_of_question_is_asked() -> None:
    cases = [draw_case(2, number) for number in range(500)]
    utilities = ("default_standby", "optimize_active", "optimize_standby", "validate", "identity")
    assert {name for case in cases for name in case.asked} == {
        *ASSIGNORS,
        GROUP_ASSIGNOR,
        CONNECT_ASSIGNOR,
        "threads",
        *(f"utils.{operation}" for operation in utilities),
    }
    assert {case.lives_by for case in cases} == {None, *ASSIGNORS[:3], GROUP_ASSIGNOR}
    assert {case.threads for case in cases} == {True, False}
    strategies = {case.document.get("config", {}).get("rack.aware.assignment.strategy") for case in cases}
    assert strategies >= {"none", "min_traffic", "balance_subtopology"}


class FirstTaskIsMissing:
    """Answers like us, but for a task that it leaves out."""

    def __init__(self, own: Comparison) -> None:
        self.own = own

    def rows(
        self, scenario: Mapping[str, Any], assignors: Sequence[str], *, threads: bool = False
    ) -> list[dict[str, Any]]:
        case = next(case for case in CASES if case.document == scenario)
        rows = copy.deepcopy(self.own._own_rows(case))
        for row in rows:
            row["error"] = row["error"] and {"type": row["error"]["java_type"]}
            for tasks in (row["assignment"] or {}).values():
                del tasks["active"][:1]
        return rows


CASES = [draw_case(5, number) for number in range(6)]


def test_a_difference_becomes_a_scenario_file(tmp_path: Path) -> None:
    official = FirstTaskIsMissing(Comparison(None, tmp_path / "unused"))  # type: ignore[arg-type]
    comparison = Comparison(official, tmp_path / "differences")  # type: ignore[arg-type]
    assert list(comparison.run(5, 0, 1)) == [1]
    assert comparison.differing == len(CASES[0].asked)
    kept = sorted((tmp_path / "differences").glob("*.scenario.jsonl"))
    assert len(kept) == comparison.differing
    assert [scenario.document for scenario in read_scenarios(kept[0])] == [CASES[0].document]
    assert len(list((tmp_path / "differences").glob("*.kafka.json"))) == comparison.differing


def test_a_history_goes_on_from_the_answer() -> None:
    case = next(case for number in range(500) if (case := draw_case(6, number)).lives_by in ASSIGNORS)
    tasks = [task["id"] for task in case.document["tasks"]]
    placed: dict[str, dict[str, list[str]]] = {
        client["process_id"]: {"active": [], "standby": []} for client in case.document["clients"]
    }
    first = case.document["clients"][0]["process_id"]
    placed[first]["active"] = tasks
    following = next_round(6, case, {"assignment": placed, "error": None})
    assert following is not None
    assert following.document["id"] == f"{case.document['id']}-round-1"
    held = [client["previous_active"] for client in following.document["clients"] if client["process_id"] == first]
    assert held in ([tasks], [])


def test_the_history_of_a_streams_group_goes_on_from_the_answer() -> None:
    case = next(
        case
        for number in range(500)
        if (case := draw_case(6, number)).lives_by == GROUP_ASSIGNOR and len(case.document["members"]) > 2
    )
    members = {
        member["id"]: {"active": {"0": [place]}, "standby": {}, "warmup": {}}
        for place, member in enumerate(case.document["members"])
    }
    following = next_round(6, case, {"members": members, "error": None})
    assert following is not None
    assert following.document["id"] == f"{case.document['id']}-round-1"
    stayed = [member for member in following.document["members"] if member["id"] in members]
    assert [member["active"] for member in stayed] == [members[member["id"]]["active"] for member in stayed]
    assert len(stayed) >= len(members) - 1
