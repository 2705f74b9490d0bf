from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from assignment_api import ProcessID, TaskId
from assignment_api.java import spread, string_hash, task_id_hash, uuid_hash
from assignor_lab.scenarios import Place, read_scenarios, scenario_from_document
from parity.cases import (
    ASSIGNORS,
    CONNECT_ASSIGNOR,
    GROUP_ASSIGNORS,
    KINDS,
    draw_case,
    kind_of,
    next_round,
)
from parity.comparison import ParityRun
from parity.official import OfficialKafkaSilentError
from parity.plain_groups import PLAIN_ASSIGNORS, next_plain_group
from parity.reconciliations import RECONCILIATION_KIND, RECONCILIATIONS

pytestmark = pytest.mark.slow


def test_a_case_depends_on_seed_and_number_alone() -> None:
    assert [draw_case(3, number) for number in range(40)] == [draw_case(3, number) for number in range(40)]
    assert draw_case(3, 1) != draw_case(4, 1)


@pytest.mark.slow
def test_every_case_of_an_assignor_is_a_scenario_of_format_1() -> None:
    for number in (number for number in range(500) if kind_of(number) != RECONCILIATION_KIND):
        document = draw_case(1, number).document
        assert scenario_from_document(document, Place("case", number)).id == document["id"]


def test_a_task_that_is_gone_is_listed_once_though_a_large_application_has_one_of_its_number() -> None:
    document = draw_case(902, 2460).document
    assert "46_0" in {task["id"] for task in document["tasks"]}
    assert scenario_from_document(document, Place("case", 2460)).id == document["id"]


@pytest.mark.slow
def test_every_kind_of_question_is_asked() -> None:
    cases = [draw_case(2, number) for number in range(500)]
    utilities = ("default_standby", "optimize_active", "optimize_standby", "validate", "identity")
    assert {name for case in cases for name in case.asked} == {
        *ASSIGNORS,
        "sticky_4_4",
        *GROUP_ASSIGNORS,
        CONNECT_ASSIGNOR,
        *RECONCILIATIONS,
        *(name for asked, _ in PLAIN_ASSIGNORS.values() for name in asked),
        "threads",
        *(f"utils.{operation}" for operation in utilities),
    }
    assert {case.lives_by for case in cases} >= {None, *ASSIGNORS[:3], *GROUP_ASSIGNORS}
    assert {case.threads for case in cases} == {True, False}
    strategies = {case.document.get("config", {}).get("rack.aware.assignment.strategy") for case in cases}
    assert strategies >= {"none", "min_traffic", "balance_subtopology"}


def most_in_one_slot(hashes: Iterable[int], slots: int = 64) -> int:
    """Largest number of these hash codes in one slot of the smallest hash table with trees."""
    return max(Counter(spread(code) & slots - 1 for code in hashes).values(), default=0)


@pytest.mark.slow
def test_odd_corners_are_drawn_beside_the_others() -> None:
    cases = [draw_case(8, number) for number in range(600)]
    documents = [case.document for case in cases if case.document["kind"] == "streams"]
    tasks = [[TaskId.parse(task["id"]) for task in document["tasks"]] for document in documents]
    processes = [[ProcessID.parse(client["process_id"]) for client in document["clients"]] for document in documents]
    crowded = {
        "tasks": [
            most_in_one_slot(task_id_hash(t.subtopology, t.partition, t.topology_name) for t in ids) for ids in tasks
        ],
        "processes": [most_in_one_slot(uuid_hash(*process.sort_key()) for process in ids) for ids in processes],
    }
    costs = [document["config"].get("rack.aware.assignment.traffic_cost") or 0 for document in documents]
    for found in crowded.values():
        assert 20 < sum(most > 10 for most in found) < len(documents) / 3
    assert sum(len({task.subtopology for task in ids}) > 20 for ids in tasks) > 10
    assert any(task.subtopology > 64 for ids in tasks for task in ids)
    assert max(costs) > 10**9
    assert min(costs) < -(10**6)


