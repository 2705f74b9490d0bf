"""Golden states through the shim: the served assignor returns the same answer as for the state itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from assignment_api import ApplicationMetadata, AssignorLabError, TaskAssignment, TaskId
from assignment_api.plugins import discover
from assignor_lab.groups.streams.assignor_calls import invoke
from assignor_lab.kafka.leader.task_order import in_kafka_order
from assignor_lab.runtime.java.assignor import JavaFactory
from assignor_lab.runtime.java.class_path import jars_in
from assignor_lab.runtime.java.jvm import JavaPlace, jvm_of
from assignor_lab.runtime.java.settings import JavaSettings
from assignor_lab.scenarios import Scenario, read_scenarios, scenario_from_document
from assignor_lab.serving.deciding import warm_up_state
from assignor_lab.serving.port_file import PortFile, write_port_file
from assignor_lab.serving.shim import ASSIGNOR_CLASS
from tests.builtin_assignors.golden import DATA, GOLDEN
from tests.runtime.java.kafka import KAFKA_4_3, ROOT
from tests.serving.conftest import TOKEN, Toy

pytestmark = pytest.mark.services

KAFKAS = ("high_availability", "legacy_sticky", "fallback_prior", "sticky@4.3")
BUILT_INS = {name: discover().task_assignor(name) for name in KAFKAS}
#: Files, with the distance of tested states: all of them take a minute, and none differs.
FILES = {GOLDEN / "small.scenarios.jsonl.gz": 3, GOLDEN / "medium.scenarios.jsonl.gz": 5}
FILES |= dict.fromkeys(sorted((DATA / "golden" / "recorded").glob("*.scenarios.jsonl.gz")), 1)
Held = dict[str, tuple[list[str], list[str]]]


class Shim:
    """The shim in one JVM, called through the bridge to Java, and the server that it calls in turn."""

    def __init__(self, folder: Path) -> None:
        self.reached: Scenario | None = None
        self.toy = Toy(self._answer, None, 1)
        file = folder / "port"
        write_port_file(file, PortFile(self.toy.server.port, TOKEN, 1, "toy"))
        configs = {"application.id": "golden", "assignor.lab.port.file": str(file), "assignor.lab.deadline.ms": "20000"}
        jar, kafka = str(ROOT / "assignor_lab" / "jars" / "shim.jar"), jars_in(str(KAFKA_4_3), "a test")
        program = JavaSettings().program("a test")
        self._place = JavaPlace("the shim", ASSIGNOR_CLASS, (jar,), kafka, program, tuple(configs.items()))

    def answer(self, application: ApplicationMetadata) -> Held:
        """The application's answer."""
        self.reached = None
        return held(JavaFactory(self._place)().assign(application))

    def close(self) -> None:
        jvm_of(self._place).close()
        self.toy.stop()

    def _answer(self, scenario: Scenario) -> dict[str, Any]:
        # After a failure the server sends a state of its own.
        if scenario.id != warm_up_state().id:
            self.reached = scenario
        given = answer_of("high_availability", scenario)
        if given is None:
            return {"id": scenario.id, "error": {"type": "None", "message": "it has no answer"}}
        roles = {process: {"active": active, "standby": standby} for process, (active, standby) in given.items()}
        return {"id": scenario.id, "assignment": roles, "error": None}


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shim]:
    made = Shim(tmp_path_factory.mktemp("shim"))
    yield made
    made.close()


def held(answer: TaskAssignment) -> Held:
    """Client to its active and standby tasks."""
    return {
        str(each.process_id): (
            [str(task) for task in sorted(each.active_tasks())],
            [str(task) for task in sorted(each.standby_tasks())],
        )
        for each in answer.assignments
    }


def answer_of(name: str, scenario: Scenario) -> Held | None:
    answer = invoke(BUILT_INS[name], scenario.application, {}).answer
    return None if answer is None else held(answer)


def as_applications_have_it(scenario: Scenario) -> Scenario:
    """The state with its tasks in Kafka's order of creation; a golden state may have any order."""
    by_id = {TaskId.parse(task["id"]): task for task in scenario.document["tasks"]}
    tasks = [by_id[task] for task in in_kafka_order(by_id)]
    return scenario_from_document({**scenario.document, "tasks": tasks}, scenario.place)


def states(path: Path) -> Iterator[Scenario]:
    """The states of a file that an application can have."""
    for scenario in islice(read_scenarios(path), 0, None, FILES[path]):
        with contextlib.suppress(AssignorLabError):
            assert scenario.application is not None
            yield as_applications_have_it(scenario)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.partition(".")[0])
def test_a_golden_state_that_went_through_the_shim_has_the_answers_of_the_state_itself(shim: Shim, path: Path) -> None:
    for state in states(path):
        given = shim.answer(state.application)
        assert shim.reached is not None
        expected = {name: answer_of(name, state) for name in KAFKAS}
        assert {name: answer_of(name, shim.reached) for name in KAFKAS} == expected, state.id
        # Without an answer, Kafka's own sticky assignor is the fallback.
        assert given == (expected["high_availability"] or expected["sticky@4.3"]), state.id
