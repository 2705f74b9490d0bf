"""The kit finds each seeded fault, shrinks it, and raises no alarm over an assignor without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assignment_api.conformance import (
    KINDS,
    InProcessSubject,
    Level,
    Report,
    StreamsAssignorConformance,
    Trial,
    history_of,
)
from tests.assignment_api.conformance.faults import FAULTS, Faultless, IsSlowBySize, LosesATask


def reported(assignor_class: type[Faultless], folder: Path | None = None) -> Report:
    class Held(StreamsAssignorConformance):
        assignor = assignor_class

    return Held.report(histories=60, folder=folder)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault is not IsSlowBySize], ids=lambda it: it.__name__)
def test_a_fault_is_found_and_made_small(fault: type[Faultless]) -> None:
    failures = {each.rule: each for level in reported(fault).levels for each in level.failures}
    assert FAULTS[fault] <= failures.keys()
    for rule in FAULTS[fault]:
        history = failures[rule].history
        assert history is not None
        assert len(history["members"]) <= 3
        assert sum(count for count, _ in history["tasks"]) <= 4
        assert len(history["events"]) <= 3


def test_what_grows_too_fast_is_found_with_its_times() -> None:
    (bounded,) = [result for result in reported(IsSlowBySize).levels if result.level is Level.BOUNDED]
    assert bounded.status == "failed"
    assert "times as long as" in bounded.failures[0].found


def test_an_assignor_without_a_fault_holds_every_level() -> None:
    report = reported(Faultless)
    assert {result.status for result in report.levels} == {"passed"}
    assert report.summary().endswith("bounded ✓ · 7 of 7 levels, 60 histories")


def test_a_failure_leaves_its_states_and_its_history_behind(tmp_path: Path) -> None:
    report = reported(LosesATask, tmp_path)
    (failure,) = [each for level in report.levels for each in level.failures]
    assert failure.found == "task 0_2 is active on no client"
    assert failure.scenarios is not None
    (state,) = [json.loads(line) for line in Path(failure.scenarios).read_text().splitlines()]
    assert (state["kind"], [task["id"] for task in state["tasks"]]) == ("streams", ["0_0", "0_1", "0_2"])
    history = history_of(json.loads(next(tmp_path.glob("*.history.json")).read_text()))
    subject = InProcessSubject("mine", LosesATask, KINDS["streams"].answering)
    (again,) = {each.rule for each in Trial(KINDS["streams"], subject).broken(history)}
    assert again == "nothing lost"
    assert [command.split()[1] for command in failure.commands] == ["conformance", "assign"]


def test_equal_seeds_find_equal_histories() -> None:
    assert reported(LosesATask).document() == reported(LosesATask).document()
