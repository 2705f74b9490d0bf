"""The search of the best order: branch and bound over beginnings of orders, each played with the same draws.

A beginning is a list of batches. Its play is the same in each order that begins with it, so the play's duration, and
what its tasks have lost by then, are lower bounds of those orders. The rest adds at least the floors of its steps
(:mod:`assignor_lab.planning.orders.group`). The search expands the beginning with the least bound. It has proved its
best order when no bound is less by more than the tolerance.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import ceil, inf
from statistics import median

import attrs

from assignor_lab.planning.in_processes import in_processes
from assignor_lab.planning.orders.aims import AT_ONCE, DURATION, TASK_SECONDS, WORST, OrderAims
from assignor_lab.planning.orders.figures import FIGURES, OrderTrial, medians
from assignor_lab.planning.orders.group import MOST_EXACT, Floors, OrderedGroup
from assignor_lab.planning.orders.neighbours import first_orders, neighbours
from assignor_lab.planning.orders.order import Conditions, Order

__all__ = ["FoundOrder", "PlayedOrder", "OrderSearch", "search"]

#: Steps of one by one that are played in a group that is too large for all.
_FIRST_STEPS = 4
#: Beginnings that are played together; the results do not depend on the processes.
_WAVE = 32
#: Figures that decide between equal orders.
_TIES = ("duration_seconds", "worst_task_seconds", "task_seconds", "tasks_at_once", "rebalances")


@attrs.frozen
class PlayedOrder:
    """An order, or the beginning of one, with its trials in the order of the draws."""

    order: Order
    trials: tuple[OrderTrial, ...]

    @property
    def figures(self) -> dict[str, float]:
        return medians([each.figures for each in self.trials])

    @property
    def certain(self) -> dict[str, float]:
        return medians([each.certain for each in self.trials])

    def spread(self, figure: str) -> float:
        """Half of the distance between the least and the greatest play."""
        values = [each.figures[figure] for each in self.trials]
        return 0.0 if max(values) == inf else (max(values) - min(values)) / 2


@attrs.frozen
class OrderSearch:
    """The bounds of a search.

    Args:
        draws: Plays of each order.
        plays: Most plays.
        tolerance: Share of the best figure that counts as no difference.
        processes: Processes that share the plays; results do not depend on it.
    """

    draws: int = 5
    plays: int = 2_000
    tolerance: float = 0.01
    processes: int = 1


@attrs.frozen
class FoundOrder:
    """What a search found.

    Args:
        best: The best allowed order; ``None``: none is allowed.
        nearest: The order whose figures exceed the limits least.
        one_by_one: One instance after the other, in natural order.
        orders: All played orders, best first; those that are not allowed come last.
        bound: No order has a smaller figure than this.
        is_proved: No order is better by more than the tolerance, or, without ``best``, none is allowed.
        keeps_owners: The bounds take the instances to get their numbers of tasks back in each step, as in all plays.
        is_estimated: ``one_by_one`` is estimated from its first steps.
        plays: Number of plays.
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


@attrs.frozen(order=True)
class _Node:
    """A beginning that is yet to be played."""

    bound: float
    steps: int
    batches: tuple[tuple[int, ...], ...]
    place: int


class _Searching:
    def __init__(
        self, group: OrderedGroup, conditions: Sequence[Conditions], how: OrderSearch, on_play: Callable[[], None]
    ) -> None:
        self.group, self.conditions, self.how, self._on_play = group, conditions, how, on_play
        self.known: dict[Order, PlayedOrder] = {}
        self.plays = 0
        self.keeps_owners = True
        self.floors = [[group.floors(each, draw) for draw in range(how.draws)] for each in conditions]

    def played(self, orders: Sequence[Order]) -> list[PlayedOrder]:
        new = [order for order in dict.fromkeys(orders) if order not in self.known]
        draws = self.how.draws
        trials = []
        for trial in in_processes(partial(_trial, self.group, new, draws), len(new) * draws, self.how.processes):
            trials.append(trial)
            self._on_play()
        for place, order in enumerate(new):
            own = tuple(trials[place * draws : (place + 1) * draws])
            self.known[order] = PlayedOrder(order, own)
            self.keeps_owners = self.keeps_owners and all(
                each.keeps_owners and self._is_as_usual(order, draw, each) for draw, each in enumerate(own)
            )
        self.plays += len(new) * draws
        return [self.known[order] for order in orders]

    def _is_as_usual(self, order: Order, draw: int, trial: OrderTrial) -> bool:
        """True if no step is shorter than the floors of instances that get their tasks back at once."""
        usual = self.floors[self.conditions.index(order.conditions)][draw].usual_seconds
        return all(
            seconds >= max(usual[name] for name in batch)
            for batch, seconds in zip(order.batches, trial.step_seconds, strict=False)
        )

    def is_complete(self, order: Order) -> bool:
        return sum(map(len, order.batches)) == len(self.group.names)

    def complete(self) -> list[PlayedOrder]:
        return [each for each in self.known.values() if self.is_complete(each.order)]


