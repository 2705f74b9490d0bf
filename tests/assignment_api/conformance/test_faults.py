from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
from assignment_api.conformance.elsewhere import OtherProcess, origin_of
from assignment_api.conformance.growth import growth_of
from assignment_api.conformance.search import Search
from tests.assignment_api.conformance.faults import FAULTS, Faultless, LosesATask
from tests.assignment_api.conformance.kind_faults import CONNECT_FAULTS, GROUP_FAULTS

pytestmark = pytest.mark.slow


#: Faults of large groups: measuring takes most of the time, so the others go without.
LARGE = [fault for fault, (_, size) in FAULTS.items() if size is None]
SMALL = [fault for fault in FAULTS if fault not in LARGE]
#: One fault for each rule: every push searches these, `make test-services` all of them.
QUICK = [
    fault for number, fault in enumerate(SMALL) if FAULTS[fault][0] not in [FAULTS[it][0] for it in SMALL[:number]]
]
OF_KINDS: Mapping[str, Mapping[type[Any], tuple[str, tuple[int, int, int]]]] = {
    "streams-group": GROUP_FAULTS,
    "connect": CONNECT_FAULTS,
}
SEARCHED = tuple(level for level in Level if level is not Level.BOUNDED)


def reported(assignor_class: type[Faultless], folder: Path | None = None) -> Report:
    class Held(StreamsAssignorConformance):
        assignor = assignor_class

    return Held.report(histories=60, folder=folder)


def found_size(fault: type[Faultless]) -> tuple[int, int, int] | None:
    """Events, members and tasks of the smallest history that violates the fault's rule; ``None`` if none was found."""
    rule, _ = FAULTS[fault]
    origin = origin_of("streams", fault.__name__, fault)
    assert origin is not None
    # Another process takes longer than the search, and shows one rule.
    other = OtherProcess(origin) if rule == "any process" else None
    answering = KINDS["streams"].answering
    subject = InProcessSubject(fault.__name__, fault, answering, (lambda: None) if other is None else other.started)
    search = Search(Trial(KINDS["streams"], subject), 100, levels=frozenset(SEARCHED), stop_after=2)
    try:
        found = {each.broken.rule: each.history for each in search.run().found}
    finally:
        if other is not None:
            other.close()
    history = found.get(rule)
    if history is None:
        return None
    return (len(history.events), len(history.members), sum(count for count, _ in history.tasks))


def assert_small(fault: type[Faultless]) -> None:
    size, most = found_size(fault), FAULTS[fault][1]
    assert size is not None
    assert most is not None
    assert size <= most


@pytest.mark.parametrize("fault", QUICK, ids=lambda it: it.__name__)
def test_a_fault_is_found_and_made_small(fault: type[Faultless]) -> None:
    assert_small(fault)


@pytest.mark.parametrize(
    ("kind", "fault"),
    [(kind, fault) for kind, faults in OF_KINDS.items() for fault in faults],
    ids=lambda it: it if isinstance(it, str) else it.__name__,
)
def test_a_fault_of_another_kind_is_found_and_made_small(kind: str, fault: type[Any]) -> None:
    rule, most = OF_KINDS[kind][fault]
    subject = InProcessSubject(fault.__name__, fault, KINDS[kind].answering, lambda: None)
    # Kafka's own sticky assignor of the broker is not at rest with two standbys.
    known = () if rule == "at rest" else ("at rest",)
    search = Search(Trial(KINDS[kind], subject), 100, levels=frozenset(SEARCHED), known=known, stop_after=1)
    found = {each.broken.rule: each.history for each in search.run().found}
    history = found[rule]
    assert history is not None
    assert (len(history.events), len(history.members), sum(count for count, _ in history.tasks)) <= most


@pytest.mark.services
@pytest.mark.parametrize("fault", [fault for fault in SMALL if fault not in QUICK], ids=lambda it: it.__name__)
def test_each_other_fault_is_found_and_made_small(fault: type[Faultless]) -> None:
    assert_small(fault)


@pytest.mark.parametrize("fault", LARGE, ids=lambda it: it.__name__)
def test_a_fault_of_large_groups_is_found(fault: type[Faultless]) -> None:
    subject = InProcessSubject("mine", fault, KINDS["streams"].answering)
    grown = growth_of(Trial(KINDS["streams"], subject))
    assert [broken.rule for broken, _ in grown.found] == [FAULTS[fault][0]]


def test_an_assignor_without_a_fault_holds_every_level() -> None:
    report = reported(Faultless)
    assert {result.status for result in report.levels} == {"passed"}
    assert report.summary().endswith("bounded ✓ · 7 of 7 levels, 60 histories")


def test_a_failure_leaves_its_states_and_its_history_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assignment_api.conformance.growth.SIZES", (4, 8))
    report = reported(LosesATask, tmp_path)
    failure = next(each for level in report.levels for each in level.failures if each.rule == "nothing lost")
    assert failure.found == "task 0_2 is active on no client"
    assert failure.scenarios is not None
    (state,) = [json.loads(line) for line in Path(failure.scenarios).read_text().splitlines()]
    assert (state["kind"], [task["id"] for task in state["tasks"]]) == ("streams", ["0_0", "0_1", "0_2"])
    history = history_of(json.loads(next(tmp_path.glob("*.history.json")).read_text()))
    subject = InProcessSubject("mine", LosesATask, KINDS["streams"].answering)
    assert "nothing lost" in {each.rule for each in Trial(KINDS["streams"], subject).broken(history)}
    assert [command.split()[1] for command in failure.commands] == ["conformance", "assign"]


def test_equal_seeds_find_equal_histories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assignment_api.conformance.growth.SIZES", (4, 8))
    assert reported(LosesATask).document() == reported(LosesATask).document()
