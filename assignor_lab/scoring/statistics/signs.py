"""The exact sign test: whether differences have one sign beyond chance. It needs no interval and no scipy."""

from __future__ import annotations

from math import exp, lgamma, log

__all__ = ["FEWEST_SIGNS", "is_beyond_chance", "sign_probability"]

#: Fewer differences of the same sign may be chance: 2 * 0.5 ** 5 is above 0.05.
FEWEST_SIGNS = 6
_LEVEL = 0.05


def is_beyond_chance(lower: int, higher: int) -> bool:
    """True if so uneven a split has a probability of at most 0.05."""
    return sign_probability(lower, higher) <= _LEVEL


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
