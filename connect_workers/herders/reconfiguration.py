"""Configurations of a connector's tasks: requested from its instance, written through the leader until that works."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from assignment_api.connectors import ConnectorError
from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot
from assignor_lab.kafka.herder.config_log.records import TargetState, task_records, without_nulls
from assignor_lab.kafka.herder.task_configs_retry import next_pause_ms
from connect_workers.contract import BadRequestError, HerderError, NotLeaderError
from connect_workers.herders.herder_loop import HerderLoop
from connect_workers.instances.connector_run import traceback_text
from connect_workers.plugins.connector_plugins import ConnectorPlugins

__all__ = ["PutTaskConfigs", "Reconfiguration", "has_changed", "initial_target", "most_tasks", "with_worker_keys"]

#: Has the worker at a URL write the configurations of a connector's tasks.
PutTaskConfigs = Callable[[str, str, Sequence[Mapping[str, str]]], Awaitable[None]]


class TooManyTasksError(ConnectorError):
    """A connector wants more tasks than ``tasks.max`` allows."""


class _NoLeaderError(HerderError):
    pass


def initial_target(text: str) -> TargetState:
    """Target state of a connector that is created with ``initial_state``.

    Raises:
        BadRequestError: if there is no such state.
    """
    # The state is "running" in the REST interface and STARTED in the log.
    name = {"RUNNING": "STARTED"}.get(text.upper(), text.upper())
    if name not in TargetState.__members__:
        raise BadRequestError(f"{text!r:.80} is no initial state: use running, paused or stopped")
    return TargetState[name]


def most_tasks(config: Mapping[str, str]) -> int:
    try:
        return max(int(config.get("tasks.max", "1")), 1)
    except ValueError:
        return 1


def with_worker_keys(
    configs: Sequence[Mapping[str, str]], config: Mapping[str, str], plugins: ConnectorPlugins
) -> list[Mapping[str, str]]:
    """Configurations of tasks with the keys that workers add.

    Raises:
        TooManyTasksError: if there are more than the connector's configuration allows.
    """
    most = most_tasks(config)
    if len(configs) > most and config.get("tasks.max.enforce", "true").strip().lower() != "false":
        raise TooManyTasksError(
            f"The connector {config.get('name', '')} has generated {len(configs)} tasks, which is greater than "
            f"{most}, the maximum number of tasks it is configured to create."
        )
    kind = plugins.find(config)
    added: dict[str, str] = {}
    if kind is not None:
        added["task.class"] = f"{kind.class_name.removesuffix('Connector')}Task"
        if kind.type == "sink":
            added |= {key: config[key] for key in ("topics", "topics.regex") if key in config}
    return [{**each, **added} for each in configs]


def has_changed(configs: Sequence[Mapping[str, str]], name: str, snapshot: ConfigSnapshot) -> bool:
    """Whether configurations of tasks differ from those in force, or the connector's own has changed since them."""
    in_force = [dict(config) for config in snapshot.task_configs(name)]
    return (
        name in snapshot.inconsistent
        or name not in snapshot.task_counts
        or in_force != [dict(config) for config in configs]
        or dict(snapshot.applied.get(name, {})) != dict(snapshot.connectors[name])
    )


class Reconfiguration:
    """Configures tasks for connectors that run on one worker."""

    def __init__(self, loop: HerderLoop, put: PutTaskConfigs) -> None:
        self._loop, self._put = loop, put
        self._underway: dict[str, asyncio.Task[None]] = {}

    def wanted(self, connector: str) -> None:
        """Configures a connector's tasks; an attempt under way begins anew."""
        self.forget(connector)
        task = asyncio.create_task(self._until_done(connector), name=f"configure tasks of {connector}")
        self._underway[connector] = task

        def done(ended: asyncio.Task[None]) -> None:
            if self._underway.get(connector) is ended:
                del self._underway[connector]
            if not ended.cancelled() and ended.exception() is not None:
                self._loop.log.warning("tasks of %s were not configured: %s", connector, ended.exception())

        task.add_done_callback(done)

    def forget(self, connector: str) -> None:
        underway = self._underway.pop(connector, None)
        if underway is not None:
            underway.cancel()

    def close(self) -> None:
        for connector in list(self._underway):
            self.forget(connector)

    def is_idle(self) -> bool:
        return not self._underway

    async def _until_done(self, name: str) -> None:
        timings = self._loop.settings.timings
        pause = timings.reconfigure_backoff_ms
        while not self._loop.stopping:
            try:
                await self._once(name)
            except TooManyTasksError as error:
                self._loop.instances.on_failed(name, traceback_text(error))
            except (_NoLeaderError, NotLeaderError):
                # A rebalance passes: nothing is wrong that a longer pause would help.
                await asyncio.sleep(timings.reconfigure_backoff_ms / 1000)
                continue
            except (HerderError, ConnectorError) as error:
                self._loop.log.info("tasks of %s are not configured yet: %s", name, error)
                await asyncio.sleep(pause / 1000)
                pause = next_pause_ms(pause, timings.reconfigure_backoff_max_ms)
                continue
            return

    async def _once(self, name: str) -> None:
        loop = self._loop
        given = loop.reader.snapshot().connectors.get(name)
        run = loop.instances.connectors.get(name)
        if given is None or run is None or loop.reader.snapshot().target_state(name) is not TargetState.STARTED:
            return
        config = without_nulls(given)
        if dict(run.config) != config:
            # The connector has another configuration already: it is about to be started with it.
            return
        request = loop.instances.task_configs(name, most_tasks(config))
        assert request is not None
        wanted: list[Mapping[str, str]] = await asyncio.wrap_future(request)
        configs = with_worker_keys(wanted, config, loop.plugins)
        snapshot = loop.reader.snapshot()
        if snapshot.connectors.get(name) is None or not has_changed(configs, name, snapshot):
            return
        if loop.membership.state.is_leader and not loop.membership.needs_join:
            await loop.queue.ask(lambda: self._write(name, configs))
            return
        leader = loop.membership.leader_url
        if leader is None:
            raise _NoLeaderError("the leader is not known at this moment")
        await self._put(leader, name, configs)

    async def _write(self, name: str, configs: Sequence[Mapping[str, str]]) -> None:
        loop = self._loop
        if not loop.membership.state.is_leader:
            raise _NoLeaderError("the leader has changed")
        snapshot = loop.reader.snapshot()
        if name in snapshot.connectors and snapshot.target_state(name) is not TargetState.STOPPED:
            await loop.write(task_records(name, configs))
