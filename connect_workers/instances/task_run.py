"""One life of a task, on a thread of its own: start, records, commits, pauses, stop.

Kafka: ``KafkaStatusBackingStore``.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import Any, Protocol

import attrs

from assignment_api.connect import ConnectorTaskId
from assignment_api.connectors import ConnectorError, ConnectorStoppedError, SinkTask, SourceTask, Task
from connect_workers.instances.connector_run import traceback_text
from connect_workers.instances.instance_events import InstanceHost
from connect_workers.logs.offsets import OffsetLog
from connect_workers.logs.run_ledger import RunLedger
from connect_workers.storage import DataDir, Partition, Topics

__all__ = ["TaskFlow", "TaskRun", "TaskSpec", "TaskSurroundings"]

#: How long a write to the offset log may take; it takes milliseconds unless the disk is in trouble.
_COMMIT_TIMEOUT_S = 30.0


class TaskSurroundings(Protocol):
    """Parts of the cluster that tasks use."""

    data: DataDir
    topics: Topics
    offsets: OffsetLog
    ledger: RunLedger
    offset_flush_interval_ms: int


class TaskFlow(Protocol):
    """The repeated step of a source or sink task."""

    def step(self) -> None:
        """Moves some records, or waits a moment."""

    def commit(self) -> None: ...


@attrs.frozen(eq=False)
class TaskSpec:
    """A task that is to run.

    Args:
        partitions: For a sink: returns topics and partitions to read. It is called repeatedly: topics appear later.
    """

    id: ConnectorTaskId
    factory: Callable[[], Task]
    version: str | None
    config: Mapping[str, str]
    partitions: Callable[[], list[tuple[str, int]]]


class TaskRun:
    """The task.

    Methods are for the event loop's thread, except those of its context.

    Args:
        paused: It is to wait before it starts.
    """

    def __init__(self, spec: TaskSpec, host: InstanceHost, around: TaskSurroundings, *, paused: bool) -> None:
        self.task, self.config, self.version = spec.id, spec.config, spec.version
        self.ended = asyncio.Event()
        self.partitions, self.around = spec.partitions, around
        self._factory, self._host = spec.factory, host
        self._changed = threading.Condition()
        self._paused, self._stopping, self._silent = paused, False, False
        self._thread = threading.Thread(target=self._live, name=f"task-{spec.id}", daemon=True)

    # --- from the event loop --------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    def pause(self, *, paused: bool) -> None:
        """Has it pause, or go on."""
        with self._changed:
            self._paused = paused
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def silence(self) -> None:
        """Gives the task up: its events, records and offsets are dropped."""
        with self._changed:
            self._silent = self._stopping = True
            self._changed.notify_all()

    # --- for the task: TaskContext --------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.task.connector

    @property
    def number(self) -> int:
        return self.task.task

    @property
    def stopping(self) -> bool:
        """Whether it is to end or to pause."""
        return self._stopping or self._paused

    def wait(self, seconds: float) -> bool:
        """Waits until it is to end or to pause."""
        with self._changed:
            return self._changed.wait_for(lambda: self.stopping, seconds)

    def file(self, path: str) -> Path:
        return self.around.data.file(path)

    def offset(self, source_partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return self.around.offsets.of_source(self.task.connector, source_partition)

    def check_alive(self) -> None:
        """Passes only while the worker has not given it up.

        Raises:
            ConnectorStoppedError: if it has.
        """
        if self._silent:
            raise ConnectorStoppedError(f"task {self.task} was given up by its worker: its results have no effect")

    def tell(self, event: str, *arguments: Any) -> None:
        def call() -> None:
            if not self._silent:
                getattr(self._host.listener, event)(*arguments)

        self._call(call)

    def _call(self, call: Callable[[], None]) -> None:
        try:
            self._host.loop.call_soon_threadsafe(call)
        except RuntimeError:
            # The loop is closed: the process is ending.
            return

    # --- the thread -----------------------------------------------------------------------------------

    def _live(self) -> None:
        number = self.around.ledger.begin(self.task, self._host.worker_id)
        failure: BaseException | None = None
        try:
            failure = self._work()
        finally:
            # After this event the worker may start another one.
            self.around.ledger.end(self.task, number)
            if failure is None:
                self.tell("on_shutdown", self.task)
            else:
                self.tell("on_failed", self.task, traceback_text(failure))
            self._call(self.ended.set)

    def _work(self) -> BaseException | None:
        task: Task | None = None
        failure: BaseException | None = None
        try:
            if self._pause_if_wanted() and not self._stopping:
                pass
            if not self._stopping:
                task = self._factory()
                task.context = self
                flow = _flow(self, task)
                task.start(dict(self.config))
                self.tell("on_running", self.task)
                self._run(flow)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
            failure = error
        try:
            if task is not None:
                task.stop()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            failure = failure or error
        return failure

    def _pause_if_wanted(self) -> bool:
        with self._changed:
            if not self._paused or self._stopping:
                return False
        self.tell("on_paused", self.task)
        with self._changed:
            self._changed.wait_for(lambda: self._stopping or not self._paused)
        return True

    def _run(self, flow: TaskFlow) -> None:
        interval = self.around.offset_flush_interval_ms / 1000
        due = time.monotonic() + interval
        while not self._stopping:
            if self._paused:
                flow.commit()
                if self._pause_if_wanted() and not self._stopping:
                    self.tell("on_running", self.task)
                continue
            flow.step()
            if time.monotonic() >= due:
                flow.commit()
                due = time.monotonic() + interval
        if not self._silent:
            flow.commit()


def _flow(run: TaskRun, task: Task) -> TaskFlow:
    if isinstance(task, SourceTask):
        return _SourceFlow(run, task)
    if isinstance(task, SinkTask):
        return _SinkFlow(run, task)
    raise ConnectorError(f"the connector's task_class made {type(task).__name__}, expected a SourceTask or SinkTask")


def _wait(future: Future[int]) -> None:
    try:
        future.result(_COMMIT_TIMEOUT_S)
    except FutureTimeoutError as error:
        raise ConnectorError(f"offsets were not written within {_COMMIT_TIMEOUT_S:g} s") from error


class _SourceFlow:
    """From the source to topics: records are on disk before their offsets are."""

    def __init__(self, run: TaskRun, task: SourceTask) -> None:
        self._run, self._task = run, task
        self._offsets: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}
        self._touched: dict[Partition, None] = {}
        self._topics: set[str] = set()

    def step(self) -> None:
        records = self._task.poll()
        if not records:
            return
        self._run.check_alive()
        self._touched.update(dict.fromkeys(self._run.around.topics.append(records)))
        for record in records:
            self._offsets[repr(sorted(record.source_partition.items()))] = (
                record.source_partition,
                record.source_offset,
            )
            if record.topic not in self._topics:
                self._topics.add(record.topic)
                self._run.tell("on_topic_used", self._run.name, record.topic, self._run.number)

    def commit(self) -> None:
        if not self._offsets:
            return
        self._run.check_alive()
        for partition in self._touched:
            partition.sync()
        _wait(self._run.around.offsets.write_source(self._run.name, self._offsets.values()))
        self._offsets.clear()
        self._touched.clear()
        self._task.commit()


class _SinkFlow:
    """From topics to the sink: offsets are committed after the sink has flushed."""

    #: How often topics and partitions are looked for, and how long an idle sink waits, in seconds.
    _LOOK_S, _IDLE_S = 1.0, 0.05

    def __init__(self, run: TaskRun, task: SinkTask) -> None:
        self._run, self._task = run, task
        self._positions: dict[tuple[str, int], int] = {}
        self._committed: dict[tuple[str, int], int] = {}
        self._look_at = 0.0

    def step(self) -> None:
        if time.monotonic() >= self._look_at:
            self._look()
        got_any = False
        for where, position in list(self._positions.items()):
            records = self._run.around.topics.partition(*where).read(position)
            if records:
                got_any = True
                self._run.check_alive()
                self._task.put(records)
                self._positions[where] = records[-1].offset + 1
            if self._run.stopping:
                return
        if not got_any:
            self._run.wait(self._IDLE_S)

    def _look(self) -> None:
        self._look_at = time.monotonic() + self._LOOK_S
        for where in self._run.partitions():
            if where not in self._positions:
                committed = self._run.around.offsets.of_sink(self._run.name, *where) or 0
                self._positions[where] = self._committed[where] = committed
                self._run.tell("on_topic_used", self._run.name, where[0], self._run.number)

    def commit(self) -> None:
        ahead = [(*where, at) for where, at in self._positions.items() if at != self._committed[where]]
        if not ahead:
            return
        self._run.check_alive()
        self._task.flush()
        self._run.check_alive()
        _wait(self._run.around.offsets.write_sink(self._run.name, ahead))
        self._committed.update(self._positions)
