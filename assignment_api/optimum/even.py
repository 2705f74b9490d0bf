"""Loads that fit by arithmetic alone: the bounds of ``balance`` and ``fill`` before any search.

Loads for each thread are exact fractions, so a bound is never missed by rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["best_balance", "best_fill", "load_limits", "next_balance", "next_fill", "not_above", "not_below"]


def best_balance(threads: Sequence[int], tasks: int) -> Fraction:
    """The smallest load for a thread with room for ``tasks`` tasks of weight 1 on processes with these threads."""
    limit = Fraction(tasks, max(sum(threads), 1))
    while sum(math.floor(limit * each) for each in threads) < tasks:
        limit = next_balance(threads, limit)
    return limit


def best_fill(threads: Sequence[int], tasks: int) -> Fraction:
    """The largest load for a thread that all processes can reach with ``tasks`` tasks of weight 1."""
    limit = Fraction(tasks, max(sum(threads), 1))
    while sum(math.ceil(limit * each) for each in threads) > tasks:
        limit = next_fill(threads, limit)
    return limit


def next_balance(threads: Sequence[int], limit: Fraction) -> Fraction:
    """The smallest possible load of whole weights for a thread above ``limit``."""
    return min(Fraction(math.floor(limit * each) + 1, each) for each in set(threads))


def next_fill(threads: Sequence[int], limit: Fraction) -> Fraction:
    """The largest possible load of whole weights for a thread below ``limit``."""
    return max(Fraction(math.ceil(limit * each) - 1, each) for each in set(threads))


def not_below(threads: Sequence[int], bound: float) -> Fraction:
    """The smallest possible load of whole weights for a thread that is not below a bound of a solver."""
    return min(Fraction(max(math.ceil(bound * each - 1e-6), 0), each) for each in set(threads))


def not_above(threads: Sequence[int], bound: float) -> Fraction:
    """The largest possible load of whole weights for a thread that is not above a bound of a solver."""
    return max(Fraction(max(math.floor(bound * each + 1e-6), 0), each) for each in set(threads))


def load_limits(threads: Sequence[int], limit: float | Fraction, kind: str, *, is_whole: bool) -> list[float]:
    """The largest (or smallest) load of each process for a limit of ``balance`` (or ``fill``)."""
    if isinstance(limit, int):
        limit = Fraction(limit)
    if not isinstance(limit, Fraction):
        slack = 1e-9 * max(1.0, abs(limit))
        limit = limit + slack if kind == "balance" else limit - slack
    if not is_whole:
        return [float(limit * each) for each in threads]
    rounded = math.floor if kind == "balance" else math.ceil
    return [float(rounded(limit * each)) for each in threads]
