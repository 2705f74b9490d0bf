"""``java.util.HashMap`` with its exact iteration order, by which Kafka's sticky assignors break ties.

:class:`JavaHashTable` repeats every step of Java's map. :func:`iteration_order` builds a table only if a slot collects
more than eight keys. A chain is a Python list: an operation costs its slot's length.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import eq
from typing import Any, Generic, TypeVar

from assignment_api.java.hashing import spread
from assignment_api.java.jdk import DEFAULT_JDK, JdkGeneration, table_size_for
from assignment_api.java.tree_bin import TreeBin, TreeNode

__all__ = [
    "DEFAULT_CAPACITY",
    "MAX_CHAIN",
    "JavaHashTable",
    "fits_plain",
    "grown_capacity",
    "iteration_order",
    "iteration_order_in_set_copy",
    "iteration_order_of_computed",
    "iteration_order_of_set_copy",
    "iteration_order_of_spreads",
    "stays_plain",
]

DEFAULT_CAPACITY = 16
#: Above it a slot becomes a tree, or the table grows.
MAX_CHAIN = 8

_MIN_TREE_CAPACITY = 64
_UNTREEIFY = 6

_MASK_16 = 0xFFFF
_K = TypeVar("_K")
_V = TypeVar("_V")


def _natural_order(key: Any) -> Any:
    return key


class JavaHashTable(Generic[_K, _V]):
    """A ``HashMap``, or a ``HashSet`` of its keys.

    Args:
        hash_of: Java's hash code, signed or unsigned 32 bits.
        sort_key: As the keys' ``compareTo``; for equal hash codes in a tree bin.
        initial_capacity: As for Java's constructor; rounded up to a power of two.
    """

    __slots__ = ("_hash_of", "_nodes", "_slots", "_sort_key")

    def __init__(
        self,
        hash_of: Callable[[_K], int],
        sort_key: Callable[[_K], Any] = _natural_order,
        initial_capacity: int = DEFAULT_CAPACITY,
    ) -> None:
        self._hash_of = hash_of
        self._sort_key = sort_key
        self._nodes: dict[_K, TreeNode[_K, _V]] = {}
        self._slots: list[TreeBin[_K, _V] | None] = [None] * table_size_for(initial_capacity)

    @classmethod
    def set_copy(
        cls,
        keys: Iterable[_K],
        hash_of: Callable[[_K], int],
        sort_key: Callable[[_K], Any] = _natural_order,
        jdk: JdkGeneration = DEFAULT_JDK,
    ) -> JavaHashTable[_K, None]:
        """``new HashSet(keys)``."""
        listed = list(keys)
        copy: JavaHashTable[_K, None] = JavaHashTable(hash_of, sort_key, jdk.set_copy_capacity(len(listed)))
        for key in listed:
            copy.put(key, None)
        return copy

    @property
    def capacity(self) -> int:
        """Number of slots."""
        return len(self._slots)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, key: object) -> bool:
        return key in self._nodes

    def __iter__(self) -> Iterator[_K]:
        """Keys in Java's order; do not change the table meanwhile."""
        for chain in self._slots:
            if chain is not None:
                for node in chain.nodes:
                    yield node.key

    def items(self) -> Iterator[tuple[_K, _V]]:
        """In Java's order; do not change the table meanwhile."""
        for chain in self._slots:
            if chain is not None:
                for node in chain.nodes:
                    yield node.key, node.value

    def __getitem__(self, key: _K) -> _V:
        return self._nodes[key].value

    def put(self, key: _K, value: _V) -> None:
        """Insert; an existing key keeps its place."""
        known = self._nodes.get(key)
        if known is not None:
            known.value = value
            return
        node: TreeNode[_K, _V] = TreeNode(key, value, spread(self._hash_of(key)), self._sort_key)
        self._nodes[key] = node
        index = node.hash & len(self._slots) - 1
        chain = self._slots[index]
        if chain is None:
            self._slots[index] = TreeBin([node])
        elif chain.root is not None:
            chain.insert(node)
        else:
            chain.nodes.append(node)
            if len(chain.nodes) > MAX_CHAIN:
                if len(self._slots) < _MIN_TREE_CAPACITY:
                    self._grow()
                else:
                    chain.treeify()
        if 4 * len(self._nodes) > 3 * len(self._slots):
            self._grow()

    def compute_if_absent(self, key: _K, value: _V) -> None:
        """``computeIfAbsent``: inserts at the head of the slot.

        A full table grows one call later than by ``put``, even if that call finds its key. A slot becomes a tree with
        its eighth key, not its ninth.
        """
        if 4 * len(self._nodes) > 3 * len(self._slots):
            self._grow()
        if key in self._nodes:
            return
        node: TreeNode[_K, _V] = TreeNode(key, value, spread(self._hash_of(key)), self._sort_key)
        self._nodes[key] = node
        index = node.hash & len(self._slots) - 1
        chain = self._slots[index]
        if chain is None:
            self._slots[index] = TreeBin([node])
        elif chain.root is not None:
            chain.insert(node)
        else:
            chain.nodes.insert(0, node)
            if len(chain.nodes) >= MAX_CHAIN:
                if len(self._slots) < _MIN_TREE_CAPACITY:
                    self._grow()
                else:
                    chain.treeify()

    def remove(self, key: _K) -> bool:
        """Remove through the map or set; True if it was present."""
        return self._unlink(key, through_map=True)

    def remove_through_iterator(self, key: _K) -> bool:
        """Remove as an iterator does: a tree bin neither shrinks to a chain nor reorders."""
        return self._unlink(key, through_map=False)

    def remove_all(self, keys: Iterable[_K], size: int) -> None:
        """``AbstractSet.removeAll``: by key if this set is larger, otherwise by its own iterator.

        Args:
            keys: In the collection's iteration order.
            size: Of the collection.
        """
        if len(self) > size:
            for key in keys:
                self.remove(key)
            return
        wanted = set(keys)
        for key in [key for key in self if key in wanted]:
            self.remove_through_iterator(key)

    def _unlink(self, key: _K, *, through_map: bool) -> bool:
        node = self._nodes.pop(key, None)
        if node is None:
            return False
        index = node.hash & len(self._slots) - 1
        chain = self._slots[index]
        assert chain is not None
        if chain.root is None:
            chain.nodes.remove(node)
        else:
            chain.remove(node, through_map=through_map)
        if not chain.nodes:
            self._slots[index] = None
        return True

    def _grow(self) -> None:
        old = self._slots
        bit = len(old)
        self._slots = [None] * (2 * bit)
        for index, chain in enumerate(old):
            if chain is None:
                continue
            stay = [node for node in chain.nodes if not node.hash & bit]
            move = [node for node in chain.nodes if node.hash & bit]
            self._slots[index] = self._half(chain, stay, move)
            self._slots[index + bit] = self._half(chain, move, stay)

    def _half(
        self, chain: TreeBin[_K, _V], half: list[TreeNode[_K, _V]], other: list[TreeNode[_K, _V]]
    ) -> TreeBin[_K, _V] | None:
        if not half:
            return None
        if chain.root is None or len(half) <= _UNTREEIFY:
            return TreeBin(half)
        if not other:
            return chain  # Java keeps an unchanged tree
        split = TreeBin(half)
        split.treeify()
        return split


