from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from assignment_api import ApplicationMetadata, TaskAssignment
from assignment_api.conformance import (
    KINDS,
    RULES,
    Capabilities,
    History,
    InProcessSubject,
    Level,
    Report,
    StreamsAssignorConformance,
    Trial,
    conformance,
    history_of,
)
from assignment_api.conformance import subject as subject_module
from assignment_api.conformance.elsewhere import OtherProcess, origin_of
from assignment_api.conformance.growth import growth_of
from assignment_api.conformance.search import Search, drawn_histories
from tests.assignment_api.conformance.faults import FAULTS, ChangesTags, Faultless, LosesATask, NeedsAClient
from tests.assignment_api.conformance.kind_faults import CONNECT_FAULTS, GROUP_FAULTS

pytestmark = pytest.mark.slow


Faults = Mapping[type[Any], tuple[str, tuple[int, int, int] | None]]

OF_KINDS: Mapping[str, Faults] = {"streams": FAULTS, "streams-group": GROUP_FAULTS, "connect": CONNECT_FAULTS}
#: Faults of large groups: measuring takes most of the time, so the others go without.
LARGE = [(kind, fault) for kind, faults in OF_KINDS.items() for fault, (_, size) in faults.items() if size is None]
SMALL = [(kind, fault) for kind, faults in OF_KINDS.items() for fault in faults if (kind, fault) not in LARGE]
#: One fault for each kind and rule: every push searches these, `make test-services` all of them.
QUICK = [
    *{(kind, OF_KINDS[kind][fault][0]): (kind, fault) for kind, fault in reversed(SMALL)}.values(),
]
SEARCHED = tuple(level for level in Level if level is not Level.BOUNDED)


def reported(assignor_class: type[Faultless]) -> Report:
    class Held(StreamsAssignorConformance):
        assignor = assignor_class

    return Held.report(histories=60)


def found_size(kind: str, fault: type[Any]) -> tuple[int, int, int] | None:
    """Events, members and tasks of the smallest history that violates the fault's rule; ``None`` if none was found."""
    rule, _ = OF_KINDS[kind][fault]
    origin = origin_of(kind, fault.__name__, fault)
    assert origin is not None
    # Another process takes longer than the search, and shows one rule.
    other = OtherProcess(origin) if rule == "any process" else None
    answering = KINDS[kind].answering
    subject = InProcessSubject(fault.__name__, fault, answering, (lambda: None) if other is None else other.started)
    # Other violations of the same fault need no shrinking.
    others = RULES.keys() - {rule}
    search = Search(Trial(KINDS[kind], subject), 300, levels=frozenset(SEARCHED), known=others, stop_after=1)
    try:
        found = {each.broken.rule: each.history for each in search.run().found}
    finally:
        if other is not None:
            other.close()
    history = found.get(rule)
    if history is None:
        return None
    return (len(history.events), len(history.members), sum(count for count, _ in history.tasks))


def assert_small(kind: str, fault: type[Any]) -> None:
    size, most = found_size(kind, fault), OF_KINDS[kind][fault][1]
    assert size is not None
    assert most is not None
    assert size <= most


def name_of(value: Any) -> str:
    return value if isinstance(value, str) else value.__name__


@pytest.mark.parametrize(("kind", "fault"), QUICK, ids=name_of)
def test_a_fault_is_found_and_made_small(kind: str, fault: type[Any]) -> None:
    assert_small(kind, fault)


@pytest.mark.services
@pytest.mark.parametrize(("kind", "fault"), [each for each in SMALL if each not in QUICK], ids=name_of)
def test_each_other_fault_is_found_and_made_small(kind: str, fault: type[Any]) -> None:
    assert_small(kind, fault)


