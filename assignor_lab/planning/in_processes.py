"""Numbered work that several processes of this machine share."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

__all__ = ["in_processes"]

V = TypeVar("V")


def in_processes(work: Callable[[int], V], count: int, processes: int) -> Iterator[V]:
    """Yields ``work(0)`` to ``work(count - 1)`` in this order.

    Args:
        work: Anything that can be called; children inherit it.
        count: How often it is called.
        processes: Processes that share the calls.
    """
    processes = min(processes, count)
    if processes <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(work, range(count))
        return
    # Children inherit the group and the plugins: neither can be sent to a process of its own.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), _begins, (work,))
    try:
        yield from pool.map(_of_child, range(count))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    # All calls are over. Without a wait, Python's own thread of the pool can write to a pipe that is closed.
    pool.shutdown()


#: Work of a child process, inherited from its parent.
_work: list[Callable[[int], Any]] = []


def _begins(work: Callable[[int], Any]) -> None:
    # Ctrl-C reaches all processes of a terminal; the parent alone decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _work[:] = [work]


def _of_child(number: int) -> Any:
    return _work[0](number)
