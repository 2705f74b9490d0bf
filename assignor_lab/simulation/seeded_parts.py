"""Work for many seeds, part by part, in one process or several."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

__all__ = ["PART", "parts_of_seeds"]

PART = 50

_T = TypeVar("_T")


def parts_of_seeds(
    work: Callable[[range], _T], number: int, seed: int, processes: int = 1, part: int = PART
) -> Iterator[_T]:
    """Results of ``work`` for the seeds ``seed``, ``seed + 1`` and so on, part by part, in their order.

    Args:
        work: An importable function, or a ``functools.partial`` of one.
        processes: Number of processes; the results do not depend on it.
    """
    end = seed + number
    parts = [range(first, min(first + part, end)) for first in range(seed, end, part)]
    if processes <= 1 or len(parts) == 1:
        yield from map(work, parts)
        return
    # A spawned process inherits nothing of this one, not even threads.
    pool = ProcessPoolExecutor(min(processes, len(parts)), multiprocessing.get_context("spawn"))
    try:
        yield from pool.map(work, parts)
    finally:
        pool.shutdown(cancel_futures=True)
