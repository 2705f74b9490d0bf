"""JDK generation: the only rule of hash tables that differs between JDKs of Kafka.

A collection copied into a new ``HashSet`` or ``HashMap`` gets a pre-computed size. Up to JDK 18 that doubled the table
for exactly 0.75 * 2**k elements (12, 24, 48, ...), which changes its iteration order.
"""

from __future__ import annotations

import enum

__all__ = ["DEFAULT_JDK", "JdkGeneration", "table_size_for"]

_MIN_SET_COPY = 16
_MIN_SET_COPY_ELEMENTS = 12


def table_size_for(capacity: int) -> int:
    """Smallest power of two from ``capacity``; 1 for 0 (``HashMap.tableSizeFor``)."""
    return 1 if capacity <= 1 else 1 << (capacity - 1).bit_length()


class JdkGeneration(enum.Enum):
    """Rule of the copy constructors."""

    #: Up to JDK 18: ``n / 0.75 + 1``, rounded down.
    JDK_17 = "17"
    #: From JDK 19 on: ``n / 0.75``, rounded up.
    JDK_19 = "19"

    def set_copy_capacity(self, size: int) -> int:
        """Slots of ``new HashSet(collection)``."""
        if self is JdkGeneration.JDK_17:
            return table_size_for(max(size * 4 // 3 + 1, _MIN_SET_COPY))
        return table_size_for(-(-max(size, _MIN_SET_COPY_ELEMENTS) * 4 // 3))

    def map_copy_capacity(self, size: int) -> int:
        """Slots of ``new HashMap(map)``; 16 if empty."""
        if size == 0:
            return 16
        if self is JdkGeneration.JDK_17:
            return table_size_for(size * 4 // 3 + 1)
        return table_size_for(-(-size * 4 // 3))


#: Of the golden answers.
DEFAULT_JDK = JdkGeneration.JDK_17
