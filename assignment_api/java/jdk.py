"""JDK generation: the only rule of Java's hash tables that differs between the JDKs that run Kafka.

A collection that is copied into a new ``HashSet`` or ``HashMap`` gets a table of a pre-computed size. Up to JDK 18
that computation doubled the table for exactly 0.75 * 2**k elements (12, 24, 48, ...), and a table's size decides its
iteration order (Kafka: ``java.util.HashMap``).
"""

from __future__ import annotations

import enum

__all__ = ["DEFAULT_JDK", "JdkGeneration", "table_size_for"]

_MIN_SET_COPY = 16
_MIN_SET_COPY_ELEMENTS = 12


def table_size_for(capacity: int) -> int:
    """The smallest power of two that is not below ``capacity``; 1 for 0 (``HashMap.tableSizeFor``)."""
    return 1 if capacity <= 1 else 1 << (capacity - 1).bit_length()


class JdkGeneration(enum.Enum):
    """Rule of the copy constructors."""

    #: JDK 17 and 18 (and older ones): ``n / 0.75 + 1``, rounded down.
    JDK_17 = "17"
    #: JDK 19 and newer, 21 and 25 among them: ``n / 0.75``, rounded up.
    JDK_19 = "19"

    def set_copy_capacity(self, size: int) -> int:
        """Slots of ``new HashSet(collection)`` for a collection of ``size`` elements."""
        if self is JdkGeneration.JDK_17:
            return table_size_for(max(size * 4 // 3 + 1, _MIN_SET_COPY))
        return table_size_for(-(-max(size, _MIN_SET_COPY_ELEMENTS) * 4 // 3))

    def map_copy_capacity(self, size: int) -> int:
        """Slots of ``new HashMap(map)`` for a map of ``size`` entries; the default of 16 for an empty map."""
        if size == 0:
            return 16
        if self is JdkGeneration.JDK_17:
            return table_size_for(size * 4 // 3 + 1)
        return table_size_for(-(-size * 4 // 3))


#: Default generation: the golden answers come from JDK 17.
DEFAULT_JDK = JdkGeneration.JDK_17
