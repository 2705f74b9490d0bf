"""``static`` keeps its promises: pinned tasks are in their places, and the delegate places all others."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api import (
    ApplicationMetadata,
    AssignmentConfigs,
    AssignmentError,
    ConfigError,
    HostInfo,
    ProcessID,
    StreamsClientState,
    TaskAssignment,
    TaskAssignor,
    TaskId,
    TaskInfo,
)
from assignment_api.utils import strict_findings, validate_task_assignment
from builtin_assignors.fallback_prior import FallbackPriorTaskAssignor
from builtin_assignors.high_availability import HighAvailabilityTaskAssignor
from builtin_assignors.static import StaticAnswer, StaticTaskAssignor, TaskPin, UnmetReason
from builtin_assignors.sticky import StickyTaskAssignor
from tests.builtin_assignors.rich_applications import after, plain, rich_applications

PINS = "assignor.static.pins"
STANDBY_PINS = "assignor.static.standby.pins"
DELEGATE = "assignor.static.delegate"


def static(**configs: Any) -> StaticTaskAssignor:
    keys = {"pins": PINS, "standby_pins": STANDBY_PINS, "delegate": DELEGATE}
    assignor = StaticTaskAssignor()
    assignor.configure({keys[name]: value for name, value in configs.items()})
    return assignor


def explain(application: ApplicationMetadata, **configs: Any) -> StaticAnswer:
    return static(**configs).explain(application.for_next_assignor())


def process(number: int) -> ProcessID:
    return ProcessID(UUID(int=number))


def client(number: int, *previous: str, **facts: Any) -> StreamsClientState:
    tasks = [TaskId.parse(task) for task in previous]
    return StreamsClientState(process(number), 1, previous_active_tasks=tasks, lags={}, **facts)


def application(clients: list[StreamsClientState], *tasks: str, standbys: int = 0) -> ApplicationMetadata:
    ids = [TaskId.parse(task) for task in tasks]
    stateful = standbys > 0
    infos = [TaskInfo(task, stateful, stateful) for task in ids]
    if stateful:
        clients = [
            StreamsClientState(
                each.process_id,
                each.num_stream_threads,
                previous_active_tasks=each.previous_active_tasks,
                previous_standby_tasks=each.previous_standby_tasks,
                lags=dict.fromkeys(ids, 0),
                host_info=each.host_info,
                client_tags=each.client_tags,
            )
            for each in clients
        ]
    return ApplicationMetadata(AssignmentConfigs(num_standby_replicas=standbys), infos, clients)


def actives(assignment: TaskAssignment) -> dict[int, list[str]]:
    return {each.process_id.id.int: [str(task) for task in each.active_tasks()] for each in assignment.assignments}


def standbys(assignment: TaskAssignment) -> dict[int, list[str]]:
    return {each.process_id.id.int: [str(task) for task in each.standby_tasks()] for each in assignment.assignments}


def owners(assignment: TaskAssignment) -> dict[TaskId, ProcessID]:
    return {task: each.process_id for each in assignment.assignments for task in each.active_tasks()}


# --- for any pins -----------------------------------------------------------------------------------


@st.composite
def pin_texts(draw: st.DrawFn) -> list[str]:
    tasks = draw(st.sampled_from(["", "orders__"]))
    patterns = st.sampled_from(
        [
            "*",
            f"{tasks}0_*",
            f"{tasks}1_*",
            f"{tasks}0_0..{tasks}0_3",
            f"{tasks}1_1",
            f"{tasks}2_0 {tasks}0_1",
            f"{tasks}7_*",
        ]
    )
    selectors = st.sampled_from(
        ["tag:zone=a", "tag:zone=b", "tag:zone=none", "host:host0", "host:host1:8081", "tag:cluster=x | host:HOST2"]
    )
    return [f"{draw(patterns)} -> {draw(selectors)}" for _ in range(draw(st.integers(0, 3)))]


DELEGATES: Mapping[str, type[TaskAssignor]] = {
    "high_availability": HighAvailabilityTaskAssignor,
    "sticky": StickyTaskAssignor,
    "fallback_prior": FallbackPriorTaskAssignor,
}
delegates = st.sampled_from(sorted(DELEGATES))


def first_pin(pins: list[str], task: TaskId) -> TaskPin | None:
    return next((pin for pin in map(TaskPin.parse, pins) if pin.matches_task(task)), None)


def valid_clients(pin: TaskPin, application: ApplicationMetadata) -> list[ProcessID]:
    states = application.streams_client_states().values()
    return [state.process_id for state in states if pin.matches_client(state)]


def named_clients(pins: list[str], application: ApplicationMetadata) -> set[ProcessID]:
    return {found for pin in pins for found in valid_clients(TaskPin.parse(pin), application)}


@given(rich_applications(), pin_texts(), pin_texts(), delegates)
def test_every_answer_is_valid(
    application: ApplicationMetadata, pins: list[str], standby_pins: list[str], delegate: str
) -> None:
    answer = explain(application, pins=pins, standby_pins=standby_pins, delegate=delegate).assignment
    assert validate_task_assignment(application, answer) is AssignmentError.NONE
    assert strict_findings(application, answer) == ()


@given(rich_applications(), pin_texts(), pin_texts(), delegates)
def test_a_pinned_task_is_where_its_first_pin_says_if_such_a_client_is_there(
    application: ApplicationMetadata, pins: list[str], standby_pins: list[str], delegate: str
) -> None:
    placed = owners(explain(application, pins=pins, standby_pins=standby_pins, delegate=delegate).assignment)
    for task in application.all_tasks():
        pin = first_pin(pins, task)
        valid = valid_clients(pin, application) if pin else []
        assert not valid or placed[task] in valid


@given(rich_applications(), pin_texts(), delegates)
def test_a_client_that_may_keep_a_pinned_task_keeps_it(
    application: ApplicationMetadata, pins: list[str], delegate: str
) -> None:
    placed = owners(explain(application, pins=pins, delegate=delegate).assignment)
    for process_id, state in application.streams_client_states().items():
        for task in state.previous_active_tasks:
            pin = first_pin(pins, task)
            if pin is not None and pin.matches_client(state):
                assert placed[task] == process_id


@given(rich_applications(), pin_texts(), pin_texts(), delegates)
def test_a_client_that_a_pin_names_gets_nothing_else_while_there_is_another_client(
    application: ApplicationMetadata, pins: list[str], standby_pins: list[str], delegate: str
) -> None:
    answer = explain(application, pins=pins, standby_pins=standby_pins, delegate=delegate)
    named = named_clients([*pins, *standby_pins], application)
    if len(named) == len(application.streams_client_states()):
        return
    assert not answer.no_wildcard_clients
    for each in answer.assignment.assignments:
        if each.process_id in named:
            for of_role, tasks in ((pins, each.active_tasks()), (standby_pins, each.standby_tasks())):
                for task in tasks:
                    pin = first_pin(of_role, task)
                    assert pin is not None
                    assert each.process_id in valid_clients(pin, application)


@given(rich_applications(), pin_texts(), pin_texts(), delegates)
def test_what_cannot_be_met_is_reported_and_placed_all_the_same(
    application: ApplicationMetadata, pins: list[str], standby_pins: list[str], delegate: str
) -> None:
    answer = explain(application, pins=pins, standby_pins=standby_pins, delegate=delegate)
    unplaced = {
        task
        for task in application.all_tasks()
        for pin in [first_pin(pins, task)]
        if pin is not None and not valid_clients(pin, application)
    }
    reported = [
        task
        for unmet in answer.unmet
        if unmet.reason is UnmetReason.NO_CLIENT and not unmet.is_standby
        for task in unmet.tasks
    ]
    assert sorted(reported) == sorted(unplaced)
    assert owners(answer.assignment).keys() == set(application.all_tasks())
    assert [str(unmet) for unmet in answer.unmet] == [*answer.assignment.remarks][: len(answer.unmet)]


@given(rich_applications(), pin_texts(), pin_texts(), delegates)
def test_a_standby_pin_is_kept_or_reported(
    application: ApplicationMetadata, pins: list[str], standby_pins: list[str], delegate: str
) -> None:
    answer = explain(application, pins=pins, standby_pins=standby_pins, delegate=delegate)
    asked = application.assignment_configs().num_standby_replicas
    reported = {task for unmet in answer.unmet if unmet.is_standby for task in unmet.tasks}
    for task in application.stateful_tasks():
        pin = first_pin(standby_pins, task)
        if pin is None or not asked or task in reported:
            continue
        holders = [each for each in answer.assignment.assignments if task in each.standby_tasks()]
        valid = valid_clients(pin, application)
        assert sum(each.process_id in valid for each in holders) >= asked


@given(rich_applications(), delegates)
def test_without_pins_the_answer_is_the_delegates(application: ApplicationMetadata, delegate: str) -> None:
    expected = DELEGATES[delegate]().assign(application.for_next_assignor())
    assert explain(application, delegate=delegate).assignment == expected


@given(rich_applications(), pin_texts(), delegates)
def test_pins_that_name_nobody_change_nothing_but_the_report(
    application: ApplicationMetadata, pins: list[str], delegate: str
) -> None:
    expected = DELEGATES[delegate]().assign(application.for_next_assignor())
    nobody = [f"{pin.partition('->')[0]} -> tag:zone=nowhere" for pin in pins]
    answer = explain(application, pins=nobody, delegate=delegate)
    assert [set(each.tasks) for each in answer.assignment.assignments] == [
        set(each.tasks) for each in expected.assignments
    ]
    assert len(answer.unmet) == len(pins)


@given(rich_applications(), pin_texts(), pin_texts(), delegates)
def test_the_input_stays_as_it_was(
    application: ApplicationMetadata, pins: list[str], standby_pins: list[str], delegate: str
) -> None:
    before = plain(application)
    static(pins=pins, standby_pins=standby_pins, delegate=delegate).assign(application)
    assert plain(application) == before


@given(rich_applications(), pin_texts(), pin_texts(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(
    application: ApplicationMetadata, pins: list[str], standby_pins: list[str], dice: random.Random
) -> None:
    tasks = list(application.task_infos().values())
    clients = list(application.streams_client_states().values())
    expected = explain(application, pins=pins, standby_pins=standby_pins).assignment
    dice.shuffle(tasks)
    dice.shuffle(clients)
    shuffled = ApplicationMetadata(
        application.assignment_configs(),
        tasks,
        clients,
        application.current_time_ms(),
        application.leader_process_id(),
    )
    answer = explain(shuffled, pins=pins, standby_pins=standby_pins).assignment
    assert {each.process_id: each.tasks for each in answer.assignments} == {
        each.process_id: each.tasks for each in expected.assignments
    }


@given(rich_applications(), pin_texts(), pin_texts(), delegates)
def test_pinned_tasks_stay_once_they_are_placed(
    application: ApplicationMetadata, pins: list[str], standby_pins: list[str], delegate: str
) -> None:
    first = explain(application, pins=pins, standby_pins=standby_pins, delegate=delegate)
    second = explain(after(application, first.assignment), pins=pins, standby_pins=standby_pins, delegate=delegate)
    before, later = owners(first.assignment), owners(second.assignment)
    for task in application.all_tasks():
        pin = first_pin(pins, task)
        if pin is not None and valid_clients(pin, application):
            assert later[task] == before[task]


@given(st.integers(1, 6), st.integers(0, 40))
def test_pinned_tasks_that_nobody_had_are_spread_evenly(clients: int, tasks: int) -> None:
    everybody = [client(number, client_tags={"zone": "a"}) for number in range(clients)]
    assigned_tasks = [f"0_{partition}" for partition in range(tasks)]
    placed = actives(explain(application(everybody, *assigned_tasks), pins="* -> tag:zone=a").assignment)
    counts = [len(held) for held in placed.values()]
    assert max(counts) - min(counts) <= 1


# --- the text of pins -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("1_3", ["1_3"]),
        ("1_*", ["1_0", "1_1", "1_2", "1_3"]),
        ("0_1..0_2", ["0_1", "0_2"]),
        ("0_3 1_0,1_2", ["0_3", "1_0", "1_2"]),
        ("*", [f"{subtopology}_{partition}" for subtopology in range(2) for partition in range(4)]),
        ("orders__1_*", []),
        ("11_*", []),
    ],
)
def test_a_pattern_matches_these_tasks(pattern: str, matching: list[str]) -> None:
    pin = TaskPin.parse(f"{pattern} -> host:h")
    tasks = [TaskId(subtopology, partition) for subtopology in range(2) for partition in range(4)]
    assert [str(task) for task in tasks if pin.matches_task(task)] == matching


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("orders__1_1", ["orders__1_1"]),
        ("orders__1_*", ["orders__1_0", "orders__1_1"]),
        ("orders__0_0..orders__0_9", ["orders__0_0", "orders__0_1"]),
        ("orders__*", ["orders__0_0", "orders__0_1", "orders__1_0", "orders__1_1"]),
        ("users__*", []),
        ("1_*", []),
    ],
)
def test_a_pattern_of_a_named_topology_matches_these_tasks(pattern: str, matching: list[str]) -> None:
    pin = TaskPin.parse(f"{pattern} -> host:h")
    tasks = [TaskId(subtopology, partition, "orders") for subtopology in range(2) for partition in range(2)]
    assert [str(task) for task in tasks if pin.matches_task(task)] == matching


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("process:00000000-0000-0000-0000-000000000001", True),
        ("process:00000000-0000-0000-0000-000000000002", False),
        ("host:App-1.example", True),
        ("host:app-1.example:8080", True),
        ("host:app-1.example:8081", False),
        ("host:app", False),
        ("tag:zone=a", True),
        ("tag:zone=A", False),
        ("tag:cluster=a", False),
        ("tag:zone=b | tag:zone=a", True),
    ],
)
def test_a_selector_means_this_client_or_not(selector: str, matches: bool) -> None:
    state = client(1, host_info=HostInfo("app-1.example", 8080), client_tags={"zone": "a"})
    assert TaskPin.parse(f"0_0 -> {selector}").matches_client(state) is matches


@pytest.mark.parametrize(
    ("pins", "complaint"),
    [
        ("1_*", "is no pin"),
        ("-> host:a", "is no pin"),
        ("1_x -> host:a", "is not a task id"),
        ("x_* -> host:a", "no number of a sub-topology"),
        ("0_1..1_1 -> host:a", "one sub-topology"),
        ("0_3..0_1 -> host:a", "ends before it begins"),
        ("0_1 -> zone=a", "is no client"),
        ("0_1 -> tag:zone", "is no client"),
        ("0_1 -> process:one", "is not a process id"),
        ("0_1 -> host:a |", "is no client"),
        ([1], "expected a text"),
        (7, "expected a list of pins"),
    ],
)
def test_what_is_no_pin_is_refused_with_its_key(pins: object, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as caught:
        static(pins=pins)
    assert PINS in str(caught.value)


def test_pins_in_one_text_are_those_of_a_list() -> None:
    apart = static(pins=["0_* -> tag:zone=a", "1_* -> host:h"])._config
    assert static(pins="0_* -> tag:zone=a; 1_* -> host:h\n")._config == apart


def test_a_misspelled_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"did you mean assignor\.static\.pins"):
        StaticTaskAssignor().configure({"assignor.static.pin": "0_0 -> host:a"})


@pytest.mark.parametrize("delegate", ["static", "connect_eager", "someone.elses"])
def test_only_another_built_in_can_be_the_delegate(delegate: str) -> None:
    with pytest.raises(ConfigError, match=DELEGATE):
        static(delegate=delegate)


def test_kafkas_class_names_a_delegate_too() -> None:
    state = application([client(1), client(2)], "0_0", "0_1", "0_2")
    name = "org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor"
    assert explain(state, delegate=name).assignment == StickyTaskAssignor().assign(state)


# --- rules, one by one ------------------------------------------------------------------------------


def test_the_first_matching_pin_wins() -> None:
    state = application([client(1, client_tags={"zone": "a"}), client(2, client_tags={"zone": "b"})], "0_0", "0_1")
    answer = explain(state, pins=["0_1 -> tag:zone=b", "0_* -> tag:zone=a"])
    assert actives(answer.assignment) == {1: ["0_0"], 2: ["0_1"]}


def test_of_several_clients_the_owner_keeps_then_fewest_tasks_then_process_id_count() -> None:
    everybody = [client(number, client_tags={"zone": "a"}) for number in (3, 1)]
    owner = client(2, "0_3", "0_4", client_tags={"zone": "a"})
    state = application([*everybody, owner], *(f"0_{partition}" for partition in range(5)))
    answer = explain(state, pins="* -> tag:zone=a")
    assert actives(answer.assignment) == {3: ["0_1"], 1: ["0_0", "0_2"], 2: ["0_3", "0_4"]}


def test_a_pin_without_a_client_is_told_and_the_delegate_places_its_task() -> None:
    answer = explain(application([client(1)], "0_0", "0_1"), pins="0_1 -> host:gone")
    assert actives(answer.assignment) == {1: ["0_0", "0_1"]}
    assert answer.assignment.remarks == (
        "pin '0_1 -> host:gone': no client with a thread matches; 0_1 placed by the delegate",
    )


def test_a_pin_that_applies_to_nothing_is_told() -> None:
    answer = explain(application([client(1)], "0_0"), pins=["0_* -> host:gone", "0_0 -> host:other"])
    assert [unmet.reason for unmet in answer.unmet] == [UnmetReason.NO_CLIENT, UnmetReason.NO_TASK]


def test_a_client_without_threads_meets_no_pin() -> None:
    idle = StreamsClientState(process(1), 0, lags={}, client_tags={"zone": "a"})
    answer = explain(application([idle, client(2)], "0_0"), pins="0_0 -> tag:zone=a")
    assert actives(answer.assignment) == {1: [], 2: ["0_0"]}
    assert [unmet.reason for unmet in answer.unmet] == [UnmetReason.NO_CLIENT]


def test_tasks_without_a_pin_go_to_pinned_clients_only_if_there_is_nobody_else() -> None:
    state = application([client(1, client_tags={"zone": "a"})], "0_0", "1_0")
    answer = explain(state, pins="0_0 -> tag:zone=a")
    assert actives(answer.assignment) == {1: ["0_0", "1_0"]}
    assert answer.no_wildcard_clients
    assert "every client is named by a pin" in answer.assignment.remarks[-1]


def test_a_pinned_task_has_its_standbys_on_clients_without_pins() -> None:
    """They take over when the pinned client leaves."""
    everybody = [client(number, client_tags={"zone": zone}) for number, zone in enumerate("aabb", 1)]
    answer = explain(application(everybody, "0_0", "0_1", standbys=1), pins="* -> tag:zone=a").assignment
    assert actives(answer) == {1: ["0_0"], 2: ["0_1"], 3: [], 4: []}
    assert standbys(answer) == {1: [], 2: [], 3: ["0_0"], 4: ["0_1"]}


def test_standbys_can_be_pinned_while_actives_are_the_delegates() -> None:
    everybody = [client(number, client_tags={"zone": zone}) for number, zone in enumerate("aab", 1)]
    answer = explain(application(everybody, "0_0", "0_1", standbys=1), standby_pins="* -> tag:zone=b").assignment
    assert actives(answer) == {1: ["0_0"], 2: ["0_1"], 3: []}
    assert standbys(answer) == {1: [], 2: [], 3: ["0_0", "0_1"]}


def test_too_few_clients_for_pinned_standbys_are_told_and_the_rest_is_placed_elsewhere() -> None:
    everybody = [client(number, client_tags={"zone": zone}) for number, zone in enumerate("aab", 1)]
    answer = explain(application(everybody, "0_0", standbys=2), standby_pins="* -> tag:zone=b")
    assert Counter(task for held in standbys(answer.assignment).values() for task in held) == {"0_0": 2}
    assert [unmet.reason for unmet in answer.unmet] == [UnmetReason.TOO_FEW_CLIENTS]


def test_warm_ups_of_the_delegate_are_not_more_than_configured() -> None:
    """Tasks with pinned standbys are delegated separately, and both calls share one budget."""
    ids = [TaskId(subtopology, partition) for subtopology in range(2) for partition in range(4)]
    behind = StreamsClientState(process(2), 1, lags=dict.fromkeys(ids, 10**6))
    ahead = StreamsClientState(process(1), 1, lags=dict.fromkeys(ids, 0))
    third = StreamsClientState(process(3), 1, lags=dict.fromkeys(ids, 10**6), client_tags={"zone": "b"})
    configs = AssignmentConfigs(num_standby_replicas=1, max_warmup_replicas=1)
    state = ApplicationMetadata(configs, [TaskInfo(task, True, True) for task in ids], [ahead, behind, third])
    answer = explain(state, standby_pins="0_* -> tag:zone=b").assignment
    counts = Counter(task for held in standbys(answer).values() for task in held)
    assert sum(count - 1 for count in counts.values()) <= 1
    assert any(each.followup_rebalance_deadline_ms is not None for each in answer.assignments)


def test_where_no_lags_are_known_kafkas_fallback_is_the_delegate() -> None:
    previous = StreamsClientState(process(2), 1, previous_active_tasks=[TaskId(0, 0), TaskId(0, 1)], lags=None)
    other = StreamsClientState(process(1), 1, lags=None)
    infos = [TaskInfo(TaskId(0, partition), True, True) for partition in range(2)]
    state = ApplicationMetadata(AssignmentConfigs(), infos, [other, previous])
    assert explain(state).assignment == FallbackPriorTaskAssignor().assign(state)


def test_the_delegate_can_be_an_assignor_of_ones_own() -> None:
    state = application([client(1), client(2, client_tags={"zone": "a"})], "0_0", "0_1")
    assignor = StaticTaskAssignor(StickyTaskAssignor)
    assignor.configure({PINS: "0_1 -> tag:zone=a"})
    assert actives(assignor.assign(state)) == {1: ["0_0"], 2: ["0_1"]}
