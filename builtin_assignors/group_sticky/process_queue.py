"""Kafka's queue of processes by load, and of members by number of tasks, as far as ties decide (reference 3.1).

The heap's steps are those of ``java.util.PriorityQueue`` (``assignment_api.java.JavaPriorityQueue``), with the keys in
an array beside it: a step costs one list access in place of a call.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["add", "poll"]


def add(heap: list[int], element: int, keys: Sequence[float]) -> None:
    """Puts ``element`` into ``heap``; ``keys`` holds the key of every element."""
    key = keys[element]
    index = len(heap)
    heap.append(element)
    while index:
        parent = index - 1 >> 1
        above = heap[parent]
        if key >= keys[above]:
            break
        heap[index] = above
        index = parent
    heap[index] = element


def poll(heap: list[int], keys: Sequence[float]) -> int:
    """Takes the element with the least key out of ``heap``, which must not be empty."""
    head = heap[0]
    element = heap.pop()
    size = len(heap)
    if not size:
        return head
    key = keys[element]
    index = 0
    child = 1
    while child < size:
        below = heap[child]
        least = keys[below]
        right = child + 1
        if right < size:
            other = heap[right]
            if least > keys[other]:
                below, least, child = other, keys[other], right
        if key <= least:
            break
        heap[index] = below
        index = child
        child = 2 * index + 1
    heap[index] = element
    return head
