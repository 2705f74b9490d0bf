"""The priority queue uses Java's steps: same polls, same array, also with ties and changing priorities."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from assignment_api.java.priority_queue import JavaPriorityQueue

RECORDED = Path(__file__).parents[2] / "data" / "java" / "priority_queues.jsonl.gz"


def test_every_recorded_queue_of_the_jdk_comes_out_again() -> None:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    assert len(cases) == 300
    for case in cases:
        priorities = case["priorities"]
        queue: JavaPriorityQueue[int] = JavaPriorityQueue(key=priorities.__getitem__)
        polled = []
        for operation in case["operations"].split():
            number, _, priority = operation[1:].partition("=")
            match operation[0]:
                case "o":
                    queue.offer(int(number))
                case "r":
                    queue.remove(int(number))
                case "p":
                    polled.append(queue.poll())
                case _:
                    priorities[int(number)] = int(priority)
        assert (polled, list(queue)) == (case["polled"], case["array"])


def test_a_collection_becomes_a_heap_in_its_own_order() -> None:
    queue = JavaPriorityQueue([5, 4, 3, 2, 1])
    assert list(queue) == [1, 2, 3, 5, 4]
    assert [queue.poll() for _ in range(6)] == [1, 2, 3, 4, 5, None]


def test_an_empty_queue_has_no_head() -> None:
    queue: JavaPriorityQueue[int] = JavaPriorityQueue()
    assert queue.peek() is None
    assert not queue.remove(1)
    assert len(queue) == 0


def test_membership_and_head_follow_the_content() -> None:
    queue = JavaPriorityQueue([3, 1, 2])
    assert queue.peek() == 1
    assert 3 in queue
    assert queue.remove(3)
    assert 3 not in queue
    assert len(queue) == 2
