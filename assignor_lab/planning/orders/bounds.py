"""Lower bounds of the figures of orders, from the floors of their steps and from the steps of instances alone.

Where a closed member stays in its group, its session bounds a step. Otherwise a step lasts as long as heartbeats and
joins take, which no floor shows unplayed. There the bounds take each step to last as long as that of its slowest
instance alone, and the tasks of a batch to be away together. Each play of a search checks both: a step that is shorter
by some share makes all bounds less by that share (:class:`AloneSteps`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from statistics import median

import attrs

from assignor_lab.planning.orders.aims import AT_ONCE, DURATION, TASK_SECONDS, WORST, OrderAims
from assignor_lab.planning.orders.figures import FIGURES, OrderTrial
from assignor_lab.planning.orders.group import Floors, OrderedGroup
from assignor_lab.planning.orders.order import Conditions, Order

__all__ = ["ROUNDED_S", "AloneSteps", "OrderBounds", "alone_orders", "alone_steps", "joined"]

#: Figures of an order that are those of its worst step, not the sum of its steps.
_OF_WORST_STEP = (WORST, AT_ONCE)
#: A contradicted share falls by this factor more, so that the search does not begin anew for each play.
_FURTHER = 0.995


def joined(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The figures of several parts of an order together."""
    return {
        name: max(part[name] for part in parts) if name in _OF_WORST_STEP else sum(part[name] for part in parts)
        for name in FIGURES
    }


# --- steps of instances alone -------------------------------------------------------------------------------


@attrs.define
class AloneSteps:
    """The steps of instances alone in the plays of one draw, without the delay until their end is seen.

    Args:
        first: Instance to the least time of its step alone at the begin of an order.
        later: The same after other steps.
        seconds_share: Least share of its slowest instance's step alone that a step took, in all plays.
        away_share: Least share of a batch's tasks that were away together.
    """

    first: Mapping[str, float]
    later: Mapping[str, float]
    seconds_share: float = 1.0
    away_share: float = 1.0

    def step(self, batch: Sequence[str], before: int) -> float:
        alone = self.later if before else self.first
        return self.seconds_share * max(alone[name] for name in batch)

    def learns(self, order: Order, trial: OrderTrial, looks: Sequence[float], loads: Mapping[str, int]) -> bool:
        """Lowers the shares to those of a play; true if they have fallen."""
        before = (self.seconds_share, self.away_share)
        for place, (batch, seconds) in enumerate(zip(order.batches, trial.step_seconds, strict=False)):
            alone = max((self.later if place else self.first)[name] for name in batch)
            taken = seconds - sum(looks[place : place + 1])
            if taken < self.seconds_share * alone - ROUNDED_S:
                self.seconds_share = _FURTHER * max(0.0, taken) / alone
            load = sum(loads[name] for name in batch)
            if trial.figures[AT_ONCE] < self.away_share * load - ROUNDED_S:
                self.away_share = trial.figures[AT_ONCE] / load
        return before != (self.seconds_share, self.away_share)


#: Plays end at whole milliseconds.
ROUNDED_S = 0.0015


def alone_orders(names: Sequence[str], conditions: Conditions) -> list[Order]:
    """Orders of instances alone, at the begin and later: their plays show the quickest steps."""
    singles = [((name,),) for name in names]
    later = [tuple((name,) for name in names), ((names[1],), (names[0],))]
    return [Order(batches, conditions) for batches in (*singles, *later)]


def alone_steps(names: Sequence[str], trials: Sequence[OrderTrial], floors: Floors) -> AloneSteps:
    """The least steps of the plays of :func:`alone_orders`.

    Heartbeats make one and the same instance quick or slow. So an instance has the least step of all, and at least its
    own floor with the least time that any instance took beyond its floor.
    """
    looks = floors.look_seconds

    def least(seconds: Mapping[str, float]) -> dict[str, float]:
        beyond = min(taken - floors.seconds[name] for name, taken in seconds.items())
        return {name: max(floors.seconds[name] + beyond, min(seconds.values())) for name in names}

    def taken(trial: OrderTrial, place: int) -> float:
        return trial.step_seconds[place] - sum(looks[place : place + 1]) if len(trial.step_seconds) > place else 0.0

    *singles, all_later, swapped = trials
    first = {name: taken(trial, 0) for name, trial in zip(names, singles, strict=True)}
    later = {name: taken(all_later, place) for place, name in enumerate(names)} | {names[0]: taken(swapped, 1)}
    return AloneSteps(least(first), least(later))


# --- bounds -------------------------------------------------------------------------------------------------


