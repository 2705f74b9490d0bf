"""One life of a connector's instance, on a thread of its own (Kafka: ``KafkaStatusBackingStore``)."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from assignment_api.connectors import Connector, ConnectorError
from assignor_lab.kafka.herder.config_log.records import TargetState
from connect_workers.instances.instance_events import InstanceHost
from connect_workers.logs.run_ledger import RunLedger
from connect_workers.storage import DataDir

__all__ = ["ConnectorRun", "traceback_text"]

_TRACE_LIMIT = 16_000


def traceback_text(error: BaseException) -> str:
    """Traceback of an error, even if making its message fails; of a long one the middle is left out."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - the message is made by a plugin's code
        text = f"{type(error).__name__} (its message cannot be made)"
    if len(text) <= _TRACE_LIMIT:
        return text
    # The error stands at the end, its cause at the beginning.
    half = _TRACE_LIMIT // 2
    return f"{text[:half]}…\n…{text[-half:]}"


class _Context:
    def __init__(self, run: ConnectorRun, data: DataDir) -> None:
        self._run, self._data = run, data

    @property
    def name(self) -> str:
        return self._run.name

    def file(self, path: str) -> Path:
        return self._data.file(path)

    def request_task_reconfiguration(self) -> None:
        self._run.tell("on_task_configs_wanted")

    def raise_error(self, error: Exception) -> None:
        self._run.fail(error)


class ConnectorRun:
    """The instance.

    Methods are for the event loop's thread, but for :meth:`tell` and :meth:`fail`.
    """

    def __init__(
        self,
        name: str,
        factory: Callable[[], Connector],
        config: Mapping[str, str],
        host: InstanceHost,
        data: DataDir,
        ledger: RunLedger,
    ) -> None:
        self.name, self.config = name, config
        self.version: str | None = None
        self.ended = asyncio.Event()
        self._factory, self._host, self._data, self._ledger = factory, host, data, ledger
        self._changed = threading.Condition()
        self._wanted: tuple[TargetState, Future[TargetState]] | None = None
        self._asked: list[tuple[int, Future[list[Mapping[str, str]]]]] = []
        self._stopping = False
        self._silent = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._live, name=f"connector-{name}", daemon=True)

    # --- from the event loop --------------------------------------------------------------------------

    def start(self, target: TargetState) -> Future[TargetState]:
        """Starts the thread; the future ends when the target state is reached, or with the failure."""
        reached = self.transition(target)
        self._thread.start()
        return reached

    def transition(self, target: TargetState) -> Future[TargetState]:
        """Requests a target state; it replaces a request that has not begun."""
        future: Future[TargetState] = _promise()
        with self._changed:
            if self._stopping:
                future.set_exception(ConnectorError(f"connector {self.name} is stopping"))
                return future
            if self._wanted is not None:
                self._wanted[1].set_exception(ConnectorError(f"connector {self.name}: a later request took its place"))
            self._wanted = (target, future)
            self._changed.notify()
        return future

    def task_configs(self, most: int) -> Future[list[Mapping[str, str]]]:
        future: Future[list[Mapping[str, str]]] = _promise()
        with self._changed:
            if self._stopping:
                future.set_exception(ConnectorError(f"connector {self.name} is stopping"))
                return future
            self._asked.append((most, future))
            self._changed.notify()
        return future

    def stop(self) -> None:
        """Ends the connector; ``ended`` is set afterwards."""
        with self._changed:
            self._stopping = True
            self._changed.notify()

    def silence(self) -> None:
        """Drops all later events of the connector."""
        self._silent = True

    # --- from any thread ------------------------------------------------------------------------------

    def tell(self, event: str, *arguments: Any) -> None:
        def call() -> None:
            if not self._silent:
                getattr(self._host.listener, event)(self.name, *arguments)

        self._call(call)

    def fail(self, error: Exception) -> None:
        with self._changed:
            self._failure = error
            self._changed.notify()

    def _call(self, call: Callable[[], None]) -> None:
        try:
            self._host.loop.call_soon_threadsafe(call)
        except RuntimeError:
            # The loop is closed: the process is ending.
            return

    # --- the thread -----------------------------------------------------------------------------------

    def _live(self) -> None:
        number = self._ledger.begin(self.name, self._host.worker_id)
        life = _Life(self, self._factory, _Context(self, self._data))
        try:
            while True:
                with self._changed:
                    while not (self._wanted or self._asked or self._stopping or self._failure is not None):
                        self._changed.wait()
                    failure, self._failure = self._failure, None
                    # Requests that wait when it must stop are refused at the end.
                    stopping = self._stopping
                    wanted = requests = None
                    if not stopping:
                        wanted, self._wanted = self._wanted, None
                        requests, self._asked = self._asked, []
                if failure is not None:
                    life.fail(failure)
                if stopping:
                    break
                if wanted is not None:
                    life.move(*wanted)
                for most, future in requests or ():
                    life.answer(most, future)
            life.end()
        finally:
            self._refuse_waiting()
            self._ledger.end(self.name, number)
            self._call(self.ended.set)

    def _refuse_waiting(self) -> None:
        with self._changed:
            waiting: list[Future[Any]] = [future for _, future in self._asked]
            if self._wanted is not None:
                waiting.append(self._wanted[1])
            self._asked, self._wanted = [], None
        for future in waiting:
            if not future.done():
                future.set_exception(ConnectorError(f"connector {self.name} has stopped"))


