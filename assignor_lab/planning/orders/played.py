"""A played order with its trials."""

from __future__ import annotations

from math import inf

import attrs

from assignor_lab.planning.orders.figures import OrderTrial, medians
from assignor_lab.planning.orders.order import Order

__all__ = ["PlayedOrder"]


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
