from __future__ import annotations

from typing import Any

from assignor_lab.capture.edges.moments import DecisionMoment, Participant
from assignor_lab.capture.histories.assigned_tasks import assigned_tasks
from assignor_lab.capture.histories.group_histories import history_of_moments
from assignor_lab.documents.values import plain_document


def decision(time_ms: int, **placed: str) -> DecisionMoment:
    """A decision with the tasks of each process, separated by spaces."""
    participants = {
        process: Participant(process, f"client-{process}", frozenset({f"{process}-1"})) for process in placed
    }
    active = {process: (tuple(tasks.split()), ()) for process, tasks in placed.items()}
    return DecisionMoment(time_ms, None, None, "", "none", participants, active)


def lanes(decisions: list[DecisionMoment]) -> dict[str, Any]:
    document: dict[str, Any] = plain_document(assigned_tasks(history_of_moments("app", decisions)))
    return document


def test_stretches_go_from_one_decision_to_the_next_and_join_where_nothing_changed() -> None:
    found = lanes([decision(1_000, p="0_0 0_1"), decision(1_500, p="0_0", q=""), decision(2_000, p="", q="0_0 0_1")])
    assert found["instances"] == ["client-p", "client-q"]
    assert found["marks"] == [0, 500, 1_000]
    first, second = found["rows"]
    assert (first["task"], first["runs"], first["waits"]) == ("0_0", [[0, 1_000, 0], [1_000, 1_020, 1]], [])
    # The decision in between did not assign it.
    assert (second["runs"], second["waits"]) == ([[0, 500, 0], [1_000, 1_020, 1]], [[500, 1_000, 0]])


def test_tasks_are_in_kafkas_order_and_the_quietest_are_left_out() -> None:
    many = " ".join(f"0_{number}" for number in range(70))
    found = lanes([decision(0, p=many, q=""), decision(1_000, p=many.removesuffix(" 0_69"), q="0_69")])
    tasks = [row["task"] for row in found["rows"]]
    assert (len(tasks), found["rows_left_out"]) == (60, 10)
    assert tasks[-1] == "0_69"
    assert tasks[:3] == ["0_0", "0_1", "0_2"]


def test_a_single_decision_has_a_width() -> None:
    assert lanes([decision(7, p="0_0")])["until_ms"] > 0
