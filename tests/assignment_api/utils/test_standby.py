from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignmentConfigs,
    AssignorLabError,
    ProcessID,
    StreamsClientAssignment,
    StreamsClientState,
    TaskId,
    TaskInfo,
)
from assignment_api.utils import default_standby_task_assignment
from assignment_api.utils.standby import ClientTags, SeveralOwnersError, assign_least_loaded
from assignor_lab.scenarios import read_scenarios

GOLDEN = Path(__file__).parents[2] / "data" / "golden" / "streams"


def given_assignments(document: Any) -> dict[ProcessID, StreamsClientAssignment]:
    assignments = {}
    for text, tasks in document["assignment"].items():
        process = ProcessID.parse(text)
        assignments[process] = StreamsClientAssignment.of(
            process,
            [AssignedTask.active(TaskId.parse(task)) for task in tasks["active"]]
            + [AssignedTask.standby(TaskId.parse(task)) for task in tasks["standby"]],
        )
    return assignments


def test_every_golden_call_of_the_utility_has_kafkas_answer() -> None:
    with gzip.open(GOLDEN / "utils-default_standby.results.jsonl.gz", "rt", encoding="utf-8") as lines:
        results = [json.loads(line) for line in lines]
    scenarios = read_scenarios(GOLDEN / "utils-default_standby.scenarios.jsonl.gz")
    for scenario, expected in zip(scenarios, results, strict=True):
        error = expected["error"]
        answer = _outcome(scenario.application, given_assignments(scenario.document))
        assert (scenario.id, answer) == (scenario.id, expected["assignment"] if error is None else error["type"])


def _outcome(application: ApplicationMetadata, assignments: dict[ProcessID, StreamsClientAssignment]) -> Any:
    try:
        answer = default_standby_task_assignment(application, assignments)
    except AssignorLabError as error:
        return error.java_type
    return {
        str(process): {
            "active": [str(task) for task in sorted(client.active_tasks())],
            "standby": [str(task) for task in sorted(client.standby_tasks())],
        }
        for process, client in answer.items()
    }


def test_the_given_assignments_stay_as_they_were() -> None:
    assignments = active_on(0)
    default_standby_task_assignment(application([{}, {}], 1, keys=()), assignments)
    assert assignments == active_on(0)


def application(tags: list[dict[Any, Any]], replicas: int, keys: tuple[str, ...] = ("zone",)) -> ApplicationMetadata:
    return ApplicationMetadata(
        AssignmentConfigs(num_standby_replicas=replicas, rack_aware_assignment_tags=keys),
        [TaskInfo(TaskId(0, 0), is_stateful=True, is_logged=True)],
        [StreamsClientState(process(number), 1, client_tags=tags_of) for number, tags_of in enumerate(tags)],
    )


def process(number: int) -> ProcessID:
    return ProcessID(UUID(int=number))


def active_on(*numbers: int) -> dict[ProcessID, StreamsClientAssignment]:
    return {
        process(number): StreamsClientAssignment.of(process(number), [AssignedTask.active(TaskId(0, 0))])
        for number in numbers
    }


def standby_holders(assignments: dict[ProcessID, StreamsClientAssignment]) -> list[int]:
    return [held.id.int for held, assignment in assignments.items() if assignment.standby_tasks()]


def test_a_standby_goes_to_another_zone() -> None:
    tags = [{"zone": "a"}, {"zone": "a"}, {"zone": "b"}]
    assert standby_holders(default_standby_task_assignment(application(tags, 1), active_on(0))) == [2]


def test_with_no_other_zone_left_the_least_loaded_client_takes_the_standby() -> None:
    tags = [{"zone": "a"}, {"zone": "b"}, {"zone": "b"}]
    assert standby_holders(default_standby_task_assignment(application(tags, 2), active_on(0))) == [1, 2]


def test_with_tags_a_standby_is_given_even_if_none_is_asked_for() -> None:
    tags = [{"zone": "a"}, {"zone": "b"}]
    assert standby_holders(default_standby_task_assignment(application(tags, 0), active_on(0))) == [1]
    without = application(tags, 0, keys=())
    assert standby_holders(default_standby_task_assignment(without, active_on(0))) == []


def test_a_task_with_two_owners_fails_as_in_kafka_once_its_standbys_are_placed() -> None:
    tags = [{"zone": "a"}, {"zone": "b"}, {"zone": "c"}]
    with pytest.raises(SeveralOwnersError) as caught:
        default_standby_task_assignment(application(tags, 1), active_on(0, 1))
    assert caught.value.java_type == "NullPointerException"


def test_the_least_loaded_clients_take_the_standbys_and_what_finds_no_client_is_reported() -> None:
    active = [{0, 1}, {2}, set()]
    standby: list[set[int]] = [set(), set(), set()]
    assert assign_least_loaded([0, 1, 2], 1, [1, 1, 1], active, standby) == {}
    assert standby == [set(), {1}, {0, 2}]
    assert assign_least_loaded([0], 3, [1, 1, 1], active, standby) == {0: 2}
    assert standby == [set(), {0, 1}, {0, 2}]


def test_balancing_asks_for_all_tags_of_the_source() -> None:
    tags = ClientTags.of([{"zone": "a"}, {"zone": "a", "os": "x"}, {"zone": "b", "os": "x"}], ["zone"])
    assert tags.may_balance(0, 1)
    assert not tags.may_balance(1, 0)
    assert not tags.may_balance(1, 2)


def test_the_rack_optimiser_may_not_lower_the_number_of_different_tags() -> None:
    tags = ClientTags.of([{"zone": "a"}, {"zone": "b"}, {"zone": "c"}, {"zone": "a"}], ["zone"])
    active: list[set[int]] = [{0}, set(), set(), set()]
    standby: list[set[int]] = [set(), {0}, set(), set()]
    assert tags.may_move(0, 1, 2, active, standby)
    assert not tags.may_move(0, 1, 3, active, standby)
