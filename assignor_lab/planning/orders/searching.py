"""The played orders of a search, and the facts on their steps that its bounds use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import attrs

from assignor_lab.planning.in_processes import in_processes
from assignor_lab.planning.orders.bounds import ROUNDED_S, AloneSteps, OrderBounds, alone_orders, alone_steps
from assignor_lab.planning.orders.figures import OrderTrial
from assignor_lab.planning.orders.group import Floors, OrderedGroup
from assignor_lab.planning.orders.order import Conditions, Order
from assignor_lab.planning.orders.played import PlayedOrder

__all__ = ["IsHopeless", "OrderSearch", "PlayedOrders"]


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


#: True if an order cannot be better than the best one, by the first of its draws.
IsHopeless = Callable[[Order, Sequence[OrderTrial]], bool]


class PlayedOrders:
    """All plays of a search."""

    def __init__(
        self, group: OrderedGroup, conditions: Sequence[Conditions], how: OrderSearch, on_play: Callable[[], None]
    ) -> None:
        self.group, self.conditions, self.how, self._on_play = group, conditions, how, on_play
        self.known: dict[Order, PlayedOrder] = {}
        #: Trials of the orders that were dropped after most of their draws.
        self._begun: dict[Order, list[OrderTrial]] = {}
        self.plays = 0
        self.floors = [[group.floors(each, draw) for draw in range(how.draws)] for each in conditions]
        self.bounds: OrderBounds | None = None
        #: Bounds became less by a play.
        self.is_contradicted = False
        self.keeps_owners = True

    def played(self, orders: Sequence[Order]) -> list[PlayedOrder]:
        self._play(orders, self.how.draws)
        return [self._ended(order) for order in orders]

    def played_unless(self, orders: Sequence[Order], is_hopeless: IsHopeless) -> list[PlayedOrder | None]:
        """The same; ``None`` of an order if its further draws do not matter."""
        most = self.how.draws // 2 + 1
        self._play(orders, most)
        going_on = [order for order in orders if order in self.known or not is_hopeless(order, self._begun[order])]
        self._play(going_on, self.how.draws)
        kept = set(going_on)
        return [self._ended(order) if order in kept else None for order in orders]

    def _play(self, orders: Sequence[Order], draws: int) -> None:
        """Plays the draws of orders up to a number."""
        work: list[tuple[Order, int]] = []
        for order in dict.fromkeys(orders):
            if order not in self.known:
                begun = self._begun.setdefault(order, [])
                work += [(order, draw) for draw in range(len(begun), draws)]
        for place, trial in enumerate(in_processes(partial(_trial, self.group, work), len(work), self.how.processes)):
            order, draw = work[place]
            self._begun[order].append(trial)
            self._learn(order, draw, trial)
            self._on_play()
        self.plays += len(work)

    def _ended(self, order: Order) -> PlayedOrder:
        if order not in self.known:
            self.known[order] = PlayedOrder(order, tuple(self._begun.pop(order)))
        return self.known[order]

    def _learn(self, order: Order, draw: int, trial: OrderTrial) -> None:
        """Makes the bounds less if a play contradicts them."""
        place = self.conditions.index(order.conditions)
        floors = self.floors[place][draw]
        if self.keeps_owners and not (trial.keeps_owners and _is_as_usual(order, floors, trial)):
            self.keeps_owners, self.is_contradicted = False, True
        if self.bounds is not None:
            self.bounds.keeps_owners = self.keeps_owners
            if self.bounds.alone:
                steps = self.bounds.alone[place][draw]
                if steps.learns(order, trial, floors.look_seconds, self.group.loads):
                    self.is_contradicted = True

    def learn_alone(self, bounds: OrderBounds) -> None:
        """Plays the instances alone, and takes their steps as bounds."""
        names = self.group.names
        found: list[list[AloneSteps]] = []
        for place, conditions in enumerate(self.conditions):
            played = self.played(alone_orders(names, conditions))
            found.append(
                [
                    alone_steps(names, [each.trials[draw] for each in played], self.floors[place][draw])
                    for draw in range(self.how.draws)
                ]
            )
        bounds.alone = found
        for order, each in self.known.items():
            for draw, trial in enumerate(each.trials):
                self._learn(order, draw, trial)

    def is_complete(self, order: Order) -> bool:
        return sum(map(len, order.batches)) == len(self.group.names)

    def complete(self) -> list[PlayedOrder]:
        return [each for each in self.known.values() if self.is_complete(each.order)]


def _is_as_usual(order: Order, floors: Floors, trial: OrderTrial) -> bool:
    """True if no step is shorter than the floors of instances that get their tasks back at once."""
    usual = floors.usual_seconds
    return all(
        seconds >= max(usual[name] for name in batch) - ROUNDED_S
        for batch, seconds in zip(order.batches, trial.step_seconds, strict=False)
    )


def _trial(group: OrderedGroup, work: Sequence[tuple[Order, int]], number: int) -> OrderTrial:
    return group.trial(*work[number])
