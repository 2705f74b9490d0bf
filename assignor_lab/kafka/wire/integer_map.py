"""The order of a ``HashMap<Integer, ...>`` filled by ``computeIfAbsent``.

Unlike ``put``, that method puts a new key at the *head* of its slot. A full table grows not after the last insertion,
but at the beginning of the next call, for any key.
"""

from __future__ import annotations

from collections.abc import Iterable

from assignment_api.java.hash_table import DEFAULT_CAPACITY
from assignment_api.java.hashing import spread

__all__ = ["order_of_computed_keys"]

#: From this size on, Java makes a tree of a slot instead of growing. Eight keys in one slot of a table of 64 are not
#: emulated, as no application has sub-topologies with such numbers.
_MIN_TREE_CAPACITY = 64
_MAX_CHAIN = 8


def order_of_computed_keys(keys: Iterable[int]) -> list[int]:
    """The keys in Java's iteration order after ``computeIfAbsent`` was called for each, repetitions included."""
    slots: list[list[int]] = [[] for _ in range(DEFAULT_CAPACITY)]
    known: set[int] = set()
    for key in keys:
        if 4 * len(known) > 3 * len(slots):
            slots = _grown(slots)
        if key in known:
            continue
        known.add(key)
        chain = slots[spread(key) & len(slots) - 1]
        chain.insert(0, key)
        if len(chain) >= _MAX_CHAIN and len(slots) < _MIN_TREE_CAPACITY:
            slots = _grown(slots)
    return [key for chain in slots for key in chain]


def _grown(slots: list[list[int]]) -> list[list[int]]:
    bit = len(slots)
    stay = [[key for key in chain if not spread(key) & bit] for chain in slots]
    move = [[key for key in chain if spread(key) & bit] for chain in slots]
    return stay + move