@pytest.mark.slow
def test_contradictions_are_drawn_beside_tidy_groups() -> None:
    cases = [draw_case(9, number) for number in range(4_000)]
    clients = [client for case in cases for client in case.document.get("clients", ())]
    given = [held for case in cases for held in (case.document.get("assignment") or {}).values()]
    roles = [role for held in given for role in held.values()]
    assert any(set(client["previous_active"]) & set(client["previous_standby"]) for client in clients)
    assert any(len(set(role)) < len(role) for role in roles)
    assert sum(len(set(role)) == len(role) for role in roles) > len(roles) / 2


def test_the_kind_of_a_case_is_known_before_it_is_drawn() -> None:
    kinds = [kind_of(number) for number in range(100)]
    drawn = [draw_case(2, number).document["kind"] for number in range(100)]
    assert ["consumer" if kind in PLAIN_ASSIGNORS else kind for kind in drawn] == kinds
    assert set(kinds) == set(KINDS)


def test_groups_are_drawn_with_whatever_members_may_say() -> None:
    numbers = [number for number in range(4_000) if kind_of(number) == "streams-group"]
    documents = [draw_case(3, number).document for number in numbers]
    members = [member for document in documents for member in document["members"]]
    offsets = {offset for member in members for told in member["task_offsets"].values() for offset in told.values()}
    assert offsets >= {0, 5, -1, 2**63 - 1, -(2**63)}
    assert any("gone" in member["task_offsets"] for member in members)
    assert any(member["warmup"] for member in members)
    assert any(len(document["members"]) > 50 for document in documents)
    assert any(document["config"].get("rack.aware.assignment.tags") for document in documents)


@pytest.mark.slow
def test_seldom_a_client_is_given_a_task_in_both_roles() -> None:
    drawn = (draw_case(9, number).document.get("assignment") or {} for number in range(5_000))
    assert any(set(held["active"]) & set(held["standby"]) for given in drawn for held in given.values())


class FirstTaskIsMissing:
    """Gives our answers, without one task."""

    def __init__(self, own: ParityRun) -> None:
        self.own = own

    def rows(
        self,
        scenario: Mapping[str, Any],
        assignors: Sequence[str],
        *,
        threads: bool = False,
        patience_s: float | None = None,
    ) -> list[dict[str, Any]]:
        case = next(case for case in CASES if case.document == scenario)
        rows = copy.deepcopy(self.own._own_rows(case))
        for row in rows:
            row["error"] = row["error"] and {"type": row["error"]["java_type"]}
            for tasks in (row["assignment"] or {}).values():
                del tasks["active"][:1]
        return rows


class NeverAnswers:
    def rows(self, *_: object, **options: object) -> list[dict[str, Any]]:
        raise OfficialKafkaSilentError(f"no answer after {options['patience_s']} s")


def test_a_search_without_end_is_a_difference_where_we_have_an_answer(tmp_path: Path) -> None:
    comparison = ParityRun(NeverAnswers(), tmp_path)  # type: ignore[arg-type]
    assert list(comparison.run(5, 0, 1)) == [1]
    assert comparison.differing == len(CASES[0].asked)
    assert sum(comparison.endless.values()) == 0


CASES = [draw_case(5, number) for number in range(6)]


def test_a_difference_becomes_a_scenario_file(tmp_path: Path) -> None:
    official = FirstTaskIsMissing(ParityRun(None, tmp_path / "unused"))  # type: ignore[arg-type]
    comparison = ParityRun(official, tmp_path / "differences")  # type: ignore[arg-type]
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


