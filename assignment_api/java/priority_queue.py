"""``java.util.PriorityQueue`` with its exact heap array.

Kafka's answers depend on it: heap steps order equal elements, priorities change inside the heap, and the distribution
over threads reads the array (reference 1.4). ``heapq`` sifts differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

__all__ = ["JavaPriorityQueue", "sift_down", "sift_up"]

_T = TypeVar("_T")


def _natural_order(element: Any) -> Any:
    return element


class JavaPriorityQueue(Generic[_T]):
    """A binary min-heap with Java's steps.

    For unique, constant priorities ``heapq`` gives the same order faster.

    Args:
        elements: Turned into a heap at once (``new PriorityQueue(collection)``).
        key: Priority, computed at every comparison: it may change inside, and the queue is then as invalid as Java's.
    """

    __slots__ = ("_heap", "_key")

    def __init__(self, elements: Iterable[_T] = (), key: Callable[[_T], Any] = _natural_order) -> None:
        self._key = key
        self._heap = list(elements)
        for index in range(len(self._heap) // 2 - 1, -1, -1):
            sift_down(self._heap, index, self._heap[index], key)

    def __len__(self) -> int:
        return len(self._heap)

    def __contains__(self, element: object) -> bool:
        return element in self._heap

    def __iter__(self) -> Iterator[_T]:
        """Elements of the heap array, unsorted."""
        return iter(self._heap)

    def offer(self, element: _T) -> None:
        """Inserts ``element``. O(log n)."""
        self._heap.append(element)
        sift_up(self._heap, len(self._heap) - 1, element, self._key)

    def peek(self) -> _T | None:
        """The head, or ``None``."""
        return self._heap[0] if self._heap else None

    def poll(self) -> _T | None:
        """Removes and returns the head, or ``None``. O(log n)."""
        heap = self._heap
        if not heap:
            return None
        head = heap[0]
        last = heap.pop()
        if heap:
            sift_down(heap, 0, last, self._key)
        return head

    def remove(self, element: _T) -> bool:
        """Remove the first equal element in the array; True if there was one. O(n)."""
        heap = self._heap
        try:
            index = heap.index(element)
        except ValueError:
            return False
        moved = heap.pop()
        if index < len(heap):
            sift_down(heap, index, moved, self._key)
            if heap[index] is moved:
                sift_up(heap, index, moved, self._key)
        return True


def sift_up(heap: list[_T], index: int, element: _T, key: Callable[[_T], Any]) -> None:
    """Put ``element`` at ``index``, or above as its priority requires."""
    priority = key(element)
    while index > 0:
        parent = (index - 1) >> 1
        if priority >= key(heap[parent]):
            break
        heap[index] = heap[parent]
        index = parent
    heap[index] = element


def sift_down(heap: list[_T], index: int, element: _T, key: Callable[[_T], Any]) -> None:
    """Put ``element`` at ``index``, or below as its priority requires."""
    priority = key(element)
    size = len(heap)
    half = size >> 1
    while index < half:
        child = 2 * index + 1
        if child + 1 < size and key(heap[child]) > key(heap[child + 1]):
            child += 1
        if priority <= key(heap[child]):
            break
        heap[index] = heap[child]
        index = child
    heap[index] = element
