from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api import (
    ConfigError,
    HostInfo,
    IllegalAssignmentStateError,
    LagsNotComputedError,
    ProcessID,
    StreamsClientState,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
)
from assignor_lab.scenarios import Place, ScenarioKindError, canonical_line, scenario_from_document, scenario_from_line
from tests.scenarios.documents import PROCESS_1, PROCESS_2, scenario, streams_document

TASK = TaskId.parse("0_0")
CLIENT_2 = ProcessID.parse(PROCESS_2)


def client_of(**changes: Any) -> StreamsClientState:
    document = streams_document()
    document["clients"][0].update(changes)
    application = scenario_from_document(document, Place("x")).application
    application.compute_task_lags()
    return application.streams_client_states()[CLIENT_2]


def test_clients_and_tasks_stand_in_the_order_of_the_document() -> None:
    application = scenario().application
    assert [str(process) for process in application.streams_client_states()] == [PROCESS_2, PROCESS_1]
    assert [str(task) for task in application.all_tasks()] == ["0_0", "1_0"]
    assert list(application.stateful_tasks()) == [TASK]


def test_a_task_has_its_partitions_and_stores() -> None:
    assert scenario().application.task_infos()[TASK] == TaskInfo(
        TASK,
        is_stateful=True,
        is_logged=True,
        state_store_names=("totals",),
        topic_partitions=(
            TaskTopicPartition("in", 0, is_source=True, is_changelog=False, rack_ids=("r1", "r2")),
            TaskTopicPartition("log", 0, is_source=False, is_changelog=True, rack_ids=("r1",)),
        ),
    )


def test_unknown_partitions_and_stores_stay_unknown() -> None:
    document = streams_document()
    document["tasks"][0].update(stores=None, partitions=None)
    info = scenario_from_document(document, Place("x")).application.task_infos()[TASK]
    assert (info.state_store_names, info.topic_partitions, info.is_logged) == (None, None, True)


def test_a_client_has_what_the_document_says() -> None:
    client = client_of()
    assert client.num_stream_threads == 2
    assert client.consumers == ("c1", "c2")
    assert client.previous_active_tasks == (TASK, TaskId.parse("1_0"))
    assert client.previous_standby_tasks == ()
    assert dict(client.stateful_tasks_to_lag_sums()) == {TASK: -2}
    assert client.prev_tasks_by_lag("c1") == (TASK,)
    assert client.host_info == HostInfo("host1", 8080)
    assert dict(client.client_tags) == {"zone": "a"}
    assert client.rack_id == "r1"


def test_an_address_of_version_6_is_a_host() -> None:
    assert client_of(host="[::1]:9").host_info == HostInfo("[::1]", 9)


def test_lags_that_could_not_be_fetched_stay_closed() -> None:
    document = streams_document()
    for client in document["clients"]:
        client["lags"] = None
    application = scenario_from_document(document, Place("x")).application
    assert application.compute_task_lags() is False
    with pytest.raises(LagsNotComputedError):
        application.streams_client_states()[CLIENT_2].lag_for(TASK)


def test_every_access_gives_an_application_whose_lags_are_not_yet_computed() -> None:
    read = scenario()
    first = read.application
    first.compute_task_lags()
    with pytest.raises(LagsNotComputedError):
        read.application.streams_client_states()[CLIENT_2].lag_for(TASK)
    assert first.streams_client_states()[CLIENT_2].lag_for(TASK) == -2


def test_further_accesses_are_cheap() -> None:
    document = streams_document()
    document["tasks"] = [{**document["tasks"][1], "id": f"1_{index}", "partitions": None} for index in range(5_000)]
    document["clients"][0]["lags"] = {f"1_{index}": index for index in range(5_000)}
    read = scenario_from_document(document, Place("x"))
    read.application  # noqa: B018 - the first access may take its time
    calls: list[str] = []
    sys.setprofile(lambda _frame, event, _argument: calls.append(event))
    try:
        read.application  # noqa: B018
    finally:
        sys.setprofile(None)
    # The first one creates objects of each of the 5,000 tasks.
    assert len(calls) < 1_000


def test_the_leader_is_unknown() -> None:
    assert scenario().application.leader_process_id() is None


def test_config_has_kafkas_defaults_under_the_scenarios_own_values() -> None:
    configs = scenario().application.assignment_configs()
    assert (configs.num_standby_replicas, configs.max_warmup_replicas) == (1, 2)
    assert configs.rack_aware_assignment_tags == ("zone",)


def test_given_config_replaces_the_scenarios_own_key_by_key() -> None:
    read = scenario()
    given = {"num.standby.replicas": "3", "security.protocol": "SSL", "max.warmup.replicas": 7}
    configs = read.application_with(given).assignment_configs()
    assert (configs.num_standby_replicas, configs.max_warmup_replicas) == (3, 7)
    assert configs.rack_aware_assignment_tags == ("zone",)
    assert read.application.assignment_configs().num_standby_replicas == 1


