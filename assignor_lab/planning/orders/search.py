"""The search of the best order: branch and bound over beginnings of orders, each played with the same draws.

A beginning is a list of batches. Its play is the same in each order that begins with it, so the play's duration, and
what its tasks have lost by then, are lower bounds of those orders. The rest adds at least the floors of its steps
(:mod:`assignor_lab.planning.orders.bounds`). The search expands the beginning with the least bound. It has proved its
best order when no bound is less by more than the tolerance. A beginning is dropped when most of its draws are worse
than the best order, whatever the other draws are.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from math import inf

import attrs

from assignor_lab.planning.orders.aims import AT_ONCE, WORST, OrderAims
from assignor_lab.planning.orders.alike import batches_in_order
from assignor_lab.planning.orders.beginnings import grown_orders
from assignor_lab.planning.orders.bounds import OrderBounds, joined
from assignor_lab.planning.orders.figures import FIGURES, OrderTrial, medians
from assignor_lab.planning.orders.group import MOST_EXACT, OrderedGroup
from assignor_lab.planning.orders.neighbours import first_orders, neighbours, slow_together
from assignor_lab.planning.orders.order import Conditions, Order
from assignor_lab.planning.orders.played import PlayedOrder
from assignor_lab.planning.orders.searching import OrderSearch, PlayedOrders

__all__ = ["FoundOrder", "PlayedOrder", "OrderSearch", "search"]

#: Fewest steps of one by one that are played in a group that is too large for all.
_FIRST_STEPS = 4
#: Beginnings that are played together; the results do not depend on the processes. And neighbours.
_WAVE, _TRIED = 32, 8
#: Shares of the plays: for orders of alike instances, for orders that grow from their beginnings, and until the end of
#: the bound. If it does not prove the best order, the other plays look for better ones near it.
_FOR_ALIKE, _FOR_GROWING, _FOR_BOUND = 0.75, 0.25, 0.75
#: A first order whose figure exceeds the bound by this share is far from it.
_FAR = 0.1
#: Figures that decide between equal orders.
_TIES = ("duration_seconds", "worst_task_seconds", "task_seconds", "tasks_at_once", "rebalances")


@attrs.frozen
class FoundOrder:
    """What a search found.

    Args:
        best: The best allowed order; ``None``: none is allowed.
        nearest: The order that exceeds the limits least.
        one_by_one: One instance after the other, in natural order.
        orders: All played orders, best first; those that are not allowed come last.
        bound: No order has a smaller figure than this.
        is_proved: No order is better by more than the tolerance, or, without ``best``, none is allowed.
        keeps_owners: The bounds take the instances to get their numbers of tasks back in each step, as in all plays.
        is_estimated: ``one_by_one`` is estimated from its first steps.
        plays: Number of plays.
        shares: The bounds rest on steps of instances alone: the least share of such a step, and of a batch's tasks
            that were away together, in all plays; ``None``: they do not.
        alike_bound: No order has a smaller figure, if alike instances restart in their natural order; ``None``: there
            are none, this is not proved, or ``is_proved`` has all orders.
    """

    aims: OrderAims
    best: PlayedOrder | None
    nearest: PlayedOrder
    one_by_one: PlayedOrder
    orders: tuple[PlayedOrder, ...]
    bound: float
    is_proved: bool
    keeps_owners: bool
    plays: int
    is_estimated: bool = False
    shares: tuple[float, float] | None = None
    alike_bound: float | None = None


@attrs.frozen(order=True)
class _Node:
    """A beginning that is yet to be played."""

    bound: float
    steps: int
    batches: tuple[tuple[int, ...], ...]
    place: int


def search(
    group: OrderedGroup,
    conditions: Sequence[Conditions],
    aims: OrderAims,
    how: OrderSearch,
    on_play: Callable[[], None] = lambda: None,
) -> FoundOrder:
    """The best order of a group.

    Args:
        conditions: The conditions to choose from, the present ones first.
        aims: Figures without a limit get the usual one.
    """
    searching = PlayedOrders(group, conditions, how, on_play)
    names = group.names
    single = Order(tuple((name,) for name in names), conditions[0])
    is_estimated, is_exact = len(names) > group.most_one_by_one, len(names) <= MOST_EXACT
    first = attrs.evolve(single, batches=_first_steps(searching)) if is_estimated else single
    (one_by_one,) = searching.played([first])
    if is_estimated:
        one_by_one = _extended(searching, single, one_by_one)
    aims = aims.with_usual(one_by_one.figures, group.tasks)
    searching.bounds = bounds = OrderBounds(group, conditions, aims, searching.floors)
    bounds.keeps_owners = searching.keeps_owners
    if is_exact and all(not of.away_seconds for each in searching.floors for of in each):
        searching.learn_alone(bounds)
    for place in sorted(range(len(conditions)), key=bounds.of_conditions):
        best = _best(searching, aims)
        if best is not None and bounds.of_conditions(place) >= best.figures[aims.minimize] * (1 - how.tolerance):
            continue
        for order in first_orders(group, conditions[place], aims):
            searching.played([order])
            if not is_exact and aims.allows(searching.known[order].figures):
                break
        if not is_exact:
            slowness = [floors.usual_seconds for floors in searching.floors[place]]
            searching.played(list(slow_together(group, conditions[place], aims, slowness)))
    alike_bound = None
    if is_exact:
        alike_bound = _proved_of_alike(searching, aims)
        if alike_bound is None:
            _grow(searching, aims, bounds)
        everyone = range(len(names))
        bound, is_exhausted = _branch_and_bound(searching, aims, bounds, everyone, _FOR_BOUND)
        if not is_exhausted:
            _improve(searching, aims, bound, tries_all=True)
    else:
        _improve(searching, aims, bounds.least(), tries_all=False)
        bound, is_exhausted = bounds.least(), False
    best = _best(searching, aims)
    ranked = sorted(searching.complete(), key=lambda each: (not aims.allows(each.figures), _key(each, aims)))
    nearest = best or min(ranked, key=lambda each: (aims.excess(each.figures), _key(each, aims)))
    reached = inf if best is None else best.figures[aims.minimize]
    bound = min(bound, reached)
    is_proved = is_exhausted or (best is not None and bound >= reached - _tolerance(best, aims, how))
    return FoundOrder(
        aims,
        best,
        nearest,
        one_by_one,
        tuple(ranked),
        bound,
        is_proved,
        searching.keeps_owners,
        searching.plays,
        is_estimated,
        _shares(bounds),
        None if alike_bound is None or is_proved else min(alike_bound, reached),
    )


def _shares(bounds: OrderBounds) -> tuple[float, float] | None:
    steps = [of for each in bounds.alone for of in each]
    if not steps:
        return None
    return min(each.seconds_share for each in steps), min(each.away_share for each in steps)


def _first_steps(searching: PlayedOrders) -> tuple[tuple[str, ...], ...]:
    """The slowest instance of each draw, which has the worst task, and others."""
    slowest = [max(floors.usual_seconds, key=floors.usual_seconds.__getitem__) for floors in searching.floors[0]]
    names = list(dict.fromkeys([*slowest, *searching.group.names]))
    return tuple((name,) for name in names[: max(_FIRST_STEPS, len(set(slowest)))])


def _extended(searching: PlayedOrders, single: Order, played: PlayedOrder) -> PlayedOrder:
    """One by one, estimated from its first steps."""
    trials = []
    for floors, trial in zip(searching.floors[0], played.trials, strict=True):
        times = sum(floors.seconds.values()) / sum(floors.seconds[name] for (name,) in played.order.batches)
        figures = {name: each if name in (WORST, AT_ONCE) else each * times for name, each in trial.figures.items()}
        trials.append(attrs.evolve(trial, figures=figures))
    return PlayedOrder(single, tuple(trials))


def _best(searching: PlayedOrders, aims: OrderAims) -> PlayedOrder | None:
    allowed = [each for each in searching.complete() if aims.allows(each.figures)]
    return min(allowed, key=lambda each: _key(each, aims), default=None)


def _key(played: PlayedOrder, aims: OrderAims) -> tuple[object, ...]:
    figures, order = played.figures, played.order
    ties = [figures[name] for name in _TIES]
    return (figures[aims.minimize], *ties, len(order.batches), order.conditions.settings, order.batches)


def _tolerance(best: PlayedOrder, aims: OrderAims, how: OrderSearch) -> float:
    return how.tolerance * best.figures[aims.minimize]


def _grow(searching: PlayedOrders, aims: OrderAims, bounds: OrderBounds) -> None:
    """Grows orders from their beginnings if the first orders are far from the bound."""
    how, most = searching.how, searching.plays + _FOR_GROWING * searching.how.plays
    for place in sorted(range(len(searching.conditions)), key=bounds.of_conditions):
        best = _best(searching, aims)
        reached = inf if best is None else best.figures[aims.minimize]
        if reached <= (1 + _FAR) * bounds.of_conditions(place):
            continue

        def play(orders: Sequence[Order], enough: float = (1 - how.tolerance) * reached) -> list[PlayedOrder | None]:
            left = max(0, int(most - searching.plays) // how.draws)
            is_hopeless = partial(_is_hopeless, searching, aims, bounds, enough)
            return searching.played_unless(orders[:left], is_hopeless)

        for _ in grown_orders(searching.group, searching.conditions[place], aims, play):
            pass


# --- all orders ---------------------------------------------------------------------------------------------


def _proved_of_alike(searching: PlayedOrders, aims: OrderAims) -> float | None:
    """The least bound of orders in which alike instances restart in their natural order, if it proves the best one.

    There are few of them, so that the bounds need no steps of other plays.
    """
    group = searching.group
    keys = [group.alike[name] for name in group.names]
    if len(set(keys)) == len(keys):
        return None
    bounds = OrderBounds(group, searching.conditions, aims, searching.floors)
    bounds.keeps_owners = False
    bound, is_exhausted = _branch_and_bound(searching, aims, bounds, keys, _FOR_ALIKE)
    return bound if is_exhausted else None


def _branch_and_bound(
    searching: PlayedOrders, aims: OrderAims, bounds: OrderBounds, keys: Sequence[Hashable], share: float
) -> tuple[float, bool]:
    """Expands beginnings until none is better than the best order, or the plays are spent.

    Args:
        keys: Key of each instance; instances with the same key restart in their natural order.
        share: Share of the plays, together with those before.

    Returns:
        The least bound of the beginnings that are left, and true if the bounds leave no better order.
    """
    while True:
        searching.is_contradicted = False
        found = _expanded(searching, aims, bounds, keys, share)
        # If a play contradicts the bounds, the search begins again, with the plays that are known.
        if found is not None:
            return found


def _expanded(
    searching: PlayedOrders, aims: OrderAims, bounds: OrderBounds, keys: Sequence[Hashable], share: float
) -> tuple[float, bool] | None:
    """The same; ``None`` if a play contradicts the bounds."""
    nothing = [dict.fromkeys(FIGURES, 0.0)] * searching.how.draws
    waiting: list[_Node] = []
    everyone = tuple(range(len(searching.group.names)))
    for place in range(len(searching.conditions)):
        waiting += _children(searching, aims, bounds, keys, (), everyone, nothing, place)
    heapq.heapify(waiting)
    while waiting:
        best = _best(searching, aims)
        reached = inf if best is None else best.figures[aims.minimize]
        enough = reached if best is None else reached - _tolerance(best, aims, searching.how)
        if waiting[0].bound >= enough:
            return waiting[0].bound, True
        if searching.plays >= share * searching.how.plays:
            return waiting[0].bound, False
        wave: list[_Node] = []
        while waiting and len(wave) < _WAVE and waiting[0].bound < enough:
            wave.append(heapq.heappop(waiting))
        orders = [_order(searching, node) for node in wave]
        played = searching.played_unless(orders, partial(_is_hopeless, searching, aims, bounds, enough))
        if searching.is_contradicted:
            return None
        for node, each in zip(wave, played, strict=True):
            rest = tuple(number for number in everyone if not any(number in batch for batch in node.batches))
            if each is not None and rest and all(each.certain[limit.figure] <= limit.most for limit in aims.limits):
                certain = [trial.certain for trial in each.trials]
                for child in _children(searching, aims, bounds, keys, node.batches, rest, certain, node.place):
                    heapq.heappush(waiting, child)
    return inf, True


def _is_hopeless(
    searching: PlayedOrders,
    aims: OrderAims,
    bounds: OrderBounds,
    enough: float,
    order: Order,
    trials: Sequence[OrderTrial],
) -> bool:
    """True if most draws exceed a limit, or are worse than the best order, so that their median is, too."""
    names = searching.group.names
    gone = {name for batch in order.batches for name in batch}
    rest = [number for number, name in enumerate(names) if name not in gone]
    if not rest and enough == inf:
        return False  # the nearest order of all is shown
    place, before = searching.conditions.index(order.conditions), len(order.batches)
    parts = [
        joined([trial.certain, bounds.of_rest(place, draw, rest, before)]) if rest else trial.figures
        for draw, trial in enumerate(trials)
    ]
    most = searching.how.draws // 2 + 1
    is_worse = sum(part[aims.minimize] >= enough for part in parts) >= most
    return is_worse or any(sum(part[limit.figure] > limit.most for part in parts) >= most for limit in aims.limits)


def _order(searching: PlayedOrders, node: _Node) -> Order:
    names = searching.group.names
    batches = tuple(tuple(names[each] for each in batch) for batch in node.batches)
    return Order(batches, searching.conditions[node.place])


def _children(
    searching: PlayedOrders,
    aims: OrderAims,
    bounds: OrderBounds,
    keys: Sequence[Hashable],
    batches: tuple[tuple[int, ...], ...],
    rest: tuple[int, ...],
    certain: Sequence[Mapping[str, float]],
    place: int,
) -> Iterator[_Node]:
    draws = range(searching.how.draws)
    for batch in batches_in_order(rest, keys):
        if not searching.conditions[place].allows(len(batch)):
            continue
        left = [each for each in rest if each not in batch]
        parts = [
            joined(
                [
                    certain[draw],
                    bounds.of_step(place, draw, batch, len(batches)),
                    bounds.of_rest(place, draw, left, len(batches) + 1),
                ]
            )
            for draw in draws
        ]
        least = medians(parts)
        if aims.allows(least):
            yield _Node(least[aims.minimize], len(batches), (*batches, batch), place)


# --- neighbours ---------------------------------------------------------------------------------------------


def _improve(searching: PlayedOrders, aims: OrderAims, bound: float, *, tries_all: bool) -> None:
    """Plays neighbours of the best order while they are better and plays are left.

    Args:
        tries_all: False: only the likeliest neighbours of an order.
    """
    while True:
        best = _best(searching, aims)
        if best is None or best.figures[aims.minimize] - bound <= _tolerance(best, aims, searching.how):
            return
        orders = [each for each in neighbours(searching.group, best.order, aims) if each not in searching.known]
        for first in range(0, len(orders) if tries_all else min(_TRIED, len(orders)), _TRIED):
            left = (searching.how.plays - searching.plays) // searching.how.draws
            if left < 1:
                return
            searching.played(orders[first : first + min(left, _TRIED)])
            if _best(searching, aims) is not best:
                break
        else:
            return
