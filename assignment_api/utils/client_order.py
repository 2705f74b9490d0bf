"""Iteration orders of Kafka's hash maps of clients."""

from __future__ import annotations

from collections.abc import Iterable

from assignment_api.java.hash_table import iteration_order
from assignment_api.java.hashing import uuid_hash
from assignment_api.streams.ids import ProcessID

__all__ = ["clients_in_map_order", "map_order"]


def map_order(processes: Iterable[ProcessID]) -> list[ProcessID]:
    """Order of a ``HashMap`` after these insertions."""
    listed = list(processes)
    hashes = [uuid_hash(process.most_significant_bits, process.least_significant_bits) for process in listed]
    return iteration_order(listed, hashes, sort_key=ProcessID.sort_key)


def clients_in_map_order(processes: Iterable[ProcessID]) -> list[ProcessID]:
    """Order of the clients for a public assignor.

    Its map is filled from the leader's map, in that map's order. If more than eight clients share a slot, its tree
    differs from the leader's.

    Args:
        processes: In the order of the leader's insertions, which is that of the input.
    """
    return map_order(map_order(processes))
