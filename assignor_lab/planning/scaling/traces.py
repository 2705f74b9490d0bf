"""Generated days of input: daily curves, bursts, steps and noise, from a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import attrs

from assignor_lab.planning.scaling.rates import RECORDS, InputCurve

__all__ = ["LIKE_SIZES", "SHAPES", "generated_day", "like_day"]

#: Sizes of days like a given one. Each count has a size at which its busiest thread just falls behind, so the steps
#: are small; the largest come first, as they refuse most policies.
LIKE_SIZES = (1.3, 0.8, 1.2, 1.1, 1.15, 1.05, 1.25, 1.0, 0.95, 0.9, 0.85)
SHAPES = ("daily", "bursts", "steps", "noise")
_EVERY_S, _DAY_S = 60, 86_400


def generated_day(shape: str, seed: str, peak: float, weights: Mapping[str, float]) -> InputCurve:
    """A day of a shape.

    Args:
        peak: About the largest input, in records per second.
        weights: Task to its share of the input.
    """
    drawn = random.Random(f"{shape}-{seed}")  # noqa: S311 - a simulation, not a secret
    size = peak * drawn.uniform(0.8, 1.0)
    totals = [size * each for each in _TOTALS[shape](drawn)]
    return _curve([max(0.0, each * drawn.uniform(0.97, 1.03)) for each in totals], weights, f"{shape} {seed}")


def like_day(curve: InputCurve, seed: str, size: float) -> InputCurve:
    """The same day, a little other: its hour, noise, and one burst.

    Args:
        size: Its input as a share of the given day's, one of :data:`LIKE_SIZES`.
    """
    drawn = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    by = drawn.randrange(len(curve.rates))
    rates = [*curve.rates[by:], *curve.rates[:by]]
    burst = drawn.randrange(len(rates)), max(1, len(rates) // 48), drawn.uniform(1.0, 1.3)
    made = []
    for place, each in enumerate(rates):
        factor = size * drawn.uniform(0.95, 1.05) * (burst[2] if burst[0] <= place < burst[0] + burst[1] else 1.0)
        made.append(tuple(rate * factor for rate in each))
    return attrs.evolve(curve, rates=tuple(made), source=f"{curve.source}, changed by {seed}")


def _curve(totals: list[float], weights: Mapping[str, float], source: str) -> InputCurve:
    together = sum(weights.values())
    shares = [weight / together for weight in weights.values()]
    rates = tuple(tuple(total * share for share in shares) for total in totals)
    times = tuple(float(place * _EVERY_S) for place in range(len(totals)))
    return InputCurve(tuple(weights), times, rates, RECORDS, source, float(_DAY_S))


def _daily(drawn: random.Random) -> list[float]:
    hour, low = drawn.uniform(9, 20), drawn.uniform(0.1, 0.4)
    wide = drawn.uniform(1.0, 2.0)
    found = []
    for minute in range(_DAY_S // _EVERY_S):
        angle = 2 * math.pi * (minute / 60 - hour) / 24
        found.append(low + (1 - low) * ((1 + math.cos(angle)) / 2) ** wide)
    return found


def _bursts(drawn: random.Random) -> list[float]:
    base = drawn.uniform(0.2, 0.5)
    found = [base] * (_DAY_S // _EVERY_S)
    for _ in range(drawn.randint(3, 10)):
        begin, lasts, size = drawn.randrange(len(found)), drawn.randint(5, 60), drawn.uniform(0.6, 1.0)
        for minute in range(begin, min(len(found), begin + lasts)):
            found[minute] = max(found[minute], size)
    return found


def _steps(drawn: random.Random) -> list[float]:
    found: list[float] = []
    while len(found) < _DAY_S // _EVERY_S:
        found += [drawn.uniform(0.15, 1.0)] * drawn.randint(60, 360)
    return found[: _DAY_S // _EVERY_S]


def _noise(drawn: random.Random) -> list[float]:
    level, found = drawn.uniform(0.3, 0.6), []
    for _ in range(_DAY_S // _EVERY_S):
        level = min(1.0, max(0.1, level + drawn.gauss(0, 0.02)))
        found.append(level)
    return found


_TOTALS = {"daily": _daily, "bursts": _bursts, "steps": _steps, "noise": _noise}