@pytest.mark.slow
def test_the_history_of_a_streams_group_goes_on_from_the_answer() -> None:
    followed = []
    for number in range(2_000):
        case = draw_case(6, number)
        if case.lives_by not in GROUP_ASSIGNORS or len(case.document["members"]) < 3:
            continue
        members = {
            member["id"]: {"active": {"0": [1_000 + place]}, "standby": {}, "warmup": {}}
            for place, member in enumerate(case.document["members"])
        }
        following = next_round(6, case, {"members": members, "error": None})
        assert following is not None
        assert following.document["id"] == f"{case.document['id']}-round-1"
        stayed = [member for member in following.document["members"] if member["id"] in members]
        followed += [member["active"] == members[member["id"]]["active"] for member in stayed]
    # Some members are still on the way to their targets.
    assert 0.8 < sum(followed) / len(followed) < 1


@pytest.mark.slow
def test_members_of_a_restarted_group_have_new_names_and_only_offsets() -> None:
    numbers = [number for number in range(4_000) if draw_case(8, number).lives_by in GROUP_ASSIGNORS]
    documents = []
    for case in (draw_case(8, number) for number in numbers):
        given = {
            member["id"]: {"active": {"0": [0]}, "standby": {}, "warmup": {}} for member in case.document["members"]
        }
        following = next_round(8, case, {"members": given, "error": None})
        assert following is not None
        documents.append((given, following.document))
    restarted = [
        member
        for given, document in documents
        for member in document["members"]
        if member["id"] not in given and member["task_offsets"]
    ]
    assert restarted
    assert all(not member["active"] and not member["standby"] for member in restarted)


# --- plain groups ---------------------------------------------------------------------------------


def plain_documents(kind: str) -> list[dict[str, Any]]:
    cases = (draw_case(4, number) for number in range(6_000) if kind_of(number) == "consumer")
    return [case.document for case in cases if case.document["kind"] == kind]


def test_plain_groups_are_drawn_with_their_odd_corners() -> None:
    documents = plain_documents("consumer")
    members = [member for document in documents for member in document["members"]]
    assert any(not document["members"] for document in documents)
    assert any(topic["racks"] for document in documents for topic in document["topics"])
    assert any(member["instance_id"] for member in members)
    assert any(not member["topics"] for member in members)
    assert any(len(set(member["topics"])) < len(member["topics"]) for member in members)
    assert any(document.get("max_generation") is not None for document in documents)
    assert {member["generation"] for member in members} >= {None, 4, 5}
    assert any(most_in_one_slot([string_hash(member["id"]) for member in each["members"]]) > 8 for each in documents)


def test_groups_of_the_coordinator_are_drawn_with_expressions_and_vanished_topics() -> None:
    documents = plain_documents("consumer-group")
    assert any(member["regex"] for document in documents for member in document["members"])
    assert any(
        topic not in {each["id"] for each in document["topics"]}
        for document in documents
        for member in document["members"]
        for topic in member["assigned"]
    )
    assert any(document["assignable"] for document in plain_documents("share-group"))


def test_a_cooperative_group_meets_again_before_the_next_event() -> None:
    chance = Random(1)
    held: dict[str, dict[str, list[int]]] = {"a": {"t": [0, 1]}, "b": {}}
    member: dict[str, Any] = {"topics": ["t"], "instance_id": None, "rack": None, "client_id": None}
    document = {
        "kind": "consumer",
        "topics": [{"name": "t", "partitions": 3, "racks": None}],
        "members": [
            {**member, "id": "a", "owned": {"t": [0, 1, 2]}, "generation": 1, "user_data": None},
            {**member, "id": "b", "owned": {}, "generation": 1, "user_data": None},
        ],
    }
    followers = [next_plain_group(chance, document, held, "consumer_cooperative_sticky", 2) for _ in range(20)]
    quiet = [each for each in followers if [member["id"] for member in each["members"]] == ["a", "b"]]
    assert len(quiet) >= 12
    assert quiet[0]["members"][0]["owned"] == {"t": [0, 1]}
    assert quiet[0]["members"][0]["generation"] == 2
