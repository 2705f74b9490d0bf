"""The exact sign test, and a family of several tests. Both need no scipy."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, log

__all__ = ["FEWEST_SIGNS", "LEVEL_OF_ORDERS", "holm", "sign_probability"]

#: Fewer differences of the same sign may be chance: 2 * 0.5 ** 5 is above 0.05.
FEWEST_SIGNS = 6
#: Largest probability of an order among equal contenders.
LEVEL_OF_ORDERS = 0.05


def holm(chances: Sequence[float], level: float = LEVEL_OF_ORDERS) -> list[bool]:
    """True for each finding of a family whose error is at most ``level`` (Holm, 1979), in the given order."""
    found = [False] * len(chances)
    for rank, number in enumerate(sorted(range(len(chances)), key=lambda number: chances[number])):
        if chances[number] > level / (len(chances) - rank):
            break
        found[number] = True
    return found


def sign_probability(lower: int, higher: int) -> float:
    """The two-sided probability of a split at least as uneven, for equally likely signs.

    Args:
        higher: Differences above 0. Zeros are in neither.
    """
    number, few = lower + higher, min(lower, higher)
    if 2 * few >= number - 1:
        return 1.0
    # From the largest term of the tail down, until a term changes nothing, so a million differences are quick.
    term = exp(lgamma(number + 1) - lgamma(few + 1) - lgamma(number - few + 1) - number * log(2))
    total = 0.0
    while term > total * 1e-17:
        total += term
        term *= few / (number - few + 1)
        few -= 1
    return min(1.0, 2 * total)
