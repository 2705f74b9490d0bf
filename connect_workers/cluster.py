"""A cluster of live workers in one process: they are added, stopped, killed and rolled while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import attrs

from assignment_api.connect import ConnectorTaskId
from assignment_api.plugins import Registry, effective_config
from assignor_lab.kafka.coordinator import CoordinatorState
from assignor_lab.runtime.discovery import discovered
from connect_workers.contract import HerderError
from connect_workers.group.live_group import LiveGroup
from connect_workers.group.worker_assignors import WorkerAssignors
from connect_workers.herders.distributed import DistributedHerder
from connect_workers.herders.shared import SharedParts
from connect_workers.identity import WorkerIdentity
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.plugins.connector_plugins import ConnectorPlugins
from connect_workers.settings import LiveTimings, LiveWorkerSettings

__all__ = ["ConnectCluster", "LiveWorker", "NoSuchWorkerError"]

_logger = logging.getLogger(__name__)


class NoSuchWorkerError(HerderError):
    """There is no such worker, or there is one already."""

    status = 404


@attrs.frozen(eq=False)
class LiveWorker:
    """A worker that is up."""

    name: str
    worker_id: str
    url: str
    settings: LiveWorkerSettings
    herder: DistributedHerder
    running: asyncio.Task[None]


class ConnectCluster:
    """The cluster.

    Use it with ``async with``; all methods are for its event loop's thread.

    Args:
        timings: Durations, for workers that have none of their own, and for the group.
        plugins: Connectors that can be run; those of installed plugins if not given.
        registry: Plugins; all installed ones if not given.
        host: Host in workers' ids and URLs.
        offset_flush_interval_ms: ``offset.flush.interval.ms``.

    Raises:
        StorageError: if the directory cannot be used.
    """

    def __init__(
        self,
        data_dir: Path,
        timings: LiveTimings | None = None,
        plugins: ConnectorPlugins | None = None,
        registry: Registry | None = None,
        assignor: str | None = None,
        host: str = "127.0.0.1",
        offset_flush_interval_ms: int = 1_000,
    ) -> None:
        found = registry or discovered(effective_config()).registry
        self.timings = timings or LiveTimings()
        self.plugins = plugins or ConnectorPlugins.from_registry(found)
        self._assignors = WorkerAssignors(found, assignor)
        self._host = host
        self.logs = ClusterLogs(data_dir, offset_flush_interval_ms)
        self.group = LiveGroup(self.logs.clock, self.timings.initial_rebalance_delay_ms)
        self.workers: dict[str, LiveWorker] = {}

    async def __aenter__(self) -> Self:
        self.logs.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stops all workers in order, and lets others use the directory."""
        await asyncio.gather(*(self.stop_worker(name) for name in list(self.workers)))
        self.group.close()
        await asyncio.to_thread(self.logs.close)

    # --- workers --------------------------------------------------------------------------------------

    def add_worker(self, name: str, port: int, settings: LiveWorkerSettings | None = None) -> LiveWorker:
        """Starts a worker.

        Raises:
            NoSuchWorkerError: if there is one of this name or port.
        """
        worker_id = f"{self._host}:{port}"
        if name in self.workers or any(worker.worker_id == worker_id for worker in self.workers.values()):
            raise NoSuchWorkerError(f"there is a worker {name!r:.80} or one at {worker_id} already")
        chosen = settings or LiveWorkerSettings(timings=self.timings)
        url = f"http://{worker_id}/"
        # Members have their worker's id in theirs, and no two lives of a worker are the same member.
        process = f"connect-{worker_id}-{secrets.token_hex(8)}"
        shared = SharedParts(self.logs, self.group, self.plugins)
        herder = DistributedHerder(WorkerIdentity(process, worker_id, url), chosen, shared, self._assignors, self._put)
        running = asyncio.create_task(herder.run(), name=f"worker {name}")
        worker = LiveWorker(name, worker_id, url, chosen, herder, running)
        self.workers[name] = worker
        running.add_done_callback(lambda ended: self._ended(worker, ended))
        return worker

    async def stop_worker(self, name: str) -> None:
        """Stops a worker in order: it stops its work, then leaves.

        Raises:
            NoSuchWorkerError: if there is none of this name.
        """
        worker = self.worker(name)
        worker.herder.stop()
        with contextlib.suppress(asyncio.CancelledError):
            await worker.running

    def kill_worker(self, name: str) -> None:
        """A worker is gone at once, without a word to the group.

        Raises:
            NoSuchWorkerError: if there is none of this name.
        """
        worker = self.worker(name)
        worker.herder.killed()
        worker.running.cancel()
        self._gone(worker)

    async def roll_worker(self, name: str, settings: LiveWorkerSettings | None = None) -> LiveWorker:
        """Stops a worker in order and starts it again at the same place.

        Raises:
            NoSuchWorkerError: if there is none of this name.
        """
        worker = self.worker(name)
        await self.stop_worker(name)
        port = int(worker.worker_id.rpartition(":")[2])
        return self.add_worker(name, port, settings or worker.settings)

    def worker(self, name: str) -> LiveWorker:
        """The worker of this name.

        Raises:
            NoSuchWorkerError: if there is none.
        """
        worker = self.workers.get(name)
        if worker is None:
            raise NoSuchWorkerError(f"there is no worker {name!r:.80}: there are {', '.join(self.workers) or 'none'}")
        return worker

    def _ended(self, worker: LiveWorker, ended: asyncio.Task[None]) -> None:
        if not ended.cancelled() and ended.exception() is not None:
            _logger.error("worker %s has ended", worker.name, exc_info=ended.exception())
            worker.herder.killed()
        self._gone(worker)

    def _gone(self, worker: LiveWorker) -> None:
        if self.workers.get(worker.name) is worker:
            del self.workers[worker.name]

    async def _put(self, url: str, name: str, configs: Sequence[Mapping[str, str]]) -> None:
        for worker in self.workers.values():
            if worker.url == url:
                await worker.herder.put_task_configs(name, configs)
                return
        raise HerderError(f"the leader at {url} cannot be reached")

    # --- state -----------------------------------------------------------------------------------------

    def leader(self) -> LiveWorker | None:
        return next((worker for worker in self.workers.values() if worker.herder.loop.membership.state.is_leader), None)

    def owners(self) -> dict[str | ConnectorTaskId, list[str]]:
        owners: dict[str | ConnectorTaskId, list[str]] = {}
        for worker in self.workers.values():
            held = worker.herder.loop.membership.state.held
            if held is not None:
                jobs: list[str | ConnectorTaskId] = [*held.connectors, *held.tasks]
                for job in jobs:
                    owners.setdefault(job, []).append(worker.name)
        return owners

    def unrest(self) -> list[str]:
        """Reasons why the cluster is not at rest: empty if all workers are members and nothing is planned."""
        if not self.workers:
            return []
        found = [f"{worker.name}: {each}" for worker in self.workers.values() for each in worker.herder.unrest()]
        if self.group.state is not CoordinatorState.STABLE:
            found.append(f"the group is {self.group.state.value}")
        if len(self.group.members()) != len(self.workers):
            found.append(
                f"the group has {len(self.group.members())} members, and there are {len(self.workers)} workers"
            )
        return found

    def is_calm(self) -> bool:
        return not self.unrest()

    async def until_calm(self, timeout_s: float = 30.0) -> None:
        """Waits until it is at rest.

        Raises:
            TimeoutError: if it does not come to rest; the message has the reasons.
        """
        end = self.logs.clock.now_ms() + timeout_s * 1000
        while unrest := self.unrest():
            if self.logs.clock.now_ms() > end:
                raise TimeoutError(f"not at rest after {timeout_s:g} s: {'; '.join(unrest)}")
            await asyncio.sleep(0.01)
