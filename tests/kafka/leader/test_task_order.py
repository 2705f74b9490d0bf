"""Tasks in the order of a leader's creation, and in that of its hash maps."""

from __future__ import annotations

import json

import pytest

from assignment_api import TaskId
from assignment_api.plugins import discover
from assignor_lab.groups.streams.assignor_calls import invoke
from assignor_lab.kafka.leader.task_order import in_kafka_order, in_map_order, made_order_of
from assignor_lab.scenarios import read_scenarios, scenario_from_document
from tests.builtin_assignors.golden import GOLDEN

TASKS = [TaskId(subtopology, partition) for subtopology in range(3) for partition in range(8)]


def test_sub_topologies_come_in_the_order_of_their_map_and_partitions_ascend() -> None:
    made = in_kafka_order(reversed(TASKS))
    assert list(dict.fromkeys(task.subtopology for task in made)) == [1, 0, 2]
    assert [task.partition for task in made] == [*range(8)] * 3


def test_the_map_shows_them_in_another_order_from_which_the_first_is_found() -> None:
    made = in_kafka_order(TASKS)
    shown = in_map_order(made)
    assert shown != made
    assert made_order_of(shown) == made


def test_what_no_such_map_shows_stays_as_it_is() -> None:
    assert made_order_of(TASKS) == TASKS
    assert made_order_of([]) == []


@pytest.mark.slow
def test_the_internal_sticky_assignor_answers_otherwise_where_the_map_is_taken_for_it() -> None:
    """It fills smaller maps from the tasks: tasks that collide there have separate slots in the map of all."""
    scenario = next(each for each in read_scenarios(GOLDEN / "small.scenarios.jsonl.gz") if each.id == "small-00153")
    by_id = {TaskId.parse(task["id"]): task for task in scenario.document["tasks"]}
    made = in_kafka_order(by_id)

    def answer(tasks: list[TaskId]) -> str:
        document = {**scenario.document, "tasks": [by_id[task] for task in tasks]}
        application = scenario_from_document(json.loads(json.dumps(document)), scenario.place).application
        return str(invoke(discover().task_assignor("legacy_sticky"), application, {}).answer)

    assert answer(in_map_order(made)) != answer(made)
    assert answer(made_order_of(in_map_order(made))) == answer(made)