@pytest.mark.parametrize(("kind", "fault"), LARGE, ids=name_of)
def test_a_fault_of_large_groups_is_found(kind: str, fault: type[Any]) -> None:
    subject = InProcessSubject("mine", fault, KINDS[kind].answering)
    grown = growth_of(Trial(KINDS[kind], subject))
    assert [broken.rule for broken, _ in grown.found] == [OF_KINDS[kind][fault][0]]


def test_an_assignor_without_a_fault_holds_every_level() -> None:
    report = reported(Faultless)
    assert {result.status for result in report.levels} == {"passed"}
    assert report.summary().endswith("bounded ✓ · 7 of 7 levels, 60 histories")


def lossy(folder: Path) -> Report:
    others = dict.fromkeys(RULES.keys() - {"nothing lost"}, "needs no shrinking here")
    trial = Trial(KINDS["streams"], InProcessSubject("mine", LosesATask, KINDS["streams"].answering))
    return conformance(trial, histories=20, levels=[Level.COMPLETE], known=others, folder=folder)


def test_a_failure_leaves_its_states_and_its_history_behind(tmp_path: Path) -> None:
    report = lossy(tmp_path)
    failure = next(each for level in report.levels for each in level.failures if each.known is None)
    assert failure.found == "task 0_2 is active on no client"
    assert failure.scenarios is not None
    (state,) = [json.loads(line) for line in Path(failure.scenarios).read_text().splitlines()]
    assert (state["kind"], [task["id"] for task in state["tasks"]]) == ("streams", ["0_0", "0_1", "0_2"])
    history = history_of(json.loads(next(tmp_path.glob("*nothing-lost.history.json")).read_text()))
    subject = InProcessSubject("mine", LosesATask, KINDS["streams"].answering)
    assert "nothing lost" in {each.rule for each in Trial(KINDS["streams"], subject).broken(history)}
    assert [command.split()[1] for command in failure.commands] == ["conformance", "assign"]


class RaisesAlways(Faultless):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        raise ValueError("no idea")


def test_a_level_without_an_answer_is_not_judged() -> None:
    trial = Trial(KINDS["streams"], InProcessSubject("mine", RaisesAlways, KINDS["streams"].answering))
    report = conformance(trial, histories=3, levels=[Level.VALID, Level.COMPLETE])
    assert [level.status for level in report.levels] == ["failed", "not judged"]
    assert "valid ✗ complete ? · 0 of 2 levels" in report.summary()


def test_the_changed_part_of_the_input_is_named() -> None:
    trial = Trial(KINDS["streams"], InProcessSubject("mine", ChangesTags, KINDS["streams"].answering))
    (broken,) = trial.broken(History("streams", ((1, 0),), (1,), tags=1))
    assert broken.found == "the call changed the tags of client 00000000-0000-0000-0000-000000000001"


def test_equal_seeds_find_equal_histories(tmp_path: Path) -> None:
    assert lossy(tmp_path).document() == lossy(tmp_path).document()


def test_histories_of_a_seed_are_the_same_everywhere() -> None:
    drawn = drawn_histories(KINDS["streams"], Capabilities(), 50)
    assert drawn == drawn_histories(KINDS["streams"], Capabilities(), 50)
    assert drawn != drawn_histories(KINDS["streams"], Capabilities(), 50, seed=1)
    assert len(set(drawn)) > 45


def test_a_streams_application_without_a_client_fails_no_assignor() -> None:
    trial = Trial(KINDS["streams"], InProcessSubject("mine", NeedsAClient, KINDS["streams"].answering))
    assert [*trial.broken(History("streams", ((1, 0),), ()))] == []


def test_a_call_that_waits_is_ended_and_one_that_works_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that has a part of the processor gets the rest of its time later."""
    with pytest.raises(subject_module._LateError), subject_module._deadline(1):
        threading.Event().wait(5)
    ticks = iter(range(10**9))
    monkeypatch.setattr(subject_module, "process_time", lambda: next(ticks) * 0.3)
    with subject_module._deadline(1):
        end = monotonic() + 1.5
        while monotonic() < end:
            pass
