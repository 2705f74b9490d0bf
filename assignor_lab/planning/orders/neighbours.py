"""Orders to begin a search with, and orders near another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from assignor_lab.planning.orders.aims import AT_ONCE, OrderAims
from assignor_lab.planning.orders.group import OrderedGroup
from assignor_lab.planning.orders.order import Conditions, Order, in_batches

__all__ = ["first_orders", "neighbours", "slow_together"]

#: Numbers of steps that a search begins with; larger ones grow by a half each.
_EACH_STEP = 8


def first_orders(group: OrderedGroup, conditions: Conditions, aims: OrderAims) -> Iterator[Order]:
    """Orders of balanced batches, for ever more steps."""
    names = group.names
    most = aims.most(AT_ONCE)
    steps = 1
    while steps <= len(names):
        batches = balanced(group, steps)
        largest = max(sum(group.loads[name] for name in batch) for batch in batches)
        if steps == len(names) or (largest <= most and all(conditions.allows(len(batch)) for batch in batches)):
            yield Order(batches, conditions)
        steps = steps + 1 if steps < _EACH_STEP else min(steps * 3 // 2, max(len(names), steps + 1))


def balanced(group: OrderedGroup, steps: int) -> tuple[tuple[str, ...], ...]:
    """Batches with as many tasks each as possible alike; instances that share copies are apart if possible."""
    batches: list[list[str]] = [[] for _ in range(steps)]
    loads, shared = group.loads, group.shared
    for name in sorted(group.names, key=lambda name: -loads[name]):
        place = min(
            range(steps),
            key=lambda each: (
                len(batches[each]) >= -(-len(group.names) // steps),
                sum(shared.get(frozenset((name, other)), 0) for other in batches[each]),
                sum(loads[other] for other in batches[each]),
                each,
            ),
        )
        batches[place].append(name)
    return in_batches(batch for batch in batches if batch)


def slow_together(
    group: OrderedGroup, conditions: Conditions, aims: OrderAims, floors: Sequence[Mapping[str, float]]
) -> Iterator[Order]:
    """Orders that restart slow instances together, since the slowest one decides the length of a step.

    A figure is a median of draws, so each of these orders is for most of them.

    Args:
        floors: Least seconds of each instance's step, in each draw.
    """
    most = min(aims.most(AT_ONCE), group.tasks)
    largest = conditions.surge or len(group.names)
    for draws in combinations(floors, len(floors) // 2 + 1):
        batches: list[list[str]] = [[]]
        load = 0.0
        for name in sorted(group.names, key=lambda name: -max(of[name] for of in draws)):
            load += group.loads[name]
            if batches[-1] and (load > most or len(batches[-1]) == largest):
                batches.append([])
                load = group.loads[name]
            batches[-1].append(name)
        yield Order(in_batches(batches), conditions)


def neighbours(group: OrderedGroup, order: Order, aims: OrderAims) -> Iterator[Order]:
    """Orders with two batches joined, two batches in the other place, or two instances exchanged."""
    batches = order.batches
    most = aims.most(AT_ONCE)
    pairs = [(after, before) for after in range(len(batches)) for before in range(after)]
    pairs.sort(key=lambda pair: sum(group.loads[name] for place in pair for name in batches[place]))
    for pair in pairs:
        joined = [name for place in pair for name in batches[place]]
        if sum(group.loads[name] for name in joined) <= most and order.conditions.allows(len(joined)):
            others = [batch for place, batch in enumerate(batches) if place not in pair]
            yield Order(in_batches([*others, joined]), order.conditions)
    for place, (one, other) in enumerate(pairwise(batches)):
        swapped = [*batches[:place], other, one, *batches[place + 2 :]]
        yield Order(in_batches(swapped), order.conditions)
        exchanged = [*batches[:place], (*one[1:], other[0]), (one[0], *other[1:]), *batches[place + 2 :]]
        yield Order(in_batches(exchanged), order.conditions)
