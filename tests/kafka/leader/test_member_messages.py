"""The leader's messages to every member for an answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignmentConfigs,
    HostInfo,
    IllegalAssignmentStateError,
    ProcessID,
    StreamsClientAssignment,
    StreamsClientState,
    TaskAssignment,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
)
from assignor_lab.kafka.leader.member_messages import MemberMessage, member_messages
from assignor_lab.kafka.wire import NO_REBALANCE

P1 = ProcessID.parse("00000000-0000-0000-0000-000000000001")
P2 = ProcessID.parse("00000000-0000-0000-0000-000000000002")
T0, T1, T2 = TaskId(0, 0), TaskId(0, 1), TaskId(1, 0)
HOST1, HOST2 = HostInfo("one", 80), HostInfo("two", 80)


def info(task: TaskId, *, logged: bool = True) -> TaskInfo:
    source = TaskTopicPartition(f"in-{task.subtopology}", task.partition, is_source=True, is_changelog=False)
    changelog = TaskTopicPartition(f"log-{task.subtopology}", task.partition, is_source=False, is_changelog=True)
    return TaskInfo(task, logged, logged, ("s",) if logged else (), (source, changelog) if logged else (source,))


def client(
    process: ProcessID, *consumers: str, host: HostInfo | None = None, standby: Sequence[TaskId] = ()
) -> StreamsClientState:
    return StreamsClientState(
        process,
        len(consumers),
        consumers,
        previous_standby_tasks=tuple(standby),
        lags={T0: 0, T1: 0},
        host_info=host,
    )


def application(*clients: StreamsClientState) -> ApplicationMetadata:
    return ApplicationMetadata(AssignmentConfigs(), [info(T0), info(T1), info(T2, logged=False)], clients)


def answer(**clients: StreamsClientAssignment) -> TaskAssignment:
    return TaskAssignment(tuple(clients.values()))


def given(process: ProcessID, active: Sequence[TaskId], standby: Sequence[TaskId] = ()) -> StreamsClientAssignment:
    tasks = [*map(AssignedTask.active, active), *map(AssignedTask.standby, standby)]
    return StreamsClientAssignment.of(process, tasks)


def sent(
    app: ApplicationMetadata, said: TaskAssignment, **owned: Sequence[tuple[str, int]]
) -> dict[str, MemberMessage]:
    return member_messages(app, said, owned, sorted_sets=True)


def test_tasks_stand_parallel_to_partitions_sorted_by_topic() -> None:
    messages = sent(application(client(P1, "a")), answer(one=given(P1, [T2, T1, T0])))

    assert messages["a"].partitions == (("in-0", 0), ("in-0", 1), ("in-1", 0))
    assert messages["a"].info.active_tasks == (T0, T1, T2)
    assert messages["a"].info.next_rebalance_ms == NO_REBALANCE


def test_a_task_that_another_member_owns_is_sent_later_and_asked_for_at_once() -> None:
    app = application(client(P1, "a", host=HOST1, standby=[T0]), client(P2, "b", host=HOST2))

    messages = sent(app, answer(one=given(P1, [T0]), two=given(P2, [T1, T2], [T0])), a=(), b=[("in-0", 0)])

    assert messages["a"].held_back == (T0,)
    assert messages["a"].partitions == ()
    assert messages["a"].info.next_rebalance_ms == 0
    assert messages["a"].info.standby_tasks == {T0: (("in-0", 0),)}
    assert messages["b"].held_back == ()
    assert messages["b"].info.next_rebalance_ms == NO_REBALANCE


def test_host_maps_show_where_tasks_will_be_not_where_they_are() -> None:
    app = application(client(P1, "a", host=HOST1), client(P2, "b", host=HOST2))

    messages = sent(app, answer(one=given(P1, [T0]), two=given(P2, [T1], [T0])), a=(), b=[("in-0", 0)])

    for message in messages.values():
        assert message.info.partitions_by_host == {HOST1: (("in-0", 0),), HOST2: (("in-0", 1),)}
        assert message.info.standby_partitions_by_host == {HOST1: (), HOST2: (("in-0", 0),)}


def test_of_two_clients_with_one_end_point_the_later_one_is_shown() -> None:
    app = application(client(P1, "a", host=HOST1), client(P2, "b", host=HOST1))

    messages = sent(app, answer(one=given(P1, [T0]), two=given(P2, [T1])))

    assert messages["a"].info.partitions_by_host == {HOST1: (("in-0", 1),)}


def test_only_the_first_consumer_of_a_client_is_told_to_probe() -> None:
    app = application(client(P1, "a", "b"))

    messages = sent(app, answer(one=given(P1, [T0, T1]).with_followup_rebalance(77)))

    assert [messages[name].info.next_rebalance_ms for name in "ab"] == [77, NO_REBALANCE]


def test_a_consumer_that_rebalances_at_once_takes_the_deadline_with_it() -> None:
    app = application(client(P1, "a", "b"), client(P2, "c"))
    said = answer(one=given(P1, [T0, T1]).with_followup_rebalance(77), two=given(P2, []))

    messages = sent(app, said, c=[("in-0", 0), ("in-0", 1)])

    assert [messages[name].info.next_rebalance_ms for name in "ab"] == [0, 0]
    first_keeps = sent(app, said, a=[("in-0", 0)], c=[("in-0", 1)])
    assert [first_keeps[name].info.next_rebalance_ms for name in "ab"] == [77, 0]


def test_a_client_without_an_answer_is_sent_empty_messages() -> None:
    messages = sent(application(client(P1, "a"), client(P2, "b")), answer(one=given(P1, [T0, T1, T2])))

    assert messages["b"].partitions == ()
    assert messages["b"].info.active_tasks == ()


def test_unknown_partitions_are_an_error_that_says_what_to_do() -> None:
    app = ApplicationMetadata(
        AssignmentConfigs(),
        [TaskInfo(T0, is_stateful=True, is_logged=True, state_store_names=None, topic_partitions=None)],
        [client(P1, "a")],
    )
    with pytest.raises(IllegalAssignmentStateError, match=r"partitions of task 0_0 are unknown.*give the topology"):
        sent(app, answer(one=given(P1, [T0])))