def iteration_order(
    keys: Sequence[_K],
    hashes: Sequence[int],
    initial_capacity: int = DEFAULT_CAPACITY,
    sort_key: Callable[[_K], Any] = _natural_order,
) -> list[_K]:
    """Java's iteration order after insertion of ``keys`` one by one. O(n log n).

    While no slot ever holds more than eight keys, each keeps insertion order: a stable sort by slot. Every passed size
    is checked.

    Args:
        keys: Distinct, in insertion order.
        hashes: Java's hash code of each key.
    """
    positions = iteration_order_of_spreads(
        _spreads(hashes), initial_capacity, lambda position: sort_key(keys[position])
    )
    return [keys[position] for position in positions]


def iteration_order_of_spreads(
    spreads: Sequence[int],
    initial_capacity: int = DEFAULT_CAPACITY,
    sort_key: Callable[[int], Any] = _natural_order,
) -> list[int]:
    """As :func:`iteration_order`, for hash codes after :func:`spread`; returns positions.

    Args:
        sort_key: Key of a position that sorts like its key.
    """
    positions = range(len(spreads))
    if not _stay_plain(spreads, initial_capacity):
        # A second spread restores the hash code.
        table: JavaHashTable[int, None] = JavaHashTable(
            lambda position: spread(spreads[position]), sort_key, initial_capacity
        )
        for position in positions:
            table.put(position, None)
        return list(table)
    mask = grown_capacity(len(spreads), initial_capacity) - 1
    slots = [code & mask for code in spreads]
    return sorted(positions, key=slots.__getitem__)


def iteration_order_of_set_copy(
    keys: Sequence[_K],
    hashes: Sequence[int],
    jdk: JdkGeneration = DEFAULT_JDK,
    sort_key: Callable[[_K], Any] = _natural_order,
) -> list[_K]:
    """Iteration order of ``new HashSet(keys)``; arguments as for :func:`iteration_order`."""
    return iteration_order(keys, hashes, jdk.set_copy_capacity(len(keys)), sort_key)


