"""Cooperative revocation: no member gets a task that another still has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assignment_api import TaskId
from assignor_lab.kafka.leader.revocation import TopicPartition, held_back_tasks, temporary_standbys

TASK = TaskId(0, 0)
OTHER = TaskId(0, 1)
PARTITIONS: dict[TaskId, tuple[TopicPartition, ...]] = {
    TASK: (("left", 0), ("right", 0)),
    OTHER: (("left", 1), ("right", 1)),
}


def test_what_a_consumer_owned_stays_with_it() -> None:
    own = dict.fromkeys(PARTITIONS[TASK], "c1")
    assert held_back_tasks("c1", [TASK], PARTITIONS, own, own.keys()) == ()


def test_what_nobody_owned_is_given_at_once() -> None:
    assert held_back_tasks("c1", [TASK, OTHER], PARTITIONS, {}, ()) == ()


def test_one_partition_that_somebody_else_owns_holds_the_whole_task_back() -> None:
    own = {("left", 0): "c1"}
    assert held_back_tasks("c1", [OTHER, TASK], PARTITIONS, own, {("left", 0), ("right", 0)}) == (TASK,)


def test_a_task_moves_between_consumers_of_one_client_in_two_steps_too() -> None:
    own = dict.fromkeys(PARTITIONS[TASK], "c2")
    assert held_back_tasks("c1", [TASK], PARTITIONS, own, own.keys()) == (TASK,)


def test_a_waiting_task_stays_a_standby_where_it_was_one_and_has_state() -> None:
    assert temporary_standbys((TASK, OTHER), {TASK, OTHER}, {OTHER}) == (OTHER,)
    assert temporary_standbys((TASK,), set(), {TASK}) == ()


TASKS = [TaskId(subtopology, number) for subtopology in range(3) for number in range(4)]
SOURCES: dict[TaskId, tuple[TopicPartition, ...]] = {
    task: tuple((f"in-{task.subtopology}-{topic}", task.partition) for topic in range(task.subtopology + 1))
    for task in TASKS
}


@given(
    st.dictionaries(st.sampled_from(TASKS), st.sampled_from("abcd"), min_size=1),
    st.dictionaries(st.sampled_from(TASKS), st.sampled_from("abcd")),
)
def test_no_partition_is_given_while_another_member_has_it_and_two_rounds_suffice(
    wanted: dict[TaskId, str], owned_tasks: dict[TaskId, str]
) -> None:
    owned = {partition: consumer for task, consumer in owned_tasks.items() for partition in SOURCES[task]}
    waiting: list[TaskId] = []
    for _ in range(2):
        given_now: dict[TopicPartition, str] = {}
        waiting.clear()
        for consumer in "abcd":
            tasks = [task for task, to in wanted.items() if to == consumer]
            held_back = held_back_tasks(consumer, tasks, SOURCES, owned, owned.keys())
            waiting.extend(held_back)
            for task in tasks:
                if task not in held_back:
                    given_now.update(dict.fromkeys(SOURCES[task], consumer))
        assert all(owned.get(partition, consumer) == consumer for partition, consumer in given_now.items())
        owned = given_now
    assert not waiting
