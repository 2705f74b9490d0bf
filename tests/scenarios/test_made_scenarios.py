from __future__ import annotations

import pickle
from typing import Any

import attrs
import pytest

from assignment_api.plugins import ScenarioFamily, discover
from assignment_api.streams import ApplicationMetadata, TaskAssignment
from assignor_lab.groups.streams.transfer import fingerprint
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.scenarios.families.streams_history import StreamsFamilyHistory
from assignor_lab.scenarios.families.streams_values import GroupValues
from tests.scenarios.test_streams_histories import in_turn

PLACE = Place("generated", 7)
FAMILIES = [found.plugin for found in discover().families() if found.plugin.kind == "streams"]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


def everything(application: ApplicationMetadata) -> str:
    """An assignor's whole input, in its order and types."""
    return repr([pickle.loads(part) for part in fingerprint(application)])


def history_of(family: ScenarioFamily, seed: int) -> StreamsFamilyHistory:
    history = family.history(seed)
    assert isinstance(history, StreamsFamilyHistory)
    return history


def family_named(name: str) -> ScenarioFamily:
    return next(family for family in FAMILIES if family.name == name)


def rounds(family: ScenarioFamily, seed: int) -> list[tuple[Any, Scenario]]:
    """Document and scenario of each round of two histories with the same course."""
    read, made = history_of(family, seed), history_of(family, seed)
    found: list[tuple[Any, Scenario]] = []
    previous: TaskAssignment | None = None
    for number in range(family.rounds):
        found.append((read.round(number, previous), made.scenario(number, previous, PLACE)))
        # One round without an answer, after which every member keeps its tasks.
        previous = None if number == 1 else in_turn(found[-1][1], offset=number)
    return found


# Traps are many, and small.
SEEDS = [(family, seed) for family in FAMILIES for seed in range(10 if family.name == "adversarial" else 3)]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "seed"), SEEDS, ids=lambda value: getattr(value, "name", value))
def test_what_a_family_makes_is_what_its_document_says(family: ScenarioFamily, seed: int) -> None:
    for document, made in rounds(family, seed):
        read = scenario_from_document(document, PLACE)
        assert everything(made.application) == everything(read.application)
        assert (made.id, made.kind, made.place) == (read.id, read.kind, read.place)
        assert (made.config, made.source, made.observed) == (read.config, read.source, read.observed)
        assert list(made.assumptions) == list(read.assumptions)


@every_family
def test_the_document_of_a_made_scenario_is_that_of_the_round(family: ScenarioFamily) -> None:
    for document, made in rounds(family, 5):
        assert dict(made.document) == document
        assert len(made.document) == len(document)


def test_tasks_are_shared_between_rounds_and_contenders_until_somebody_changed_a_state() -> None:
    family = family_named("streams_4x40")
    one, other = history_of(family, 3), history_of(family, 3)
    shared = one.scenario(0, None, PLACE).application.task_infos()
    assert one.scenario(1, None, PLACE).application.task_infos() is shared
    assert other.scenario(0, None, PLACE).application.task_infos() is shared
    other.forget()
    assert one.scenario(2, None, PLACE).application.task_infos() is not shared
    assert other.scenario(1, None, PLACE).application.task_infos() is not shared


def test_previous_tasks_are_in_kafkas_order_where_a_group_lists_them_in_another() -> None:
    history = history_of(family_named("streams_4x40"), 1)
    group = history._group
    mixed = attrs.evolve(group, tasks=group.tasks[::-1], subtopology_of=group.subtopology_of[::-1])
    steps = [attrs.evolve(step, written=step.written[::-1], trailing=step.trailing[::-1]) for step in history._steps]
    read, made = (StreamsFamilyHistory("mixed", mixed, steps, GroupValues(mixed)) for _ in range(2))
    previous: TaskAssignment | None = None
    for number in range(3):
        document = read.round(number, previous)
        scenario = made.scenario(number, previous, PLACE)
        assert everything(scenario.application) == everything(scenario_from_document(document, PLACE).application)
        previous = in_turn(scenario)
