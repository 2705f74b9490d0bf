"""``java.util.HashMap`` with its exact iteration order: growth, tree bins, both ways of removal.

Kafka's sticky assignors break ties in the order of hash maps, so that order is part of their answers.
:class:`JavaHashTable` repeats every step of Java's map. :func:`iteration_order` returns the order of keys that were
inserted one by one. It does not build the table, unless one slot collects more than eight keys.

A chain is a Python list, so one operation costs its slot's length; tables of Kafka's ids have short chains.
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
#: Most keys of a slot before it becomes a tree, or the table grows.
MAX_CHAIN = 8

_MIN_TREE_CAPACITY = 64
_UNTREEIFY = 6

_MASK_16 = 0xFFFF
_K = TypeVar("_K")
_V = TypeVar("_V")


def _natural_order(key: Any) -> Any:
    return key


class JavaHashTable(Generic[_K, _V]):
    """A ``HashMap``, or a ``HashSet`` if only keys matter.

    Args:
        hash_of: Java's hash code of a key (signed or unsigned 32 bits).
        sort_key: Key that sorts like the keys' ``compareTo``; used only for equal hash codes in a tree bin.
        initial_capacity: As given to Java's constructor; rounded up to a power of two.
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
        """``new HashSet(keys)``, filled in the order of ``keys``."""
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
        """The keys in Java's order; the table must not change during the iteration."""
        for chain in self._slots:
            if chain is not None:
                for node in chain.nodes:
                    yield node.key

    def items(self) -> Iterator[tuple[_K, _V]]:
        """Keys and values in Java's order; the table must not change during the iteration."""
        for chain in self._slots:
            if chain is not None:
                for node in chain.nodes:
                    yield node.key, node.value

    def __getitem__(self, key: _K) -> _V:
        return self._nodes[key].value

    def put(self, key: _K, value: _V) -> None:
        """Insert ``key``; an existing key keeps its place and gets the new value."""
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
        """``computeIfAbsent``: unlike ``put``, inserts ``key`` at the head of its slot, and grows one call later.

        A table that its last new key filled grows at the next call, even if that call finds its key. A slot becomes a
        tree with its eighth key, not with its ninth.
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
        """Remove ``key`` through the map or set (``remove(key)``); returns whether it was present."""
        return self._unlink(key, through_map=True)

    def remove_through_iterator(self, key: _K) -> bool:
        """Remove ``key`` as an iterator at it does: a tree bin neither shrinks to a chain nor reorders."""
        return self._unlink(key, through_map=False)

    def remove_all(self, keys: Iterable[_K], size: int) -> None:
        """``AbstractSet.removeAll(collection)``: by key if this set is larger, otherwise through its own iterator.

        Args:
            keys: The keys in the iteration order of the collection.
            size: Number of elements of the collection.
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
    """The order in which a hash table yields ``keys`` after they were inserted one by one.

    While no slot ever holds more than eight keys, each slot keeps the order of insertion through every growth. The
    answer is then a stable sort by slot. Every size that the table passed through is checked.

    Args:
        keys: Distinct keys in insertion order.
        hashes: Java's hash code of each key.
        initial_capacity: As given to Java's constructor.
        sort_key: As for :class:`JavaHashTable`.

    Returns:
        The keys in Java's iteration order. O(n log n).
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
    """As :func:`iteration_order`, for callers with hash codes after :func:`spread`.

    Args:
        spreads: Spread hash codes, in insertion order of the keys.
        initial_capacity: As given to Java's constructor.
        sort_key: Key that sorts positions like the keys there.

    Returns:
        The positions of the keys in Java's iteration order.
    """
    positions = range(len(spreads))
    if not _stay_plain(spreads, initial_capacity):
        # A second spread returns the hash code.
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
    """The order in which ``new HashSet(keys)`` yields ``keys``; arguments as for :func:`iteration_order`."""
    return iteration_order(keys, hashes, jdk.set_copy_capacity(len(keys)), sort_key)


def iteration_order_in_set_copy(
    keys: Sequence[_K],
    wanted: Collection[_K],
    hash_of: Callable[[_K], int],
    jdk: JdkGeneration = DEFAULT_JDK,
    sort_key: Callable[[_K], Any] = _natural_order,
) -> list[_K]:
    """The order in which ``new HashSet(keys)`` yields the wanted keys.

    A few of many keys cost no more than themselves: if each has a slot of its own, the other keys do not matter.

    Args:
        keys: Distinct keys in insertion order.
        wanted: Some of them.
        hash_of: Java's hash code of a key.
        sort_key: As for :class:`JavaHashTable`.
    """
    if len(wanted) <= 1:
        return list(wanted)
    capacity = grown_capacity(len(keys), jdk.set_copy_capacity(len(keys)))
    # A smaller table grows, too, when one slot holds more than eight keys.
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
    """The order of a map's keys that only ``computeIfAbsent`` inserted.

    While no slot ever holds eight keys, each slot has its newest key first.

    Args:
        calls: Number of the key of each call; keys are numbered from 0 in the order of their first call.
        spreads: Hash code of each key after :func:`spread`.
        initial_capacity: As given to Java's constructor.
        sort_key: As for :class:`JavaHashTable`.

    Returns:
        The keys in Java's iteration order. O(n log n).
    """
    keys = range(len(spreads))
    capacity = table_size_for(initial_capacity)
    # All keys in the first table: in a larger one, each slot has a part of the keys of one slot here.
    if _overfull(spreads, capacity, MAX_CHAIN - 1):
        table: JavaHashTable[int, None] = JavaHashTable(lambda key: spread(spreads[key]), sort_key, initial_capacity)
        for key in calls:
            table.compute_if_absent(key, None)
        return list(table)
    # The key of the last call makes no table grow any more.
    last = len(spreads) - 1
    noticed = last if calls and calls.index(last) == len(calls) - 1 else len(spreads)
    mask = grown_capacity(noticed, capacity) - 1
    slots = [code & mask for code in reversed(spreads)]
    newest_first = keys[::-1]
    return [newest_first[place] for place in sorted(keys, key=slots.__getitem__)]


def grown_capacity(size: int, initial_capacity: int = DEFAULT_CAPACITY) -> int:
    """Slots of a table after ``size`` insertions, without an early growth by a crowded slot."""
    capacity = table_size_for(initial_capacity)
    while 4 * size > 3 * capacity:
        capacity *= 2
    return capacity


def stays_plain(hashes: Sequence[int], initial_capacity: int = DEFAULT_CAPACITY) -> bool:
    """True if no slot ever holds more than eight keys while keys of these hash codes are inserted in this order.

    Then each slot keeps insertion order through every growth, even with removals.
    """
    return _stay_plain(_spreads(hashes), initial_capacity)


def _spreads(hashes: Sequence[int]) -> Sequence[int]:
    # Written inline: a table of a group's ids costs thousands of calls otherwise. Small codes have no upper half.
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
        # The keys of the next table in this one: in neither table a slot has more keys than here. This saves half of
        # the checks while no slot is crowded.
        following = min(2 * capacity, last)
        if _overfull(_while_at(following, spreads), capacity) and (
            _overfull(_while_at(capacity, spreads), capacity) or _overfull(_while_at(following, spreads), following)
        ):
            return False
        capacity = 2 * following if following > capacity else 2 * capacity
    return True


def _while_at(capacity: int, spreads: Sequence[int]) -> Sequence[int]:
    """The keys that a growing table receives up to ``capacity`` slots."""
    # The key that triggers the growth still goes into the smaller table.
    return spreads[: 3 * capacity // 4 + 1]


def fits_plain(hashes: Sequence[int], capacity: int) -> bool:
    """True if a table of ``capacity`` slots (a power of two) would hold at most eight of these keys in any slot."""
    return not _overfull(_spreads(hashes), capacity)


def _overfull(spreads: Sequence[int], capacity: int, most: int = MAX_CHAIN) -> bool:
    if len(spreads) <= most:
        return False
    mask = capacity - 1
    slots = [code & mask for code in spreads]
    slots.sort()
    return any(map(eq, slots, slots[most:]))
