from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest

from assignor_lab.kafka.streams_group.releases import KAFKA_4_3
from parity import reconciliations
from parity.cases import draw_case, kind_of
from parity.comparison import ParityRun
from parity.reconciliations import RECONCILIATION_KIND, RECONCILIATIONS, draw_reconciliation, reconciliation_row

MEMBERS = [draw_reconciliation(Random(f"members/{number}"), f"drawn-{number}") for number in range(2_000)]


def holdings(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    member = document["member"]
    others = [(other["id"], other["held"]) for other in document["others"]]
    return [(member["id"], member["assigned"]), (member["id"], member["pending"]), *others]


def tasks_of(held: dict[str, Any], *roles: str) -> list[tuple[str, int]]:
    return [(key, number) for role in roles for key, numbers in held[role].items() for number in numbers]


def test_members_are_drawn_in_every_state_on_the_way_to_their_targets() -> None:
    states = {document["member"]["state"] for document in MEMBERS}
    assert states == {"STABLE", "UNREVOKED_TASKS", "UNRELEASED_TASKS"}
    assert {
        (document["member"]["state"], document["target_epoch"] > document["member"]["epoch"], document["owned"] is None)
        for document in MEMBERS
    } == {
        (state, is_behind, is_silent) for state in states for is_behind in (True, False) for is_silent in (True, False)
    }
    for role in ("active", "standby", "warmup"):
        for where in ("assigned", "pending"):
            assert any(document["member"][where][role] for document in MEMBERS)
        assert any(document["target"][role] for document in MEMBERS)
        for process in ("p", "q"):
            others = chain.from_iterable(document["others"] for document in MEMBERS)
            assert any(other["held"][role] for other in others if other["process_id"] == process)


def test_a_task_is_active_once_and_held_by_one_member_of_each_process() -> None:
    for document in MEMBERS:
        processes = {other["id"]: other["process_id"] for other in document["others"]} | {"m": "p"}
        active = Counter(task for _, held in holdings(document) for task in tasks_of(held, "active"))
        assert max(active.values(), default=1) == 1
        members: dict[tuple[str, tuple[str, int]], set[str]] = {}
        for member, held in holdings(document):
            for task in tasks_of(held, "active", "standby", "warmup"):
                members.setdefault((processes[member], task), set()).add(member)
        assert all(len(found) == 1 for found in members.values())


def test_some_members_have_the_standby_of_a_task_that_they_give_back() -> None:
    found = [
        document["member"]["state"]
        for document in MEMBERS
        if set(tasks_of(document["member"]["pending"], "active"))
        & set(tasks_of(document["member"]["assigned"], "standby"))
    ]
    assert len(found) > 20
    assert set(found) == {"UNREVOKED_TASKS"}


def test_the_row_of_a_step_says_where_the_member_stands_afterwards() -> None:
    nothing: dict[str, Any] = {"active": {}, "standby": {}, "warmup": {}}
    assigned = {**nothing, "active": {"0": [0, 1]}}
    member = {"id": "m", "process_id": "p", "state": "STABLE", "epoch": 5, "assigned": assigned, "pending": nothing}
    target = {**nothing, "active": {"0": [1], "10": [2]}}
    document: dict[str, Any] = {"kind": RECONCILIATION_KIND, "id": "moves", "member": member, "others": []}
    document |= {"owned": None, "target_epoch": 6, "target": target}
    row = reconciliation_row(document, "reconciliation")
    assert (row["id"], row["assignor"], row["error"]) == ("moves", "reconciliation", None)
    assert row["member"] == {
        "state": "UNREVOKED_TASKS",
        "epoch": 5,
        "assigned": {**nothing, "active": {"0": [1]}},
        "pending": {**nothing, "active": {"0": [0]}},
    }


def test_a_crash_of_ours_is_an_error_in_the_row() -> None:
    row = reconciliation_row(
        {"kind": RECONCILIATION_KIND, "id": "broken"} | {"member": {}, "owned": None}, "reconciliation"
    )
    assert (row["member"], row["error"]["type"]) == (None, "KeyError")


class OursBeforeARuleBroke:
    """Gives our present answers."""

    def __init__(self, documents: Iterable[dict[str, Any]]) -> None:
        self._rows = {
            (document["id"], name): reconciliation_row(document, name)
            for document in documents
            for name in RECONCILIATIONS
        }

    def rows(self, scenario: Mapping[str, Any], asked: Sequence[str], **_: object) -> list[dict[str, Any]]:
        return [self._rows[scenario["id"], name] for name in asked]


@pytest.mark.slow
def test_a_step_by_the_rules_of_another_release_is_a_difference_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = [number for number in range(4_000) if kind_of(number) == RECONCILIATION_KIND]
    official = OursBeforeARuleBroke(draw_case(5, number).document for number in numbers)
    monkeypatch.setitem(reconciliations._RELEASES, "reconciliation_4_4", KAFKA_4_3)
    comparison = ParityRun(official, tmp_path / "differences")  # type: ignore[arg-type]
    assert len(list(comparison.run(5, 0, len(numbers), [RECONCILIATION_KIND]))) == len(numbers)
    assert set(comparison.different) == {"reconciliation_4_4"}
    assert comparison.differing > 10
    for end in ("scenario.jsonl", "kafka.json", "ours.json"):
        assert len(list((tmp_path / "differences").glob(f"*.reconciliation_4_4.{end}"))) == comparison.differing
