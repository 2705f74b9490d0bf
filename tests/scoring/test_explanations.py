"""Explanations of the moves in a report: computed for the read states, confirmed, within bounds."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab import run
from assignor_lab.documents.values import plain_document
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.output.summary_file import summary_of
from assignor_lab.scoring.sources.parts import SourceInput
from assignor_lab.scoring.sources.reading import generated, plan_sources
from assignor_lab.scoring.summaries import explanations
from assignor_lab.scoring.summaries.explanations import Bounds, explanations_of
from assignor_lab.scoring.terms import ScoringRun
from tests.scoring.in_process import scored

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
#: A busy machine is no reason to explain less.
UNHURRIED = Bounds(seconds=math.inf)
LOGS = sorted(str(path) for path in (ROOT / "assignor_lab" / "samples" / "tagged" / "logs").iterdir())


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(run, "explanations_of", partial(explanations_of, bounds=UNHURRIED))
        return scored(LOGS, ["high_availability", "sticky"], tmp_path_factory.mktemp("run") / "out")


def explained_again(summary: dict[str, Any], bounds: Bounds, *sources: SourceInput) -> dict[str, Any]:
    registry, config = discover(), config_sources(environ={}, start=ROOT / "tests")
    with plan_sources(sources or LOGS, registry, config.above) as plan:
        competing = found_contenders(registry, ["high_availability", "sticky"], kind=plan.kind)
        found = explanations_of(ScoringRun(registry, competing, plan, config), summary_of(summary).results, bounds)
        document: dict[str, Any] = plain_document(found)
        return document


def owners(held: dict[str, Any]) -> dict[str, str]:
    return {task: client for client, tasks in held.items() for task in tasks["active"]}


def test_every_drawn_move_is_explained_as_it_is_drawn_or_counted(summary: dict[str, Any]) -> None:
    told = {(each["scenario"], each["assignor"], each["task"]): each["to"] for each in summary["explanations"]["moves"]}
    counted = {(each["scenario"], each["assignor"]): each["moves"] for each in summary["explanations"]["left_out"]}
    assert told
    for picture in summary["results"]["placements"]:
        before = owners(picture["before"])
        for answer in picture["after"]:
            if answer["assignor"] == "kafka":
                continue
            after = owners(answer["assignment"])
            place = (picture["scenario"], answer["assignor"])
            moved = {task for task, owner in before.items() if after.get(task, owner) != owner}
            explained = {task for task in moved if told.get((*place, task)) == after[task]}
            assert len(moved) - len(explained) == counted.get(place, 0)


def test_the_unavoidable_moves_of_explained_answers_are_told(summary: dict[str, Any]) -> None:
    explained = {(each["scenario"], each["assignor"]) for each in summary["explanations"]["moves"]}
    told = {(each["scenario"], each["assignor"]): each["sentence"] for each in summary["explanations"]["unavoidable"]}
    assert told
    assert set(told) <= explained
    assert all(sentence.endswith("unavoidable for this balance.") for sentence in told.values())


def test_a_rule_and_what_would_have_led_elsewhere_are_told(summary: dict[str, Any]) -> None:
    moves = [each for each in summary["explanations"]["moves"] if each["assignor"] == "high_availability"]
    assert all(each["rules"] for each in moves)
    assert {rule["rule"] for each in moves for rule in each["rules"]} <= set(summary["explanations"]["rules"])
    assert any("would stay on" in sentence for each in moves for sentence in each["would"])


def test_what_there_was_no_time_or_room_for_is_named(summary: dict[str, Any]) -> None:
    late = explained_again(summary, Bounds(seconds=0))
    assert late["moves"] == []
    assert {each["why"] for each in late["left_out"]} == {"the 0 s for explanations were over"}
    few = explained_again(summary, Bounds(calls=0, each=1, moves=2, seconds=math.inf))
    assert len(few["moves"]) == 2
    assert {each["why"] for each in few["left_out"]} == {"of one answer 1 are", "2 moves were explained already"}


def test_states_of_one_id_are_not_taken_for_one_another(summary: dict[str, Any]) -> None:
    first, second = summary["explanations"]["moves"][0], summary["explanations"]["moves"][-1]
    with plan_sources(LOGS, discover()) as plan:
        documents = {scenario.id: scenario.document for scenario in plan.scenarios()}
    found = explained_again(summary, UNHURRIED, *[documents[each["scenario"]] for each in (first, second, second)])
    assert {each["scenario"] for each in found["moves"]} == {first["scenario"]}
    assert {(each["scenario"], each["why"]) for each in found["left_out"]} == {
        (second["scenario"], "several states of the run have its id")
    }


def test_generated_histories_are_not_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def explain(*_arguments: object) -> None:
        raise AssertionError("a generated history was explained")

    monkeypatch.setattr(explanations, "explain", explain)
    made = scored(generated(["scale_out"], 2, 0), ["sticky"], tmp_path / "out")
    assert made["results"]["placements"]
    assert made["explanations"] == {"moves": [], "left_out": [], "rules": {}, "unavoidable": []}
