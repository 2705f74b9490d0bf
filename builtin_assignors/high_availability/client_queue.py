"""Kafka's ``ConstrainedPrioritySet`` as the task movements use it.

It is a heap of all clients by (tasks per thread, client). A poll requests its first *eligible* client. Loads change
while clients are in the heap, so the heap can be out of order for a moment, and then Kafka's answer depends on the
heap's array. Running that heap costs a pop for every ineligible client. So it runs only if it can matter:

* With at most one eligible client the heap does not decide anything.
* While the heap is in order, its first eligible client is the least (load, client) of them.
* The heap gets out of order only in one case: a client's load falls while it is inside, and the client that is put back
  next lands between its old and its new place. From then on a choice between several clients needs the array. It is
  rebuilt from a journal of the events since the array was last known.

A poll without a result takes all clients out and puts them back, after which the heap is in order again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assignment_api.java.priority_queue import JavaPriorityQueue
from assignment_api.utils.standby import load_without_threads

__all__ = ["ClientQueue", "HashOrder"]

#: Clients in insertion order to the iteration order of Kafka's hash set of them.
HashOrder = Callable[[Sequence[int]], Sequence[int]]

_OFFER, _POLL, _POLL_NOBODY, _COUNT = range(4)


class ClientQueue:
    """The clients by load; every client is inside whenever :meth:`poll` is called.

    Args:
        hash_order: Iteration order of a hash set of clients.
    """

    __slots__ = (
        "_base",
        "_base_order",
        "_counts",
        "_hash_order",
        "_heap",
        "_journal",
        "_loads",
        "_threads",
        "_trusted",
    )

    def __init__(self, counts: Sequence[int], capacities: Sequence[int], hash_order: HashOrder) -> None:
        self._counts = list(counts)
        self._threads = capacities
        self._hash_order = hash_order
        self._loads = [
            count / capacity if capacity else load_without_threads(count)
            for count, capacity in zip(counts, capacities, strict=True)
        ]
        # False if the heap may be out of order; then a choice among several clients needs the array.
        self._trusted = True
        # Kafka's array, if it had to be rebuilt.
        self._heap: JavaPriorityQueue[int] | None = None
        # Otherwise: the loads when the array was last known, how it was filled, and the events since.
        self._base = self._loads.copy()
        self._base_order: Sequence[int] | None = range(len(self._loads))
        self._journal: list[tuple[int, int, float]] = []

    def poll(self, eligible: Sequence[int]) -> int | None:
        """Take out the first client of ``eligible``; all others stay."""
        if self._heap is None and (self._trusted or len(eligible) < 2):
            return self._poll_without_array(eligible)
        return self._poll_array(eligible)

    def replace(self, source: int, destination: int, *, gained: int, lost: int, polled: bool) -> None:
        """Change two loads and put both clients (back) in: the source first, as Kafka does.

        Args:
            source: The client that took over; outside the queue if it was ``polled``.
            destination: The client that handed over; always inside.
            gained: Tasks that the source has more, 0 or 1.
            lost: Tasks that the destination has fewer, 0 or 1.
            polled: Whether the source came from :meth:`poll`.
        """
        if lost:
            before = self._loads[destination], destination
            self._change(destination, -lost)
            if gained:
                self._change(source, gained)
            after = self._loads[destination], destination
            if not polled or after <= (self._loads[source], source) < before:
                self._trusted = False
        elif gained:
            self._change(source, gained)
        for client in (source, destination):
            if self._heap is None:
                self._journal.append((_OFFER, client, 0.0))
            else:
                self._heap.remove(client)
                self._heap.offer(client)

    def _change(self, client: int, difference: int) -> None:
        count = self._counts[client] = self._counts[client] + difference
        capacity = self._threads[client]
        self._loads[client] = count / capacity if capacity else load_without_threads(count)
        if self._heap is None:
            self._journal.append((_COUNT, client, self._loads[client]))

    def _poll_without_array(self, eligible: Sequence[int]) -> int | None:
        if not eligible:
            if self._trusted:
                # All clients came out in order and went back in hash order: the array is known again.
                self._base = self._loads.copy()
                self._base_order = None
                self._journal.clear()
            else:
                self._journal.append((_POLL_NOBODY, -1, 0.0))
                self._trusted = True
            return None
        client = eligible[0]
        if len(eligible) > 1:
            loads = self._loads
            client = min(eligible, key=lambda candidate: (loads[candidate], candidate))
        self._journal.append((_POLL, client, 0.0))
        return client

    def _poll_array(self, eligible: Sequence[int]) -> int | None:
        if self._heap is None:
            self._heap = self._rebuilt()
        client = _poll(self._heap, set(eligible), self._hash_order)
        if client is None:
            # The heap is in order again, so its steps can be skipped: clients offered one by one come out the same.
            self._base = self._loads.copy()
            self._base_order = list(self._heap)
            self._journal.clear()
            self._heap = None
            self._trusted = True
        return client

    def _rebuilt(self) -> JavaPriorityQueue[int]:
        """Kafka's present array, rebuilt from the last known one and the journal."""
        loads = self._base
        heap: JavaPriorityQueue[int] = JavaPriorityQueue(key=lambda client: (loads[client], client))
        order = self._base_order
        if order is None:
            order = self._hash_order(sorted(range(len(loads)), key=lambda client: (loads[client], client)))
        for client in order:
            heap.offer(client)
        for change, client, load in self._journal:
            if change == _COUNT:
                loads[client] = load
            elif change == _OFFER:
                heap.remove(client)
                heap.offer(client)
            else:
                _poll(heap, {client} if change == _POLL else set(), self._hash_order)
        self._loads = loads
        self._journal.clear()
        return heap


def _poll(heap: JavaPriorityQueue[int], eligible: set[int], hash_order: HashOrder) -> int | None:
    skipped: list[int] = []
    found: int | None = None
    while (client := heap.poll()) is not None:
        if client in eligible:
            found = client
            break
        skipped.append(client)
    for client in hash_order(skipped):
        heap.offer(client)
    return found
