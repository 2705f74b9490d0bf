from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs

from assignment_api.connect import ConnectorTaskId, ConnectProtocol, StaticJobs
from assignment_api.connectors import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    SinkConnector,
    SinkRecord,
    SinkTask,
    SourceConnector,
    SourceRecord,
    SourceTask,
    Task,
)
from assignment_api.plugins import discover
from connect_workers.cluster import ConnectCluster
from connect_workers.connectors import (
    FailingSourceConnector,
    FileSinkConnector,
    FileSourceConnector,
    GeneratorSourceConnector,
)
from connect_workers.contract import BadRequestError, ConflictError, HerderError, NotFoundError
from connect_workers.herders.distributed import DistributedHerder
from connect_workers.plugins.connector_plugins import ConnectorPlugins, connector_kind
from connect_workers.settings import LiveTimings, LiveWorkerSettings

TIMINGS = LiveTimings(
    heartbeat_interval_ms=30,
    session_timeout_ms=2_000,
    rebalance_timeout_ms=10_000,
    initial_rebalance_delay_ms=40,
    task_shutdown_graceful_timeout_ms=1_000,
    connector_shutdown_graceful_timeout_ms=1_000,
    reconfigure_backoff_ms=20,
)


class Witness:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.running: set[str] = set()
        self.twice: list[str] = []
        self.starts: list[str] = []
        self.on_twice: Callable[[str], None] = self.twice.append

    def begin(self, name: str) -> None:
        with self._lock:
            if name in self.running:
                self.on_twice(name)
            self.running.add(name)
            self.starts.append(name)

    def end(self, name: str) -> None:
        with self._lock:
            self.running.discard(name)


WITNESS = Witness()


class TrackedTask(SourceTask):
    def start(self, config: Mapping[str, str]) -> None:
        self.name = f"{self.context.name}-{self.context.number}"
        self.topic = config["topic"]
        WITNESS.begin(self.name)

    def poll(self) -> Sequence[SourceRecord]:
        self.context.wait(0.3)
        return ()

    def stop(self) -> None:
        WITNESS.end(self.name)


class TrackedSource(SourceConnector):
    version: ClassVar[str] = "7"
    task_class: ClassVar[type[Task]] = TrackedTask

    @classmethod
    def config_def(cls) -> ConfigDef:
        return ConfigDef([ConfigKey("topic", ConfigType.STRING, "A topic.", default="t")])

    def start(self, config: Mapping[str, str]) -> None:
        self.config = {"topic": "t", **config}
        WITNESS.begin(self.context.name)

    def stop(self) -> None:
        WITNESS.end(self.context.name)

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        return [self.config] * max_tasks


class CollectingTask(SinkTask):
    collected: ClassVar[list[SinkRecord]] = []

    def put(self, records: Sequence[SinkRecord]) -> None:
        self.collected.extend(records)


class CollectingSink(SinkConnector):
    version: ClassVar[str] = "7"
    task_class: ClassVar[type[Task]] = CollectingTask

    @classmethod
    def config_def(cls) -> ConfigDef:
        return ConfigDef([])

    def start(self, config: Mapping[str, str]) -> None:
        self.config = config

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        return [self.config] * max_tasks


REGISTRY = discover()
PLUGINS = ConnectorPlugins(
    [
        connector_kind("tracked", TrackedSource),
        connector_kind("collecting", CollectingSink),
        connector_kind("generator", GeneratorSourceConnector),
        connector_kind("failing", FailingSourceConnector),
        connector_kind("file_source", FileSourceConnector, ["org.apache.kafka.connect.file.FileStreamSourceConnector"]),
        connector_kind("file_sink", FileSinkConnector, ["org.apache.kafka.connect.file.FileStreamSinkConnector"]),
    ]
)


def settings(
    protocol: ConnectProtocol = ConnectProtocol.SESSIONED,
    *,
    connectors: str | None = None,
    tasks: str | None = None,
    delay_ms: int = 0,
    **timings: int,
) -> LiveWorkerSettings:
    static = StaticJobs.from_config({"static.connectors": connectors, "static.tasks": tasks})
    return LiveWorkerSettings(protocol, delay_ms, static, timings=attrs.evolve(TIMINGS, **timings))


@contextlib.asynccontextmanager
async def cluster(
    path: Path, workers: int = 1, each: LiveWorkerSettings | None = None, **options: Any
) -> AsyncIterator[ConnectCluster]:
    async with ConnectCluster(
        path, TIMINGS, options.pop("plugins", PLUGINS), REGISTRY, offset_flush_interval_ms=50, **options
    ) as made:
        for number in range(workers):
            made.add_worker(f"w{number}", 18_083 + number, each or settings())
        await made.until_calm()
        yield made


def leader(made: ConnectCluster) -> DistributedHerder:
    worker = made.leader()
    assert worker is not None
    return worker.herder


def follower(made: ConnectCluster) -> DistributedHerder:
    return next(worker.herder for worker in made.workers.values() if worker is not made.leader())


def owner(made: ConnectCluster, job: str | ConnectorTaskId) -> DistributedHerder:
    return made.workers[made.owners()[job][0]].herder


async def put(made: ConnectCluster, name: str, class_name: str, *, calm: bool = True, **config: str) -> None:
    keys = {key.replace("__", "."): value for key, value in config.items()}
    document = {"name": name, "connector.class": class_name, **keys}
    await retried(lambda: leader_or_any(made).put_connector(name, document, replace=True))
    if calm:
        await made.until_calm()


def leader_or_any(made: ConnectCluster) -> DistributedHerder:
    worker = made.leader() or next(iter(made.workers.values()))
    return worker.herder


async def retried(request: Callable[[], Any], timeout_s: float = 20.0) -> Any:
    end = time.monotonic() + timeout_s
    while True:
        try:
            return await request()
        except (BadRequestError, ConflictError, NotFoundError):
            raise
        except HerderError:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.02)


async def until(condition: Callable[[], bool], timeout_s: float = 20.0) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.01)


def states(made: ConnectCluster, name: str) -> list[str]:
    try:
        status = leader_or_any(made).connector_status(name)
    except NotFoundError:
        return []
    return [status.connector.state, *(task.state for task in status.tasks)]
