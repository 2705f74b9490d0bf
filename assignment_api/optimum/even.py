"""Bounds of ``balance`` and ``fill`` by arithmetic, in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["best_balance", "best_fill", "load_limits", "next_balance", "next_fill", "not_above", "not_below"]


def best_balance(threads: Sequence[int], tasks: int) -> Fraction:
    """Smallest load per thread with room for ``tasks`` tasks of weight 1."""
    limit = Fraction(tasks, max(sum(threads), 1))
    while sum(_floor(limit, each) for each in threads) < tasks:
        limit = next_balance(threads, limit)
    return limit


def best_fill(threads: Sequence[int], tasks: int) -> Fraction:
    """Largest load per thread that all processes reach with ``tasks`` tasks of weight 1."""
    limit = Fraction(tasks, max(sum(threads), 1))
    while sum(_ceil(limit, each) for each in threads) > tasks:
        limit = next_fill(threads, limit)
    return limit


def next_balance(threads: Sequence[int], limit: Fraction) -> Fraction:
    """Next possible load of whole weights per thread above ``limit``."""
    return min(Fraction(_floor(limit, each) + 1, each) for each in set(threads))


def next_fill(threads: Sequence[int], limit: Fraction) -> Fraction:
    """Next possible load of whole weights per thread below ``limit``."""
    return max(Fraction(_ceil(limit, each) - 1, each) for each in set(threads))


def not_below(threads: Sequence[int], bound: float) -> Fraction:
    """Smallest possible load of whole weights per thread, not below a solver's bound."""
    return min(Fraction(max(math.ceil(bound * each - 1e-6), 0), each) for each in set(threads))


def not_above(threads: Sequence[int], bound: float) -> Fraction:
    """Largest possible load of whole weights per thread, not above a solver's bound."""
    return max(Fraction(max(math.floor(bound * each + 1e-6), 0), each) for each in set(threads))


def load_limits(threads: Sequence[int], limit: float | Fraction, kind: str, *, is_whole: bool) -> list[float]:
    """Largest (smallest) load of each process for a limit of ``balance`` (``fill``)."""
    if isinstance(limit, int):
        limit = Fraction(limit)
    if not isinstance(limit, Fraction):
        slack = 1e-9 * max(1.0, abs(limit))
        limit = limit + slack if kind == "balance" else limit - slack
    if not is_whole:
        return [float(limit * each) for each in threads]
    exact = Fraction(limit)
    rounded = _floor if kind == "balance" else _ceil
    return [float(rounded(exact, each)) for each in threads]


def _floor(limit: Fraction, threads: int) -> int:
    """``floor(limit * threads)`` in whole numbers: products of fractions are slow."""
    return limit.numerator * threads // limit.denominator


def _ceil(limit: Fraction, threads: int) -> int:
    return -(-limit.numerator * threads // limit.denominator)
