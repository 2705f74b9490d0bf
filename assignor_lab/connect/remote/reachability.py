"""Reachability of workers, by connections only: no data is sent."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Sequence

from assignor_lab.connect.remote.urls import ConnectUrl, parse_worker_id

__all__ = ["reachable", "same_place"]

_TIMEOUT_S = 2.0
_AT_ONCE, _MOST = 32, 500

_Addresses = frozenset[str]


async def reachable(worker_ids: Sequence[str]) -> dict[str, str | None]:
    limit = asyncio.Semaphore(_AT_ONCE)

    async def ask(worker_id: str) -> str | None:
        async with limit:
            return await _refusal(worker_id)

    tried = worker_ids[:_MOST]
    found = dict(zip(tried, await asyncio.gather(*map(ask, tried)), strict=True))
    return {worker_id: found.get(worker_id, "not tried: too many workers") for worker_id in worker_ids}


async def _refusal(worker_id: str) -> str | None:
    place = parse_worker_id(worker_id)
    if place is None:
        return "is no host and port"
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            _, writer = await asyncio.open_connection(*place)
    except TimeoutError:
        return f"takes no connection within {_TIMEOUT_S:g} s"
    except (OSError, UnicodeError) as error:
        return _said(error)
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return None


def _said(error: OSError | UnicodeError) -> str:
    number = error.errno if isinstance(error, OSError) and not isinstance(error, socket.gaierror) else None
    if number is None:
        return "cannot be reached: its name is not known here" if isinstance(error, socket.gaierror) else "is no host"
    return f"takes no connection ({os.strerror(number)})"


async def same_place(urls: Sequence[ConnectUrl], worker_ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """The workers behind the URLs; REST does not report the id of the worker that answers.

    A URL leads to the worker of the same port whose host has the same address. If there is none, it is a worker without
    jobs if it shares the address of another worker or every worker's port; otherwise it may be a load balancer, which a
    note reports.
    """
    known = {worker: place for worker in worker_ids if (place := parse_worker_id(worker)) is not None}
    addresses = await _addresses([*(url.host for url in urls), *(host for host, _ in known.values())])
    found: dict[str, None] = {}
    notes = []
    for url in urls:
        own = addresses[url.host]
        there = [name for name, (host, port) in known.items() if port == url.port and _meet(own, addresses[host])]
        if there:
            found.update(dict.fromkeys(there[:1]))
        elif not worker_ids or any(_meet(own, addresses[host]) for host, _ in known.values()):
            found[f"[{url.host}]:{url.port}" if ":" in url.host else f"{url.host}:{url.port}"] = None
        else:
            notes.append(
                f"{url} answers, but under the address of no worker that a state names: a worker without jobs, or a "
                "load balancer; it is not counted"
            )
    return list(found), notes


def _meet(one: _Addresses, other: _Addresses) -> bool:
    return not one.isdisjoint(other)


async def _addresses(hosts: Sequence[str]) -> dict[str, _Addresses]:
    loop = asyncio.get_running_loop()
    limit = asyncio.Semaphore(_AT_ONCE)

    async def resolve(host: str) -> _Addresses:
        async with limit:
            try:
                async with asyncio.timeout(_TIMEOUT_S):
                    found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            except (OSError, UnicodeError):
                return frozenset((host.lower(),))
            return frozenset((host.lower(), *(str(address[4][0]) for address in found)))

    distinct = list(dict.fromkeys(hosts))
    return dict(zip(distinct, await asyncio.gather(*map(resolve, distinct)), strict=True))
