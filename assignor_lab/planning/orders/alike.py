"""Alike instances: they have equal settings and as many tasks, so that orders differ little by their names.

Each play draws starts, ends and heartbeats of an instance in the same way, whatever its name. Only ties between
members, which assignors break by ids, depend on names. So the search proves the best order in which alike instances
restart in their natural order. Twelve alike instances have 2,048 such orders, of 28,091,567,595.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import product

__all__ = ["batches_in_order"]


def batches_in_order(rest: Sequence[int], keys: Sequence[Hashable]) -> Iterator[tuple[int, ...]]:
    """Batches of further instances, of which alike ones restart in their order.

    Args:
        rest: Numbers of the instances, ascending.
        keys: Key of each instance of the group by its number; alike instances have the same.
    """
    alike: dict[Hashable, list[int]] = {}
    for number in rest:
        alike.setdefault(keys[number], []).append(number)
    for counts in product(*(range(len(each) + 1) for each in alike.values())):
        batch = [number for count, each in zip(counts, alike.values(), strict=True) for number in each[:count]]
        if batch:
            yield tuple(sorted(batch))
