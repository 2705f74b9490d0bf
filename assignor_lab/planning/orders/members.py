"""Groups whose members keep no state, as the search sees them: workers of Connect, and consumers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property

import attrs

from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.orders.figures import OrderTrial, trial_of
from assignor_lab.planning.orders.group import PRESENT, Floors
from assignor_lab.planning.orders.order import Conditions, Order, plan_in_order, restarted
from assignor_lab.planning.plans import LOOKS_EVERY_MS, Plan

__all__ = ["MemberOrders"]


@attrs.frozen(eq=False, slots=False)
class MemberOrders:
    """A group of members without state.

    Args:
        singles: Name of settings to the roll of one member after the other under them.
        loads: Tasks or partitions of each member.
        play: The play of a plan under some settings, by a seed.
        returns_ms: Member to its least time from its stop until it is ready, in such a play.
        start_ms: Its median.
        alike: Member to a key; alike members have the same.
        stays_ms: Name of settings, if all members are static under them, to the session that keeps a closed member's
            place.
        sentences: Reasons that hold for each order.
    """

    singles: Mapping[str, Plan]
    loads: Mapping[str, int]
    tasks: int
    play: Callable[[str, Plan, str], PlayedPlan]
    returns_ms: Callable[[str, str], Mapping[str, int]]
    start_ms: int
    seed: int
    alike: Mapping[str, Hashable]
    stays_ms: Mapping[str, int] = attrs.Factory(dict)
    sentences: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        return restarted(self.singles[PRESENT])

    @property
    def most_one_by_one(self) -> int:
        # Plays without state are short, and chance decides the worst of many steps.
        return 120

    @property
    def shared(self) -> Mapping[frozenset[str], int]:
        return {}

    def reasons(self, order: Order) -> list[str]:  # noqa: ARG002 - the same for each order
        return list(self.sentences)

    def plan(self, order: Order) -> Plan:
        return plan_in_order(self.singles[order.conditions.settings], order)

    def played(self, order: Order, plan: Plan, number: int) -> PlayedPlan:
        """One play of the plan of an order."""
        return self.play(order.conditions.settings, plan, f"{self.seed}-{number}")

    def trial(self, order: Order, draw: int) -> OrderTrial:
        play = self.played(order, self.plan(order), draw)
        # Owners change with each rebalance, so that the bounds use the starts alone. Without one, static members keep
        # their tasks.
        return trial_of(play, keeps_owners=bool(self._stays_ms(order.conditions)) and not play.total.rebalances)

    def floors(self, conditions: Conditions, draw: int) -> Floors:
        wait_ms = conditions.wait if isinstance(conditions.wait, int) else 0
        returns_ms = self.returns_ms(conditions.settings, f"{self.seed}-{draw}")
        found = {name: (returns_ms[name] + wait_ms) / 1000 for name in self.names}
        away_ms = min(self._stays_ms(conditions), *(time_ms - LOOKS_EVERY_MS for time_ms in returns_ms.values()))
        return Floors(found, found, max(0, away_ms) / 1000)

    def _stays_ms(self, conditions: Conditions) -> int:
        return 0 if conditions.surge else self.stays_ms.get(conditions.settings, 0)
