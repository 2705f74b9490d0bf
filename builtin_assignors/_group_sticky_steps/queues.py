"""Kafka's queues of processes by load, and of members by number of tasks, with the same ties.

Kafka: the brokers' ``StickyTaskAssignor``.

The steps of the heap are those of ``java.util.PriorityQueue`` (``assignment_api.java.JavaPriorityQueue``). Keys are in
arrays: a step costs list accesses instead of calls. A queue of equal keys needs no heap: :func:`turns` yields the order
in which its elements come when each returns with the next higher key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import inf

__all__ = ["ProcessQueue", "add", "poll", "turns"]


class ProcessQueue:
    """Processes by load, the least loaded first."""

    __slots__ = ("_loads", "_size", "processes")

    def __init__(self, order: Sequence[int], loads: Sequence[float]) -> None:
        #: Array of the heap, head first. Entries behind the queue's end are undefined.
        self.processes = processes = list(order)
        self._size = len(processes)
        self._loads = keys = [loads[process] for process in processes]
        # Adding one by one moves an element up past greater ones among those before it; the rest stay in place.
        for index in range(1, len(keys)):
            if keys[index] < keys[index - 1 >> 1]:
                self._rise(index, processes[index], keys[index])
        # Infinite loads behind the last element: no step needs to check for missing children.
        keys += [inf] * (len(keys) + 2)

    def __len__(self) -> int:
        return self._size

    def add(self, process: int, load: float) -> None:
        index = self._size
        self._size = index + 1
        self._rise(index, process, load)

    def poll(self) -> int:
        """Remove and return the least loaded process; the queue must not be empty."""
        head = self.processes[0]
        self._size = last = self._size - 1
        load = self._loads[last]
        self._loads[last] = inf
        if last:
            self._sink(self.processes[last], load)
        return head

    def raise_head(self, load: float) -> None:
        """Give the head a higher load: equivalent to a poll and an add."""
        processes, last = self.processes, self._size - 1
        if not last:
            self._loads[0] = load
            return
        head = processes[0]
        moved = self._loads[last]
        self._loads[last] = inf
        self._sink(processes[last], moved)
        if load >= self._loads[last - 1 >> 1]:
            self._loads[last] = load
            processes[last] = head
        else:
            self._rise(last, head, load)

    def _rise(self, index: int, process: int, load: float) -> None:
        processes, loads = self.processes, self._loads
        while index:
            parent = index - 1 >> 1
            above = loads[parent]
            if load >= above:
                break
            loads[index] = above
            processes[index] = processes[parent]
            index = parent
        loads[index] = load
        processes[index] = process

    def _sink(self, process: int, load: float) -> None:
        processes, loads = self.processes, self._loads
        index, child = 0, 1
        least = loads[1]
        while True:
            if loads[child + 1] < least:
                child += 1
                least = loads[child]
            if load <= least:
                break
            loads[index] = least
            processes[index] = processes[child]
            index = child
            child = 2 * child + 1
            least = loads[child]
        loads[index] = load
        processes[index] = process


def turns(elements: Sequence[int]) -> Iterator[int]:
    """Yield the elements of a queue of equals forever, in the order of polls that each add with the next higher key.

    While some elements still have the lower key, a poll moves the last element to the head. The element then sinks
    below all lower ones, to the left if possible. It has the higher key, except at the first poll. So the left half of
    the heap empties before the right one, each half in the same way, and the places are filled from the bottom up.

    Args:
        elements: Array of the queue, in the order of adding: equal elements do not move.
    """
    array = list(elements)
    downwards, upwards = _walks(len(array) - 1)
    while array:
        # The first poll moves the last element to the head; the polled element takes the last place.
        polled = [array[0]]
        array[0] = array[-1]
        polled += [array[place] for place in downwards]
        yield from polled
        for place, element in zip(upwards, polled, strict=False):
            array[place] = element
        array[-1] = polled[-1]


@lru_cache(maxsize=16)
def _walks(size: int) -> tuple[Sequence[int], Sequence[int]]:
    """Indices of a heap of ``size`` elements: parents before children, and children before parents; left first."""
    return _walk(size, 1), _walk(size, 2)[::-1]


def _walk(size: int, nearer: int) -> list[int]:
    places: list[int] = []
    waiting = [0]
    while waiting:
        place = waiting.pop()
        if place < size:
            places.append(place)
            # A stack: the last pushed child is visited next.
            waiting += (2 * place + 3 - nearer, 2 * place + nearer)
    return places


def add(heap: list[int], element: int, keys: Sequence[int]) -> None:
    """Put ``element`` into ``heap``; ``keys`` holds the key of every element."""
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


def poll(heap: list[int], keys: Sequence[int]) -> int:
    """Remove and return the element with the least key; ``heap`` must not be empty."""
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
