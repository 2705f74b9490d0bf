"""Weights of tasks reach the assignor from the document, in other processes, too."""

from __future__ import annotations

from assignment_api import TaskId, TaskWorkload, Workload
from assignor_lab.groups.streams.transfer import Receiver, packed_application
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.scenarios.families import EVENT_FAMILIES, streams_4x40

WEIGHED = next(family for family in EVENT_FAMILIES if family.name == "skewed_workloads")


def weighed() -> Scenario:
    return scenario_from_document(WEIGHED.history(3).round(0, None), Place("generated"))


def test_an_application_knows_what_its_document_says() -> None:
    scenario = weighed()
    workload = scenario.application.workload()
    assert workload is not None
    said = scenario.document["workload"]
    assert workload.restore_bytes_per_s == said["restore_bytes_per_s"]
    for task, figures in said["tasks"].items():
        known = workload.of(TaskId.parse(task))
        assert (known.state_bytes, known.input_bytes_per_s, known.weight) == tuple(figures.values())


def test_without_it_nothing_is_known() -> None:
    document = streams_4x40().history(0).round(0, None)
    assert scenario_from_document(document, Place("generated")).application.workload() is None


def test_of_a_task_that_is_not_named_nothing_is_known() -> None:
    assert Workload({}).of(TaskId(0, 0)) == TaskWorkload(None, None, None)


def test_every_next_assignor_is_told() -> None:
    application = weighed().application
    assert application.for_next_assignor().workload() == application.workload()
    assert application.with_configs(application.assignment_configs()).workload() == application.workload()


def test_an_assignor_in_a_process_of_its_own_is_told() -> None:
    application = weighed().application
    assert Receiver().application(*packed_application(application)).workload() == application.workload()