class OrderBounds:
    """Lower bounds of the figures of orders.

    Args:
        floors: Floors of each draw, for each of the conditions.
        alone: The same of steps alone; empty: none are known.
        keeps_owners: Instances had their numbers of tasks back after each step of all plays.
    """

    def __init__(
        self, group: OrderedGroup, conditions: Sequence[Conditions], aims: OrderAims, floors: Sequence[Sequence[Floors]]
    ) -> None:
        self._names, self._loads = group.names, [group.loads[name] for name in group.names]
        self._conditions, self._minimize = conditions, aims.minimize
        self._at_once, self._floors = aims.most(AT_ONCE), floors
        self.alone: list[list[AloneSteps]] = []
        self.keeps_owners = True

    def least(self) -> float:
        """No order has a smaller deciding figure."""
        return min(self.of_conditions(place) for place in range(len(self._conditions)))

    def of_conditions(self, place: int) -> float:
        """The same for the orders under some conditions."""
        everyone = range(len(self._names))
        draws = range(len(self._floors[place]))
        return median(self.of_rest(place, draw, everyone, 0)[self._minimize] for draw in draws)

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
        floors = self._floors[place][draw]
        # The first step of all may be that of any instance.
        places = (before,) if before else (0, 1)
        own = sorted(((self._seconds(place, draw, each, places), self._loads[each]) for each in rest), reverse=True)
        steps = self.steps(place, draw, rest)
        found[DURATION] = self._batched(own, steps, self._share(place, draw))
        found[DURATION] += sum(floors.look_seconds[before : before + steps])
        load = sum(self._loads[each] for each in rest)
        if self.keeps_owners and floors.away_seconds > 0:
            found[TASK_SECONDS] = load * floors.away_seconds
            found[WORST] = floors.away_seconds if load else 0.0
        found[AT_ONCE] = self._share(place, draw) * max(self._loads[each] for each in rest)
        return found

    def _batched(self, own: Sequence[tuple[float, int]], steps: int, share: float) -> float:
        """Least sum of the longest floors of batches.

        If the first instances by falling floors have more tasks than *n* limits, they are in more than *n* batches.

        Args:
            own: Floor and load of each instance, the largest floor first.
        """
        least = own[-1][0]
        total, batches, load = 0.0, 0, 0.0
        for seconds, own_load in own:
            load += share * own_load
            if not batches or load > batches * self._at_once + 1e-9:
                total += seconds
                batches += 1
        return total + max(0, steps - batches) * least

    def steps(self, place: int, draw: int, rest: Sequence[int]) -> int:
        """Fewest steps of instances whose tasks are away at once."""
        conditions = self._conditions[place]
        if conditions.surge:
            return -(-len(rest) // conditions.surge)
        share = self._share(place, draw)
        if not share or self._at_once == inf:
            return 1
        loads = [share * self._loads[each] for each in rest]
        # Two instances with more than half of the limit each never share a step.
        large = sum(2 * load > self._at_once for load in loads)
        batches = -(-sum(loads) // max(self._at_once, 1e-9)) if self._at_once else inf
        return int(max(1, large, min(batches, len(rest))))

    def of_step(self, place: int, draw: int, batch: Sequence[int], before: int) -> dict[str, float]:
        found = dict.fromkeys(FIGURES, 0.0)
        floors = self._floors[place][draw]
        found[DURATION] = max(self._seconds(place, draw, each, (before,)) for each in batch)
        found[DURATION] += sum(floors.look_seconds[before : before + 1])
        load = sum(self._loads[each] for each in batch)
        if self.keeps_owners and floors.away_seconds > 0:
            found[TASK_SECONDS] = load * floors.away_seconds
            found[WORST] = floors.away_seconds if load else 0.0
        found[AT_ONCE] = self._share(place, draw) * load
        return found

    def _share(self, place: int, draw: int) -> float:
        """Share of a batch's tasks that are away together at least."""
        if self._conditions[place].surge:
            return 0.0
        if self.keeps_owners and self._floors[place][draw].away_seconds > 0:
            return 1.0
        return self.alone[place][draw].away_share if self.alone else 0.0

    def _seconds(self, place: int, draw: int, number: int, places: Sequence[int]) -> float:
        """Floor of the step of an instance at any of some places in the order."""
        floors, name = self._floors[place][draw], self._names[number]
        least = (floors.usual_seconds if self.keeps_owners else floors.seconds)[name]
        if not self.alone:
            return least
        steps = self.alone[place][draw]
        return max(least, min(steps.step((name,), each) for each in places))
