"""Orders that grow batch by batch from their quickest beginnings.

Where the moves of one step last into the next one, the limits on tasks away decide how large a batch may be, and only
plays of the steps before show it. Of each length, the beginnings that restart their instances quickest within the
limits go on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from assignor_lab.planning.orders.aims import OrderAims
from assignor_lab.planning.orders.group import OrderedGroup
from assignor_lab.planning.orders.order import Conditions, Order, in_batches
from assignor_lab.planning.orders.played import PlayedOrder

__all__ = ["grown_orders"]

#: Beginnings of one length that go on.
_KEPT = 6


def grown_orders(
    group: OrderedGroup,
    conditions: Conditions,
    aims: OrderAims,
    play: Callable[[Sequence[Order]], Sequence[PlayedOrder | None]],
) -> Iterator[PlayedOrder]:
    """Complete orders, as they are found.

    Args:
        play: Plays beginnings; ``None`` of one that is worse than the best order.
    """
    kept: list[tuple[tuple[str, ...], ...]] = [()]
    while kept:
        orders = [Order(batches, conditions) for begun in kept for batches in _longer(group, conditions, begun)]
        found = [each for each in play(list(dict.fromkeys(orders))) if each is not None]
        yield from (each for each in found if _restarted(each) == len(group.names))
        going_on = [each for each in found if _restarted(each) < len(group.names) and _keeps_limits(each, aims)]
        going_on.sort(key=lambda each: (each.certain[aims.minimize] / _restarted(each), each.order.batches))
        kept = [each.order.batches for each in going_on[:_KEPT]]


def _restarted(played: PlayedOrder) -> int:
    return sum(map(len, played.order.batches))


def _keeps_limits(played: PlayedOrder, aims: OrderAims) -> bool:
    return all(played.certain[limit.figure] <= limit.most for limit in aims.limits)


def _longer(
    group: OrderedGroup, conditions: Conditions, begun: tuple[tuple[str, ...], ...]
) -> Iterator[tuple[tuple[str, ...], ...]]:
    """A beginning with one more batch, about as large as the one before."""
    gone = {name for batch in begun for name in batch}
    rest = [name for name in group.names if name not in gone]
    last = len(begun[-1]) if begun else 0
    sizes = range(max(1, last - 1), min(len(rest), last + 2) + 1) if begun else range(1, len(rest) // 2 + 1)
    for size in sizes:
        if conditions.allows(size):
            for batch in dict.fromkeys(_batches(group, rest, size)):
                yield (*begun, batch)
    if begun and len(rest) <= 2 * last and len(rest) not in sizes and conditions.allows(len(rest)):
        yield (*begun, tuple(rest))


def _batches(group: OrderedGroup, rest: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """The first instances, those that share the fewest copies, and two drawn batches."""
    drawn = random.Random(f"{size} {rest}")  # noqa: S311 - a search, not a secret
    apart = [rest[0]]
    while len(apart) < size:
        others = [name for name in rest if name not in apart]
        apart.append(min(others, key=lambda name: sum(group.shared.get(frozenset((name, of)), 0) for of in apart)))
    yield from in_batches((rest[:size], apart, drawn.sample(rest, size), drawn.sample(rest, size)))
