from __future__ import annotations

from typing import Any

import attrs
import pytest

from assignment_api import (
    ApplicationMetadata,
    AssignmentConfigs,
    IllegalAssignmentArgumentError,
    IllegalAssignmentStateError,
    LagsNotComputedError,
    ProcessID,
    StreamsClientState,
    TaskId,
    TaskInfo,
    UnknownTaskError,
)

FIRST = ProcessID.parse("00000000-0000-0000-0000-000000000001")
SECOND = ProcessID.parse("00000000-0000-0000-0000-000000000002")
STATEFUL, UNLOGGED, STATELESS = TaskId(1, 0), TaskId(0, 1), TaskId(0, 0)


def tasks() -> list[TaskInfo]:
    return [
        TaskInfo(STATEFUL, is_stateful=True, is_logged=True),
        TaskInfo(UNLOGGED, is_stateful=True, is_logged=False),
        TaskInfo(STATELESS, is_stateful=False, is_logged=False),
    ]


def client(process: ProcessID = FIRST, **facts: Any) -> StreamsClientState:
    facts.setdefault("lags", {STATEFUL: 7})
    return StreamsClientState(process, 1, **facts)


def application(*clients: StreamsClientState, **facts: Any) -> ApplicationMetadata:
    return ApplicationMetadata(AssignmentConfigs(), tasks(), clients, **facts)


def test_clients_and_tasks_keep_the_order_of_the_input() -> None:
    shown = application(client(SECOND), client(FIRST))
    assert list(shown.streams_client_states()) == [SECOND, FIRST]
    assert list(shown.all_tasks()) == [STATEFUL, UNLOGGED, STATELESS]


def test_stateful_means_stateful_and_logged() -> None:
    assert list(application(client()).stateful_tasks()) == [STATEFUL]


def test_lags_are_closed_until_they_are_computed() -> None:
    shown = application(client())
    state = shown.streams_client_states()[FIRST]
    for ask in (
        lambda: state.lag_for(STATEFUL),
        lambda: state.prev_tasks_by_lag("c"),
        state.stateful_tasks_to_lag_sums,
    ):
        with pytest.raises(LagsNotComputedError):
            ask()
    assert shown.compute_task_lags()
    assert state.lag_for(STATEFUL) == 7


def test_lags_stay_closed_when_the_end_offsets_were_not_there() -> None:
    shown = application(client(lags=None))
    assert not shown.compute_task_lags()
    with pytest.raises(LagsNotComputedError):
        shown.streams_client_states()[FIRST].lag_for(STATEFUL)


def test_the_next_assignor_finds_the_lags_closed_again() -> None:
    shown = application(client())
    shown.compute_task_lags()
    again = shown.for_next_assignor()
    with pytest.raises(LagsNotComputedError):
        again.streams_client_states()[FIRST].lag_for(STATEFUL)
    assert shown.streams_client_states()[FIRST].lag_for(STATEFUL) == 7


def test_a_lag_that_nobody_told_is_kafkas_error() -> None:
    shown = application(client())
    shown.compute_task_lags()
    with pytest.raises(UnknownTaskError, match="Tried to lookup lag for unknown task 0_0") as error:
        shown.streams_client_states()[FIRST].lag_for(STATELESS)
    assert error.value.java_type == "IllegalStateException"


def test_previous_tasks_of_a_consumer_come_by_lag_then_id_without_those_that_have_no_lag() -> None:
    lags = {TaskId(0, 0): 5, TaskId(0, 1): -2, TaskId(0, 2): 5}
    reported = (TaskId(0, 2), TaskId(0, 0), TaskId(0, 1), TaskId(9, 9))
    shown = application(client(lags=lags, previous_tasks_by_consumer={"c": reported}))
    shown.compute_task_lags()
    state = shown.streams_client_states()[FIRST]
    assert state.prev_tasks_by_lag("c") == (TaskId(0, 1), TaskId(0, 0), TaskId(0, 2))
    assert state.prev_tasks_by_lag("unknown") == ()


def test_consumers_and_previous_tasks_are_sorted() -> None:
    state = client(consumers=["b", "a"], previous_active_tasks=[TaskId(10, 0), TaskId(2, 0)])
    assert state.consumers == ("a", "b")
    assert state.previous_active_tasks == (TaskId(2, 0), TaskId(10, 0))


def test_nothing_that_is_shown_can_be_changed() -> None:
    shown = application(client(client_tags={"zone": "a"}))
    shown.compute_task_lags()
    state = shown.streams_client_states()[FIRST]
    with pytest.raises(TypeError):
        shown.streams_client_states()[SECOND] = state  # type: ignore[index]
    with pytest.raises(TypeError):
        shown.task_infos()[STATELESS] = tasks()[0]  # type: ignore[index]
    with pytest.raises(TypeError):
        state.client_tags["zone"] = "b"  # type: ignore[index]
    with pytest.raises(TypeError):
        state.stateful_tasks_to_lag_sums()[STATEFUL] = 0  # type: ignore[index]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        state.num_stream_threads = 9  # type: ignore[misc]


def test_a_client_cannot_occur_twice() -> None:
    with pytest.raises(IllegalAssignmentArgumentError, match="occurs twice"):
        application(client(), client())


def test_lags_are_there_for_all_clients_or_for_none() -> None:
    with pytest.raises(IllegalAssignmentArgumentError, match="some clients have lags"):
        application(client(FIRST), client(SECOND, lags=None))


def test_the_leader_is_one_of_the_clients() -> None:
    assert application(client(), leader_process_id=FIRST).leader_process_id() == FIRST
    with pytest.raises(IllegalAssignmentArgumentError, match="none of the clients"):
        application(client(), leader_process_id=SECOND)


def test_named_and_unnamed_tasks_do_not_mix() -> None:
    mixed = [TaskInfo(TaskId(0, 0), False, False), TaskInfo(TaskId(0, 0, "name"), False, False)]
    with pytest.raises(IllegalAssignmentStateError, match="all tasks are named"):
        ApplicationMetadata(AssignmentConfigs(), mixed, [client()])
