from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from assignment_api import ApplicationMetadata, AssignorLabError
from assignment_api.plugins import discover
from assignment_api.tracing import Traced
from assignor_lab.groups.entries import kind_named
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from builtin_assignors._rule_texts import RULE_TEXTS

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
RULE = re.compile(r'"((?:ha|st|gs|ci|ce|sp|cr|rr|cs)-[a-z-]+)"')
#: Rules that move a task: its owner is the last client they name; with all other rules it is the first one.
MOVES = {"ha-level", "ha-racks", "ha-stateless-racks", "st-racks"}
#: Rules about copies, and rules with the reason why a client does not have a task.
OF_OTHERS = re.compile(r".*-standby|.*-full|sp-unmet|ci-(duplicate|wait|surplus)")


def scenarios(file: str, most: int) -> Iterator[Scenario]:
    with gzip.open(DATA / file, "rt", encoding="utf-8") as lines:
        for document in map(json.loads, islice(lines, most)):
            yield scenario_from_document(document, Place(file))


def traced_by(assignor: Any, *asked: Any) -> Traced[Any]:
    traced: Traced[Any] = assignor.traced(*asked)
    return traced


def owner_told(steps: list[Any]) -> str | None:
    telling = [step for step in steps if not OF_OTHERS.match(step.rule)]
    if not telling:
        return None
    last = telling[-1]
    found: str = last.clients[-1] if last.rule in MOVES else last.clients[0]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["high_availability", "rack_aware", "sticky", "legacy_sticky", "fallback_prior"])
def test_applications_are_traced_to_the_same_answer(name: str) -> None:
    found, told = discover().task_assignor(name), 0
    for scenario in scenarios("golden/streams/small.scenarios.jsonl.gz", 150):
        try:
            # A scenario that Kafka would refuse has no answer with or without steps.
            expected = found.create().assign(scenario.application)
        except AssignorLabError:
            continue
        traced = traced_by(found.create(), scenario.application)
        assert traced.answer == expected
        told += check_owners(kind_named("streams").ownership, scenario.application, expected, traced.steps)
    assert told > 1_000


@pytest.mark.slow
@pytest.mark.parametrize("delegate", ["high_availability", "sticky"])
@pytest.mark.parametrize(
    ("pins", "standby_pins", "rules"),
    [
        ("", "", set()),
        ("0_0 -> process:{0}", "", {"sp-delegate"}),
        ("0_* -> process:{0} | process:{1}; 1_0 -> host:nowhere", "", {"sp-unmet", "sp-delegate"}),
        ("* -> process:{0}", "* -> process:{1}", {"sp-standby-pin"}),
    ],
)
def test_pins_are_traced_to_the_same_answer(pins: str, standby_pins: str, rules: set[str], delegate: str) -> None:
    found, told, seen = discover().task_assignor("static"), 0, set()
    for scenario in scenarios("golden/streams/small.scenarios.jsonl.gz", 60):
        clients = list(scenario.application.streams_client_states())
        if len(clients) < 2:
            continue
        configs = {
            "assignor.static.pins": pins.format(*clients),
            "assignor.static.standby.pins": standby_pins.format(*clients),
            "assignor.static.delegate": delegate,
        }
        plain, tracing = found.create(), found.create()
        plain.configure(configs)
        tracing.configure(configs)
        try:
            expected = plain.assign(scenario.application)
        except AssignorLabError:
            continue
        traced = traced_by(tracing, scenario.application)
        assert traced.answer == expected
        told += check_owners(kind_named("streams").ownership, scenario.application, expected, traced.steps)
        seen |= {step.rule for step in traced.steps if step.rule.startswith("sp-")}
    assert told > 200
    assert rules <= seen
    assert bool(seen) == bool(pins)


@pytest.mark.parametrize("name", ["group_sticky", "group_sticky_4_4"])
def test_groups_are_traced_to_the_same_answer(name: str) -> None:
    kind, found, told = kind_named("streams-group"), discover().group_assignor(name), 0
    for scenario in scenarios("golden/streams-group-4.4/sticky.scenarios.jsonl.gz", 150):
        state = kind.state(scenario, 0, {})
        try:
            expected = found.plugin.factory().assign(state.group, state.topology)
        except AssignorLabError:
            continue
        traced = traced_by(found.plugin.factory(), state.group, state.topology)
        assert traced.answer == expected
        told += check_owners(kind.ownership, state, expected, traced.steps)
    assert told > 500


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("connect_incremental", "golden/connect/incremental.scenarios.jsonl.gz"),
        ("connect_static", "golden/connect/incremental.scenarios.jsonl.gz"),
        ("connect_eager", "scenarios/connect-eager.scenarios.jsonl.gz"),
    ],
)
def test_rebalances_are_traced_to_the_same_answers_in_a_whole_history(name: str, file: str) -> None:
    found, told = discover().connect_assignor(name), 0
    for scenario in scenarios(file, 40):
        plain, tracing = found.create(), found.create()
        for _, rebalance in scenario.connect_history.rebalances():
            answer = plain.assign(rebalance)
            traced = traced_by(tracing, rebalance)
            assert traced.answer == answer
            steps: dict[str, list[Any]] = {}
            for step in traced.steps:
                steps.setdefault(step.task, []).append(step)
            for member, jobs in answer.owned_after(rebalance).items():
                for job in (*jobs.connectors, *jobs.tasks):
                    if job in rebalance.configured and str(job) in steps:
                        assert owner_told(steps[str(job)]) in (member, None)
                        told += 1
    assert told > 100


def check_owners(ownership: Any, state: Any, answer: Any, steps: Any) -> int:
    """Every task with an owner has steps, and the last of them names the owner."""
    by_task: dict[str, list[Any]] = {}
    for step in steps:
        by_task.setdefault(step.task, []).append(step)
        assert step.words()
    held = ownership.after(state, answer)
    for task in ownership.tasks(state):
        assert owner_told(by_task[task]) == held.owner(task), by_task[task]
    return len(ownership.tasks(state))


def test_without_lags_nobody_is_caught_up() -> None:
    (scenario,) = scenarios("golden/streams/small.scenarios.jsonl.gz", 1)
    document = {**scenario.document, "clients": [{**each, "lags": None} for each in scenario.document["clients"]]}
    application: ApplicationMetadata = scenario_from_document(document, Place("-")).application
    steps = traced_by(discover().task_assignor("high_availability").create(), application).steps
    assert not any(step.rule == "ha-caught-up" for step in steps)


def test_every_rule_has_its_heading_and_every_heading_its_rule() -> None:
    used = {
        rule
        for path in (ROOT / "builtin_assignors").rglob("*.py")
        if path.name != "_rule_texts.py"
        for rule in RULE.findall(path.read_text(encoding="utf-8"))
    }
    headings = re.findall(
        r"^### (.+)$", (ROOT / "docs" / "reference" / "rules.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(headings) == len(set(headings))
    assert set(headings) == used
    assert len(used) > 20


def test_what_a_rule_says_is_what_its_page_says() -> None:
    page = (ROOT / "docs" / "reference" / "rules.md").read_text(encoding="utf-8")
    texts = re.findall(r"^### (.+)\n((?:.+\n)+)", page, re.MULTILINE)
    assert {rule: " ".join(text.replace("`", "").split()) for rule, text in texts} == RULE_TEXTS
    (scenario,) = scenarios("golden/streams/small.scenarios.jsonl.gz", 1)
    traced = traced_by(discover().task_assignor("high_availability").create(), scenario.application)
    assert {step.rule for step in traced.steps} <= set(traced.rules)
