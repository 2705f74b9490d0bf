"""Waits for the herder as long as Connect does, and forwards requests to other workers.

Kafka: ``connect.runtime.rest``.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Awaitable, Mapping
from typing import TypeVar

import attrs

from connect_workers import contract as h
from connect_workers.rest.answers import RestError
from connect_workers.rest.forwarding import Forwarded, Forwarder

__all__ = ["Hop", "complete", "complete_or_forward", "stage_text"]

T = TypeVar("T")

_TWO_HOPS = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
_NO_LEADER = "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway."
_STALE = (
    "Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config change)"
)
_EXPECTED = "Request cannot be completed because a rebalance is expected"


@attrs.frozen
class Hop:
    """The request as another worker would get it.

    Args:
        forward: Its ``forward`` parameter; ``None`` comes from a client, ``True`` may go on once more.
    """

    method: str
    path: str
    forward: bool | None
    authorization: str | None
    query: Mapping[str, str] = attrs.field(factory=dict)
    body: bytes | None = None


async def complete(worker: h.Herder, answer: Awaitable[T], limit_s: float) -> T:
    """Waits for the herder.

    Raises:
        RestError: with status 500: after ``limit_s``, and while a rebalance is expected.
        HerderError: the herder's refusal.
    """
    try:
        return await _within(worker, answer, limit_s)
    except h.RebalanceExpectedError as error:
        # Reads do not pass through the helper that makes a 409 of this (Kafka: ``connect.runtime.rest``).
        raise RestError(500, _EXPECTED) from error


async def complete_or_forward(
    worker: h.Herder, answer: Awaitable[T], limit_s: float, forwarder: Forwarder, hop: Hop
) -> T | Forwarded:
    """Waits for the herder, and forwards the request if it names another worker.

    Two hops at most: the first with ``forward=true``, the second with ``forward=false``.

    Raises:
        RestError: with status 409 while a rebalance is expected, if no worker is known, or after two hops; 500
            after ``limit_s`` and if the other worker cannot be reached; the other worker's error.
        HerderError: the herder's refusal.
    """
    try:
        return await _within(worker, answer, limit_s)
    except h.RebalanceExpectedError as error:
        raise RestError(409, _STALE) from error
    except (h.NotLeaderError, h.NotAssignedError) as error:
        if hop.forward is False:
            raise RestError(409, _TWO_HOPS) from error
        if error.forward_url is None:
            raise RestError(409, _NO_LEADER) from error
        url = error.forward_url
    again = "true" if hop.forward is None else "false"
    return await forwarder.send(
        hop.method, url, hop.path, {**hop.query, "forward": again}, hop.body, hop.authorization, limit_s
    )


async def _within(worker: h.Herder, answer: Awaitable[T], limit_s: float) -> T:
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            return await answer
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise RestError(500, f"Request timed out. {stage_text(worker.stage)}") from error


def stage_text(stage: h.WorkerStage) -> str:
    started = _instant(stage.started_ms)
    if stage.completed_ms is None:
        return f"The worker is currently {stage.description}, which began at {started}."
    return (
        f"The last operation the worker completed was {stage.description}, which began at {started} and completed at "
        f"{_instant(stage.completed_ms)}."
    )


def _instant(ms: int) -> str:
    moment = dt.datetime.fromtimestamp(ms // 1000, dt.UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{moment}Z" if ms % 1000 == 0 else f"{moment}.{ms % 1000:03}Z"
