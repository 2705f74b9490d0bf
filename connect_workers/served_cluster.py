"""A cluster whose workers each have their REST interface on a port of their own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket

import attrs

from assignor_lab.http.server import HttpServer, listening_socket, serve
from connect_workers.cluster import ConnectCluster, LiveWorker
from connect_workers.rest import RestSettings, create_app
from connect_workers.settings import LiveWorkerSettings

__all__ = ["ServedCluster", "advertised_host", "answering_to"]

_logger = logging.getLogger(__name__)


def advertised_host(host: str) -> str:
    """Host for ids and URLs of workers that listen there: as in Kafka the machine's name, if they listen everywhere."""
    if host in ("", "0.0.0.0", "::"):  # noqa: S104 - it is only compared
        host = socket.gethostname()
    return f"[{host}]" if ":" in host else host


def answering_to(host: str, settings: RestSettings) -> RestSettings:
    """Settings with which workers that listen at ``host`` answer to the name that they advertise."""
    return attrs.evolve(settings, allowed_hosts=(*settings.allowed_hosts, advertised_host(host).strip("[]")))


@attrs.define
class _ServedWorker:
    """The server of one worker."""

    task: asyncio.Task[None]
    closing: asyncio.Event = attrs.field(factory=asyncio.Event)
    server: HttpServer | None = None


class ServedCluster:
    """Workers with their REST interfaces.

    For the event loop's thread.

    Args:
        host: Address to listen at.
        settings: Of the REST interfaces.
    """

    def __init__(self, cluster: ConnectCluster, host: str = "127.0.0.1", settings: RestSettings | None = None) -> None:
        self.cluster = cluster
        self._host, self._settings = host, answering_to(host, settings or RestSettings())
        self._doors: dict[str, _ServedWorker] = {}
        self._named = 0

    async def add(
        self, port: int = 0, settings: LiveWorkerSettings | None = None, name: str | None = None
    ) -> LiveWorker:
        """Starts a worker; port 0 takes a free one, and without a name it is called ``w`` and a number.

        Raises:
            BindError: if the port is not to be had.
            NoSuchWorkerError: if there is one of this name.
        """
        while name is None:
            self._named += 1
            if f"w{self._named}" not in self.cluster.workers:
                name = f"w{self._named}"
        listener = listening_socket(self._host, port)
        try:
            bound: int = listener.getsockname()[1]
            worker = self.cluster.add_worker(name, bound, settings)
        except BaseException:
            listener.close()
            raise
        await self._open(worker, listener)
        return worker

    async def stop(self, name: str) -> None:
        """Stops a worker in order. Raises ``NoSuchWorkerError`` if there is none."""
        await self.cluster.stop_worker(name)
        await self._close(name)

    async def kill(self, name: str) -> None:
        """A worker is gone at once. Raises ``NoSuchWorkerError`` if there is none."""
        self.cluster.kill_worker(name)
        door = self._doors.get(name)
        if door is not None and door.server is not None:
            door.server.abort()
        await self._close(name)

    async def roll(self, name: str, settings: LiveWorkerSettings | None = None) -> LiveWorker:
        """Stops a worker in order and starts it again on its port, with other settings if given.

        Raises:
            NoSuchWorkerError: if there is none.
            BindError: if its port was taken meanwhile.
        """
        worker = self.cluster.worker(name)
        port = int(worker.worker_id.rpartition(":")[2])
        await self.stop(name)
        return await self.add(port, settings or worker.settings, name)

    async def close(self) -> None:
        """Stops every worker in order."""
        await asyncio.gather(*(self.stop(name) for name in list(self.cluster.workers)))
        for name in list(self._doors):
            await self._close(name)

    # --- inside ---------------------------------------------------------------------------------------

    async def _open(self, worker: LiveWorker, listener: socket.socket) -> None:
        opened = asyncio.Event()

        async def stand_open() -> None:
            app = create_app(worker.herder, self._settings)
            try:
                async with serve(app, listener, self._settings) as server:
                    door.server = server
                    opened.set()
                    await door.closing.wait()
            finally:
                opened.set()

        door = _ServedWorker(asyncio.create_task(stand_open(), name=f"REST of {worker.name}"))
        self._doors[worker.name] = door
        # A worker may also end by itself.
        worker.running.add_done_callback(lambda _: door.closing.set())
        await opened.wait()

    async def _close(self, name: str) -> None:
        door = self._doors.pop(name, None)
        if door is not None:
            door.closing.set()
            with contextlib.suppress(asyncio.CancelledError):
                await door.task
