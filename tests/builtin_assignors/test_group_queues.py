from __future__ import annotations

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from assignment_api.java import JavaPriorityQueue
from builtin_assignors._group_sticky_steps.queues import ProcessQueue, turns
from builtin_assignors._group_sticky_steps.quota import Quota

LOADS = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1 / 3, 2 / 3, 4.0]), min_size=1, max_size=40)


def java_queue(order: list[int], loads: list[float]) -> JavaPriorityQueue[int]:
    queue: JavaPriorityQueue[int] = JavaPriorityQueue(key=loads.__getitem__)
    for process in order:
        queue.offer(process)
    return queue


@given(
    LOADS, st.randoms(use_true_random=False), st.lists(st.sampled_from(["raise", "raise", "poll", "add"]), max_size=60)
)
def test_a_queue_of_processes_is_javas(loads: list[float], dice: object, steps: list[str]) -> None:
    order = list(range(len(loads)))
    dice.shuffle(order)  # type: ignore[attr-defined]
    expected, queue = java_queue(order, loads), ProcessQueue(order, loads)
    out: list[int] = []
    for step in steps:
        if step == "raise" and len(queue):
            head = expected.poll()
            assert head == queue.processes[0]
            loads[head] += 0.5 if head % 2 else 1 / 3
            expected.offer(head)
            queue.raise_head(loads[head])
        elif step == "poll" and len(queue):
            out.append(queue.poll())
            assert out[-1] == expected.poll()
        elif step == "add" and out:
            queue.add(out[-1], loads[out[-1]])
            expected.offer(out.pop())
        assert queue.processes[: len(queue)] == list(expected)


@given(st.integers(1, 70), st.integers(0, 400))
def test_equals_take_turns_as_in_javas_queue(size: int, steps: int) -> None:
    loads = [0.0] * size
    queue = java_queue(list(range(size)), loads)
    polled = []
    for _ in range(steps):
        head = queue.poll()
        assert head is not None
        polled.append(head)
        loads[head] += 1.0
        queue.offer(head)
    assert list(islice(turns(range(size)), steps)) == polled


def test_without_elements_there_are_no_turns() -> None:
    assert list(turns([])) == []


@given(st.integers(0, 50), st.integers(1, 9))
def test_members_that_fill_up_to_their_quota_share_out_everything(tasks: int, members: int) -> None:
    quota = Quota(tasks, members)
    given_out = 0
    for _ in range(members):
        given_out += quota.each
        quota.reached()
    assert (given_out, quota.each) == (tasks, 0)
