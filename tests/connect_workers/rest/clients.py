"""Clients of an application without a socket."""

from __future__ import annotations

from typing import Any

import httpx
from starlette.types import ASGIApp

from connect_workers.contract import Herder
from connect_workers.rest import RestSettings, create_app


def client_of(app: ASGIApp, base: str = "http://127.0.0.1:8083") -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=base)


async def ask(
    herder: Herder, method: str, path: str, *, settings: RestSettings | None = None, **more: Any
) -> httpx.Response:
    async with client_of(create_app(herder, settings)) as client:
        return await client.request(method, path, **more)
