"""Kafka's public sticky assignor, called in Java, compared with its recorded answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.streams.assignor_calls import ASKING
from assignor_lab.runtime.assignor_calls import assignor_for
from assignor_lab.runtime.discovery import discovered
from assignor_lab.runtime.java.assignor import JavaFactory
from assignor_lab.runtime.java.class_path import jars_in
from assignor_lab.runtime.java.jvm import JavaPlace, jvm_of
from assignor_lab.runtime.java.settings import JavaSettings
from assignor_lab.scenarios import read_scenarios
from tests.builtin_assignors.golden import GOLDEN, differences, documents, scale_differences
from tests.runtime.java.kafka import KAFKA_4_3, KAFKA_4_4, STICKY

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def place() -> JavaPlace:
    kafka = jars_in(str(KAFKA_4_3), "a test")
    return JavaPlace("assignor sticky", STICKY, (), kafka, JavaSettings().program("a test"))


@pytest.mark.parametrize("name", ["small", "medium", "threads"])
def test_every_golden_scenario_has_kafkas_answer(place: JavaPlace, name: str) -> None:
    assert list(differences(name, "sticky", JavaFactory(place))) == []


@pytest.mark.parametrize("name", ["small", "table", "limits"])
def test_every_golden_scenario_has_the_answer_of_kafka_4_4(name: str) -> None:
    kafka = jars_in(str(KAFKA_4_4), "a test")
    newer = JavaPlace("assignor sticky", STICKY, (), kafka, JavaSettings().program("a test"))
    assert list(differences(name, "sticky_4_4", JavaFactory(newer))) == []


@pytest.mark.parametrize("name", ["small-4x40", "small-10x200", "1000x10-1000threads-1standby"])
def test_every_scale_scenario_has_the_digest_of_kafkas_answer(place: JavaPlace, name: str) -> None:
    assert scale_differences(name, "sticky", JavaFactory(place)) == []


def test_all_of_them_are_asked_in_one_jvm(place: JavaPlace) -> None:
    assert jvm_of(place) is jvm_of(place)


def test_by_its_name_it_answers_the_same_as_our_own(tmp_path: Path) -> None:
    config = config_sources(None, [f"assignor.java.kafka={KAFKA_4_3}"], environ={}, start=tmp_path).effective()
    plugins = discovered(config)
    found = {name: plugins.registry.task_assignor(name, may_run_code=True) for name in ("sticky@4.3", f"java:{STICKY}")}
    answers: dict[str, list[object]] = {name: [] for name in found}
    for scenario in list(read_scenarios(GOLDEN / "medium.scenarios.jsonl.gz"))[:15]:
        for name, entry in found.items():
            outcome = assignor_for(ASKING, entry, {}, plugins.isolation).ask(scenario.application)
            assert outcome.failure is None
            assert outcome.answer is not None
            answers[name].append(ASKING.answer_document(scenario.application, outcome.answer))
    plugins.isolation.close()
    # Only the owners are compared; the order of placing is a separate matter.
    assert len(answers["sticky@4.3"]) == 15
    assert [_sorted(each) for each in answers["sticky@4.3"]] == [_sorted(each) for each in answers[f"java:{STICKY}"]]
    assert len(documents(GOLDEN / "medium.sticky.results.jsonl.gz")) >= 15


def _sorted(document: object) -> object:
    assert isinstance(document, dict)
    return sorted((process, sorted(tasks), deadline) for process, tasks, deadline in document["clients"])