def _promise() -> Future[Any]:
    """A future for the connector's thread. It cannot be cancelled, since a caller may give up waiting."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


class _Life:
    """State machine of a connector's instance, on its thread: INIT, STARTED, PAUSED, STOPPED, FAILED."""

    def __init__(self, run: ConnectorRun, factory: Callable[[], Connector], context: _Context) -> None:
        self._run, self._factory, self._context = run, factory, context
        self._connector: Connector | None = None
        self._state = "INIT"
        self._begun = False

    def move(self, target: TargetState, reached: Future[TargetState]) -> None:
        if self._state == "FAILED" and target is not TargetState.STOPPED:
            reached.set_exception(ConnectorError(f"connector {self._run.name} has failed: restart it"))
            return
        try:
            if target is TargetState.STARTED:
                self._begin()
            else:
                self._rest(target)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
            self.fail(error)
            reached.set_exception(ConnectorError(f"Failed to start connector: {self._run.name}"))
            return
        reached.set_result(target)

    def _begin(self) -> None:
        if self._state == "STARTED":
            return
        if self._connector is None:
            self._connector = self._factory()
            self._connector.context = self._context
            self._run.version = type(self._connector).version
        self._connector.start(self._run.config)
        self._begun = True
        self._state = "STARTED"
        self._run.tell("on_running")

    def _rest(self, target: TargetState) -> None:
        if self._state == target.value:
            return
        if self._connector is None:
            self._connector = self._factory()
            self._connector.context = self._context
            self._run.version = type(self._connector).version
        try:
            if self._begun:
                self._begun = False
                self._connector.stop()
        except Exception:
            # Stopping for good has worked even if it did not go well; pausing has not.
            if target is TargetState.PAUSED:
                raise
        self._state = target.value
        self._run.tell("on_paused" if target is TargetState.PAUSED else "on_stopped")

    def fail(self, error: BaseException) -> None:
        if self._state != "FAILED":
            self._state = "FAILED"
            self._run.tell("on_failed", traceback_text(error))

    def answer(self, most: int, future: Future[list[Mapping[str, str]]]) -> None:
        if self._state != "STARTED" or self._connector is None:
            future.set_exception(ConnectorError(f"connector {self._run.name} is not started"))
            return
        try:
            future.set_result(_checked(self._connector.task_configs(most)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            wrapped = ConnectorError(f"connector {self._run.name}: task_configs: {type(error).__name__}: {error}")
            wrapped.__cause__ = error
            future.set_exception(wrapped)

    def end(self) -> None:
        try:
            if self._begun and self._connector is not None:
                self._begun = False
                self._connector.stop()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            self.fail(error)
        if self._state != "FAILED":
            self._run.tell("on_shutdown")


def _checked(configs: object) -> list[Mapping[str, str]]:
    if not isinstance(configs, Sequence) or isinstance(configs, str):
        raise ConnectorError(f"task_configs returned {type(configs).__name__}, expected a list of mappings")
    for number, config in enumerate(configs):
        texts = isinstance(config, Mapping) and all(
            isinstance(key, str) and isinstance(value, str) for key, value in config.items()
        )
        if not texts:
            raise ConnectorError(f"task_configs returned as item {number} something else than a mapping of texts")
    return list(configs)