def iteration_order_in_set_copy(
    keys: Sequence[_K],
    wanted: Collection[_K],
    hash_of: Callable[[_K], int],
    jdk: JdkGeneration = DEFAULT_JDK,
    sort_key: Callable[[_K], Any] = _natural_order,
) -> list[_K]:
    """Iteration order of the ``wanted`` keys in ``new HashSet(keys)``.

    If each wanted key has a slot of its own, the others cost nothing.

    Args:
        keys: Distinct, in insertion order.
    """
    if len(wanted) <= 1:
        return list(wanted)
    capacity = grown_capacity(len(keys), jdk.set_copy_capacity(len(keys)))
    # A smaller table grows when a slot is crowded.
    if capacity >= _MIN_TREE_CAPACITY:
        slots = {key: spread(hash_of(key)) & capacity - 1 for key in wanted}
        if len(set(slots.values())) == len(slots):
            return sorted(slots, key=slots.__getitem__)
    ordered = iteration_order_of_set_copy(keys, list(map(hash_of, keys)), jdk, sort_key)
    return [key for key in ordered if key in wanted]


def iteration_order_of_computed(
    calls: Sequence[int],
    spreads: Sequence[int],
    initial_capacity: int = DEFAULT_CAPACITY,
    sort_key: Callable[[int], Any] = _natural_order,
) -> list[int]:
    """Iteration order of a map that only ``computeIfAbsent`` filled. O(n log n).

    While no slot ever holds eight keys, each has its newest key first.

    Args:
        calls: Key of each call, numbered from 0 by first call.
        spreads: Hash code of each key after :func:`spread`.
    """
    keys = range(len(spreads))
    capacity = table_size_for(initial_capacity)
    # Check the first table: larger ones split its slots.
    if _overfull(spreads, capacity, MAX_CHAIN - 1):
        table: JavaHashTable[int, None] = JavaHashTable(lambda key: spread(spreads[key]), sort_key, initial_capacity)
        for key in calls:
            table.compute_if_absent(key, None)
        return list(table)
    # The last call's key grows no table.
    last = len(spreads) - 1
    noticed = last if calls and calls.index(last) == len(calls) - 1 else len(spreads)
    mask = grown_capacity(noticed, capacity) - 1
    slots = [code & mask for code in reversed(spreads)]
    newest_first = keys[::-1]
    return [newest_first[place] for place in sorted(keys, key=slots.__getitem__)]


def grown_capacity(size: int, initial_capacity: int = DEFAULT_CAPACITY) -> int:
    """Slots after ``size`` insertions, without growth by a crowded slot."""
    capacity = table_size_for(initial_capacity)
    while 4 * size > 3 * capacity:
        capacity *= 2
    return capacity


def stays_plain(hashes: Sequence[int], initial_capacity: int = DEFAULT_CAPACITY) -> bool:
    """True if no slot ever holds more than eight keys during these insertions.

    Then slots keep insertion order through every growth, even with removals.
    """
    return _stay_plain(_spreads(hashes), initial_capacity)


def _spreads(hashes: Sequence[int]) -> Sequence[int]:
    # Inline: saves thousands of calls.
    if not hashes or (min(hashes) >= 0 and max(hashes) <= _MASK_16):
        return hashes
    return [(code & 0xFFFF_FFFF) ^ (code & 0xFFFF_FFFF) >> 16 for code in hashes]


def _stay_plain(spreads: Sequence[int], initial_capacity: int) -> bool:
    size = len(spreads)
    if size <= MAX_CHAIN:
        return True
    capacity = table_size_for(initial_capacity)
    last = grown_capacity(size, capacity)
    while capacity <= last:
        # No slot of the next table is fuller: this saves half of the checks.
        following = min(2 * capacity, last)
        if _overfull(_while_at(following, spreads), capacity) and (
            _overfull(_while_at(capacity, spreads), capacity) or _overfull(_while_at(following, spreads), following)
        ):
            return False
        capacity = 2 * following if following > capacity else 2 * capacity
    return True


def _while_at(capacity: int, spreads: Sequence[int]) -> Sequence[int]:
    # The key that triggers growth still goes into the smaller table.
    return spreads[: 3 * capacity // 4 + 1]


def fits_plain(hashes: Sequence[int], capacity: int) -> bool:
    """True if no slot of ``capacity`` (a power of two) gets more than eight keys."""
    return not _overfull(_spreads(hashes), capacity)


def _overfull(spreads: Sequence[int], capacity: int, most: int = MAX_CHAIN) -> bool:
    if len(spreads) <= most:
        return False
    mask = capacity - 1
    slots = [code & mask for code in spreads]
    slots.sort()
    return any(map(eq, slots, slots[most:]))