def _trial(group: OrderedGroup, orders: Sequence[Order], draws: int, number: int) -> OrderTrial:
    return group.trial(orders[number // draws], number % draws)


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
    searching = _Searching(group, conditions, how, on_play)
    names = group.names
    single = Order(tuple((name,) for name in names), conditions[0])
    is_estimated = len(names) > MOST_EXACT
    first = attrs.evolve(single, batches=single.batches[:_FIRST_STEPS]) if is_estimated else single
    (one_by_one,) = searching.played([first])
    if is_estimated:
        one_by_one = PlayedOrder(
            single, tuple(_extended(each, len(names) / _FIRST_STEPS) for each in one_by_one.trials)
        )
    aims = aims.with_usual(one_by_one.figures, group.tasks)
    bounds = _Bounds(searching, aims)
    for place in sorted(range(len(conditions)), key=bounds.of_conditions):
        best = _best(searching, aims)
        if best is not None and bounds.of_conditions(place) >= best.figures[aims.minimize] * (1 - how.tolerance):
            continue
        for order in first_orders(group, conditions[place], aims):
            searching.played([order])
            if len(names) > MOST_EXACT and aims.allows(searching.known[order].figures):
                break
    if len(names) <= MOST_EXACT:
        bound, is_exhausted = _branch_and_bound(searching, aims, bounds)
    else:
        _improve(searching, aims, bounds.least())
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
    )


def _extended(trial: OrderTrial, times: float) -> OrderTrial:
    """The trial of all steps, estimated from the first ones."""
    figures = {name: value if name in _OF_WORST_STEP else value * times for name, value in trial.figures.items()}
    return attrs.evolve(trial, figures=figures)


def _best(searching: _Searching, aims: OrderAims) -> PlayedOrder | None:
    allowed = [each for each in searching.complete() if aims.allows(each.figures)]
    return min(allowed, key=lambda each: _key(each, aims), default=None)


def _key(played: PlayedOrder, aims: OrderAims) -> tuple[object, ...]:
    figures, order = played.figures, played.order
    ties = [figures[name] for name in _TIES]
    return (figures[aims.minimize], *ties, len(order.batches), order.conditions.settings, order.batches)


def _tolerance(best: PlayedOrder, aims: OrderAims, how: OrderSearch) -> float:
    return how.tolerance * best.figures[aims.minimize]


# --- bounds -------------------------------------------------------------------------------------------------


class _Bounds:
    """Lower bounds of the figures of orders."""

    def __init__(self, searching: _Searching, aims: OrderAims) -> None:
        self._searching, self._aims = searching, aims
        group = searching.group
        self._names, self._loads = group.names, [group.loads[name] for name in group.names]
        self._at_once = aims.most(AT_ONCE)

    def least(self) -> float:
        """No order has a smaller deciding figure."""
        return min(self.of_conditions(place) for place in range(len(self._searching.conditions)))

    def of_conditions(self, place: int) -> float:
        """The same for the orders under some conditions."""
        everyone = range(len(self._names))
        draws = range(self._searching.how.draws)
        return median(self.of_rest(place, draw, everyone, 0)[self._aims.minimize] for draw in draws)

    def of_rest(self, place: int, draw: int, rest: Sequence[int], before: int) -> dict[str, float]:
        """What the restart of further instances adds, or reaches at least.

        Args:
            place: Place of the conditions.
            rest: Numbers of the instances.
            before: Number of the steps before.
        """
        found = dict.fromkeys(FIGURES, 0.0)
        if not rest:
            return found
        floors = self._floors(place, draw)
        seconds = self._seconds(floors)
        own = [seconds[self._names[each]] for each in rest]
        steps = self.steps(place, draw, rest)
        found[DURATION] = max(own) + (steps - 1) * min(own) + sum(floors.look_seconds[before : before + steps])
        if self._searching.keeps_owners and floors.away_seconds > 0:
            load = sum(self._loads[each] for each in rest)
            found[TASK_SECONDS] = load * floors.away_seconds
            found[WORST] = floors.away_seconds if load else 0.0
            found[AT_ONCE] = max(self._loads[each] for each in rest)
        return found

    def steps(self, place: int, draw: int, rest: Sequence[int]) -> int:
        """Fewest steps of instances whose tasks are away at once."""
        floors, conditions = self._floors(place, draw), self._searching.conditions[place]
        if conditions.surge:
            return -(-len(rest) // conditions.surge)
        if not self._searching.keeps_owners or not floors.away_seconds or self._at_once == inf:
            return 1
        loads = [self._loads[each] for each in rest]
        # Two instances with more than half of the limit each never share a step.
        large = sum(2 * load > self._at_once for load in loads)
        return max(1, large, ceil(sum(loads) / max(self._at_once, 1e-9) - 1e-9))

    def of_step(self, place: int, draw: int, batch: Sequence[int], before: int) -> dict[str, float]:
        found = dict.fromkeys(FIGURES, 0.0)
        floors = self._floors(place, draw)
        found[DURATION] = max(self._seconds(floors)[self._names[each]] for each in batch)
        found[DURATION] += sum(floors.look_seconds[before : before + 1])
        if self._searching.keeps_owners and floors.away_seconds > 0:
            load = sum(self._loads[each] for each in batch)
            found[TASK_SECONDS] = load * floors.away_seconds
            found[WORST] = floors.away_seconds if load else 0.0
            found[AT_ONCE] = load
        return found

    def _seconds(self, floors: Floors) -> Mapping[str, float]:
        return floors.usual_seconds if self._searching.keeps_owners else floors.seconds

    def _floors(self, place: int, draw: int) -> Floors:
        return self._searching.floors[place][draw]


#: Figures of an order that are those of its worst step, not the sum of its steps.
_OF_WORST_STEP = (WORST, AT_ONCE)


def _joined(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {
        name: max(part[name] for part in parts) if name in _OF_WORST_STEP else sum(part[name] for part in parts)
        for name in FIGURES
    }


# --- all orders ---------------------------------------------------------------------------------------------


def _branch_and_bound(searching: _Searching, aims: OrderAims, bounds: _Bounds) -> tuple[float, bool]:
    """Expands beginnings until none is better than the best order, or the plays are spent.

    Returns:
        The least bound of the beginnings that are left, and true if the bounds leave no better order.
    """
    nothing = [dict.fromkeys(FIGURES, 0.0)] * searching.how.draws
    waiting: list[_Node] = []
    everyone = tuple(range(len(searching.group.names)))
    for place in range(len(searching.conditions)):
        waiting += _children(searching, aims, bounds, (), everyone, nothing, place)
    heapq.heapify(waiting)
    while waiting:
        best = _best(searching, aims)
        reached = inf if best is None else best.figures[aims.minimize]
        enough = reached if best is None else reached - _tolerance(best, aims, searching.how)
        if waiting[0].bound >= enough:
            return waiting[0].bound, True
        if searching.plays >= searching.how.plays:
            return waiting[0].bound, False
        had_owners = searching.keeps_owners
        wave: list[_Node] = []
        while waiting and len(wave) < _WAVE and waiting[0].bound < enough:
            wave.append(heapq.heappop(waiting))
        played = searching.played([_order(searching, node) for node in wave])
        for node, each in zip(wave, played, strict=True):
            rest = tuple(number for number in everyone if not any(number in batch for batch in node.batches))
            if rest and all(each.certain[limit.figure] <= limit.most for limit in aims.limits):
                certain = [trial.certain for trial in each.trials]
                for child in _children(searching, aims, bounds, node.batches, rest, certain, node.place):
                    heapq.heappush(waiting, child)
        if had_owners and not searching.keeps_owners:
            # A play contradicts the bounds so far: begin again, with the plays that are known.
            return _branch_and_bound(searching, aims, bounds)
    return inf, True


def _order(searching: _Searching, node: _Node) -> Order:
    names = searching.group.names
    batches = tuple(tuple(names[each] for each in batch) for batch in node.batches)
    return Order(batches, searching.conditions[node.place])


def _children(
    searching: _Searching,
    aims: OrderAims,
    bounds: _Bounds,
    batches: tuple[tuple[int, ...], ...],
    rest: tuple[int, ...],
    certain: Sequence[Mapping[str, float]],
    place: int,
) -> Iterator[_Node]:
    draws = range(searching.how.draws)
    for size in range(1, len(rest) + 1):
        if not searching.conditions[place].allows(size):
            return
        for batch in combinations(rest, size):
            left = [each for each in rest if each not in batch]
            parts = [
                _joined(
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


def _improve(searching: _Searching, aims: OrderAims, bound: float) -> None:
    """Plays neighbours of the best order while they are better and plays are left."""
    while True:
        best = _best(searching, aims)
        if best is None or best.figures[aims.minimize] - bound <= _tolerance(best, aims, searching.how):
            return
        orders = [each for each in neighbours(searching.group, best.order, aims) if each not in searching.known]
        left = (searching.how.plays - searching.plays) // searching.how.draws
        if not orders or left < 1:
            return
        searching.played(orders[: min(left, _WAVE // 4)])
        if _best(searching, aims) is best:
            return
