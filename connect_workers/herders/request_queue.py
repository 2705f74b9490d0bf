"""The queue of requests to a herder, by time and then in order of arrival (Kafka: ``DistributedHerder.tick``)."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from connect_workers.clock import Clock
from connect_workers.contract import HerderError

__all__ = ["RequestQueue", "ShuttingDownError"]

_logger = logging.getLogger(__name__)

T = TypeVar("T")


class ShuttingDownError(HerderError):
    """The worker is about to end."""


class RequestQueue:
    """The queue.

    For the event loop's thread.
    """

    def __init__(self, clock: Clock, wake: Callable[[], None]) -> None:
        self._clock, self._wake = clock, wake
        self._numbers = itertools.count()
        self._waiting: list[tuple[int, int, Callable[[], Awaitable[Any]], asyncio.Future[Any]]] = []
        self._closed = False

    async def ask(self, action: Callable[[], Awaitable[T]]) -> T:
        """Has the herder carry out ``action``, and waits for the result.

        Raises:
            ShuttingDownError: if the worker ends before.
            HerderError: the error of ``action``.
        """
        answer: T = await self._added(action, 0)
        return answer

    def later(self, action: Callable[[], Awaitable[None]], delay_ms: int = 0) -> None:
        """Has the herder carry out ``action`` after a delay; the result is dropped."""
        future = self._added(action, delay_ms)
        future.add_done_callback(_log_failure)

    def _added(self, action: Callable[[], Awaitable[Any]], delay_ms: int) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._closed:
            future.set_exception(ShuttingDownError("Worker is shutting down"))
            return future
        heapq.heappush(self._waiting, (self._clock.now_ms() + delay_ms, next(self._numbers), action, future))
        self._wake()
        return future

    @property
    def next_ms(self) -> int | None:
        return self._waiting[0][0] if self._waiting else None

    async def run_due(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._clock.now_ms():
            _, _, action, future = heapq.heappop(self._waiting)
            try:
                answer = await action()
            except HerderError as error:
                _settle(future, error)
            except asyncio.CancelledError:
                # The worker is killed while it carries out the request: its caller must not wait for ever.
                _settle(future, ShuttingDownError("Worker is shutting down"))
                raise
            except Exception as error:
                _logger.exception("a request failed")
                _settle(future, HerderError(f"{type(error).__name__}: {error}"))
            else:
                if not future.done():
                    future.set_result(answer)

    def close(self) -> None:
        """Refuses waiting and later requests."""
        self._closed = True
        for _, _, _, future in self._waiting:
            _settle(future, ShuttingDownError("Worker is shutting down"))
        self._waiting.clear()


def _settle(future: asyncio.Future[Any], error: HerderError) -> None:
    if not future.done():
        future.set_exception(error)


def _log_failure(future: asyncio.Future[Any]) -> None:
    error = None if future.cancelled() else future.exception()
    if error is not None and not isinstance(error, ShuttingDownError):
        _logger.warning("%s", error)
