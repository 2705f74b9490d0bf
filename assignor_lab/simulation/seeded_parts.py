"""Work for many seeds, part by part, in one process or several."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

__all__ = ["PART", "parts_of_seeds"]

#: Seeds that are worked on between two words to the caller.
PART = 50

_T = TypeVar("_T")


def parts_of_seeds(
    work: Callable[[range], _T], number: int, seed: int, processes: int = 1, part: int = PART
) -> Iterator[_T]:
    """What ``work`` makes of the seeds ``seed``, ``seed + 1`` and so on, part by part, in their order.

    Args:
        work: A function that other processes can import, or a ``functools.partial`` of one.
        number: How many seeds.
        seed: The first one.
        processes: How many processes share them; what comes of them does not depend on it.
        part: How many seeds are a part.
    """
    end = seed + number
    parts = [range(first, min(first + part, end)) for first in range(seed, end, part)]
    if processes <= 1 or len(parts) == 1:
        yield from map(work, parts)
        return
    # A process of its own makes everything anew: nothing of this one, threads included, is taken over.
    pool = ProcessPoolExecutor(min(processes, len(parts)), multiprocessing.get_context("spawn"))
    try:
        yield from pool.map(work, parts)
    finally:
        pool.shutdown(cancel_futures=True)