def test_a_value_out_of_range_is_kafkas_error_at_every_access_and_can_be_overridden() -> None:
    read = scenario(config={"max.warmup.replicas": 0})
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"Invalid value 0 for configuration max\.warmup\.replicas"):
            read.application  # noqa: B018
    assert read.application_with({"max.warmup.replicas": 1}).assignment_configs().max_warmup_replicas == 1


def test_named_beside_unnamed_tasks_are_kafkas_error() -> None:
    document = streams_document()
    document["tasks"][1]["id"] = "named__1_0"
    read = scenario_from_document(document, Place("x"))
    with pytest.raises(IllegalAssignmentStateError):
        read.application  # noqa: B018


def test_a_scenario_of_another_kind_has_no_application() -> None:
    document = {"format": 1, "kind": "connect", "id": "c", "protocol": "eager", "max_delay_ms": 0, "rounds": []}
    read = scenario_from_document(document, Place("c.jsonl", 3))
    with pytest.raises(ScenarioKindError, match=r"c.jsonl, line 3: scenario 'c' is of kind 'connect'"):
        read.application  # noqa: B018


# --- round trip -----------------------------------------------------------------------------------

names = st.text(min_size=1, max_size=5)
lag_values = st.integers(-(2**63), 2**63 - 1)


@st.composite
def streams_documents(draw: st.DrawFn) -> dict[str, Any]:
    ids = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), unique=True, max_size=6))
    tasks = [f"{subtopology}_{partition}" for subtopology, partition in ids]
    some_tasks = st.lists(st.sampled_from(tasks), unique=True) if tasks else st.just([])
    with_lags = draw(st.booleans())
    clients = []
    for number in range(draw(st.integers(0, 4))):
        consumers = [f"c-{number}-{draw(names)}-{index}" for index in range(draw(st.integers(0, 3)))]
        clients.append(
            {
                "process_id": str(draw(st.uuids(version=4))),
                "rack": draw(st.none() | names),
                "tags": draw(st.dictionaries(names, names, max_size=3)),
                "host": draw(st.none() | st.just("h:1")),
                "threads": draw(st.integers(0, 2**31 - 1)),
                "consumers": consumers,
                "previous_active": draw(some_tasks),
                "previous_standby": draw(some_tasks),
                "lags": {task: draw(lag_values) for task in draw(some_tasks)} if with_lags else None,
                "previous_by_consumer": draw(st.none() | st.fixed_dictionaries(dict.fromkeys(consumers, some_tasks))),
            }
        )
    return {
        "format": 1,
        "kind": "streams",
        "id": draw(st.text(max_size=10)),
        "config": draw(st.fixed_dictionaries({}, optional={"num.standby.replicas": st.integers(0, 5)})),
        "tasks": [draw(tasks_with(task)) for task in tasks],
        "clients": clients,
    }


@st.composite
def tasks_with(draw: st.DrawFn, task: str) -> dict[str, Any]:
    stores = draw(st.none() | st.lists(names, unique=True, max_size=2))
    logged = draw(st.booleans())
    topics = [("in", True, False), *([("log", False, True)] if logged else [])]
    partitions = [
        {
            "topic": f"{topic}-{task}",
            "partition": draw(st.integers(0, 99)),
            "source": source,
            "changelog": changelog,
            "racks": draw(st.none() | st.lists(names, unique=True, max_size=3)),
        }
        for topic, source, changelog in topics
    ]
    return {
        "id": task,
        "stateful": bool(stores) if stores is not None else draw(st.booleans()),
        "logged": logged,
        "stores": stores,
        "partitions": draw(st.none() | st.just(partitions)),
    }


def ordered(value: Any) -> Any:
    """The value with its maps as lists of pairs, so that order counts."""
    if isinstance(value, dict):
        return [(key, ordered(item)) for key, item in value.items()]
    return [ordered(item) for item in value] if isinstance(value, list) else value


@given(streams_documents())
def test_a_document_comes_back_as_it_was_with_the_order_of_its_keys(document: dict[str, Any]) -> None:
    read = scenario_from_line(canonical_line(document), Place("x"))
    assert ordered(read.document) == ordered(document)


@given(streams_documents())
def test_the_values_say_what_the_document_says(document: dict[str, Any]) -> None:
    application = scenario_from_line(canonical_line(document), Place("x")).application
    has_lags = application.compute_task_lags()
    assert [str(task) for task in application.all_tasks()] == [task["id"] for task in document["tasks"]]
    states = application.streams_client_states()
    assert [str(process) for process in states] == [client["process_id"] for client in document["clients"]]
    for state, client in zip(states.values(), document["clients"], strict=True):
        assert state.num_stream_threads == client["threads"]
        assert sorted(state.consumers) == sorted(client["consumers"])
        assert {str(task) for task in state.previous_active_tasks} == set(client["previous_active"])
        assert dict(state.client_tags) == client["tags"]
        if has_lags:
            lags = {str(task): lag for task, lag in state.stateful_tasks_to_lag_sums().items()}
            assert ordered(lags) == ordered(client["lags"])
