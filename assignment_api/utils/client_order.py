"""Iteration orders of Kafka's hash maps of clients."""

from __future__ import annotations

from collections.abc import Iterable

from assignment_api.java.hash_table import iteration_order
from assignment_api.java.hashing import uuid_hash
from assignment_api.streams.ids import ProcessID

__all__ = ["clients_in_map_order", "map_order"]


def map_order(processes: Iterable[ProcessID]) -> list[ProcessID]:
    """The order of a ``HashMap`` into which ``processes`` were put one after the other."""
    listed = list(processes)
    hashes = [uuid_hash(process.most_significant_bits, process.least_significant_bits) for process in listed]
    return iteration_order(listed, hashes, sort_key=ProcessID.sort_key)


def clients_in_map_order(processes: Iterable[ProcessID]) -> list[ProcessID]:
    """The order of the clients for a public assignor.

    Its map is filled from the leader's map of clients, in that map's order. Both have the same slots. But if more than
    eight clients share one, the second map has another tree than the first.

    Args:
        processes: The clients in the order of the input, which is that of the leader's insertions.
    """
    return map_order(map_order(processes))
