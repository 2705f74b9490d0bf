"""Small drawings as plain numbers; the template turns them into SVG. Every figure drawn stands beside in words."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignor_lab.report.summary import Aggregate

__all__ = ["Spread", "spreads"]

#: Width of the drawing in its own units, and the room left at both ends for the dot.
WIDTH, MARGIN = 160.0, 6.0


@attrs.frozen
class Spread:
    """Where the values of one assignor lie, as horizontal positions: whole range, middle to 90 %, mean."""

    low: float
    high: float
    median: float
    p90: float
    mean: float


def spreads(aggregates: Sequence[Aggregate]) -> list[Spread | None]:
    """One drawing for each aggregate of one metric, all to one scale; ``None`` where there is no value."""
    low = min((each.min for each in aggregates if each.min is not None), default=0.0)
    high = max((each.max for each in aggregates if each.max is not None), default=0.0)
    # Differences look as large as they are: the scale starts at zero unless values lie below it.
    low = min(low, 0.0)

    def place(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.0
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    found: list[Spread | None] = []
    for each in aggregates:
        values = (each.min, each.max, each.median, each.p90, each.mean)
        known = [value for value in values if value is not None]
        found.append(Spread(*map(place, known)) if len(known) == len(values) else None)
    return found
