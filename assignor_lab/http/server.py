"""Serves the application on a socket of its own, with bounds for each connection."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import attrs
import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from assignor_lab.http.errors import BindError
from assignor_lab.http.settings import HttpSettings

__all__ = ["HttpServer", "listening_socket", "serve"]


#: A connection that has sent no head for so many seconds gives way to a new one where there are too many.
SILENT_S = 1.0


@attrs.frozen
class HttpServer:
    """A running server."""

    url: str
    _server: uvicorn.Server
    _serving: asyncio.Task[None]

    async def stopped(self) -> None:
        await asyncio.wait([self._serving])

    def stop(self) -> None:
        """Takes no more requests, and lets running ones end; the context of :func:`serve` waits for it.

        The address is free at once.
        """
        for listening in getattr(self._server, "servers", ()):
            listening.close()
        self._server.should_exit = True

    def abort(self) -> None:
        """Drops every connection at once, as a killed process would; the address is free at once."""
        self.stop()
        self._server.force_exit = True
        for connection in list(self._server.server_state.connections):
            transport = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one.

    Raises:
        BindError: if the address is not to be had.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        raise BindError(
            f"Cannot listen at {host} port {port}: {error.strerror or error}; choose another --port or --host"
        ) from error


@contextlib.asynccontextmanager
async def serve(
    app: ASGIApp, listener: socket.socket, settings: HttpSettings | None = None
) -> AsyncIterator[HttpServer]:
    settings = settings or HttpSettings()
    server = _Server(
        uvicorn.Config(
            app,
            http=_protocol(settings),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=5,
            h11_max_incomplete_event_size=settings.max_header_bytes,
        )
    )
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        yield HttpServer(url, server, task)
    finally:
        server.should_exit = True
        await task
        listener.close()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves the process's signals to the caller, which may run several servers."""
        yield


def _protocol(settings: HttpSettings) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP/1.1 with bounds on connections and a head's time. Malformed requests get Connect's error body."""
    #: Connections whose head is awaited, to the moment since when; the oldest first.
    silent: dict[Bounded, float] = {}

    class Bounded(H11Protocol):
        _head_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > settings.max_connections and not self._takes_a_place():
                self._refuse(503, "HTTP 503 Service Unavailable")
            else:
                self._expect_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._head_came()
            elif self._head_timer is None and self.conn.trailing_data[0]:
                self._expect_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._head_came()
            super().connection_lost(exc)

        def _takes_a_place(self) -> bool:
            """Closes the connection that has been silent for longest, if that is long enough."""
            oldest = next(iter(silent), None)
            if oldest is None or self.loop.time() - silent[oldest] < SILENT_S:
                return False
            oldest._head_came()
            oldest._refuse(408, "HTTP 408 Request Timeout")
            return True

        def _expect_head(self) -> None:
            silent[self] = self.loop.time()
            self._head_timer = self.loop.call_later(settings.header_timeout_s, self._head_overdue)

        def _head_came(self) -> None:
            silent.pop(self, None)
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None

        def _head_overdue(self) -> None:
            if not self.transport.is_closing():
                self._refuse(408, "HTTP 408 Request Timeout")

        def send_400_response(self, msg: str) -> None:
            if len(self.conn.trailing_data[0]) > settings.max_header_bytes:
                self._refuse(431, "HTTP 431 Request Header Fields Too Large")
            else:
                self._refuse(400, f"HTTP 400 Bad Request: {msg}")

        def _refuse(self, status: int, message: str) -> None:
            # Something was sent already: all that is left is to hang up.
            if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                body = json.dumps({"error_code": status, "message": message}, separators=(",", ":")).encode()
                reason = message.partition(":")[0].removeprefix(f"HTTP {status} ")
                self.transport.write(
                    f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                    + body
                )
            self.transport.close()

    return Bounded
