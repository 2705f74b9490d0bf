"""A cluster of a few dictionaries: the REST side without workers, logs or a group."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api.connect import ConnectorTaskId
from connect_workers import contract as h

GENERATOR = "live.GenConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"

_TYPES = {GENERATOR: "source", SINK: "sink", SOURCE: "source"}
_STOP_FIRST = (
    "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified "
    "connector by issuing a 'PUT' request to the '/connectors/{0}/stop' endpoint"
)


@attrs.define
class PretendCluster:
    """Changes happen only in ``settle``, which runs all jobs."""

    plugins: list[h.PluginInfo] = attrs.field(
        factory=lambda: [h.PluginInfo(SINK, "sink", "4.3.1"), h.PluginInfo(GENERATOR, "source", "1")]
    )
    definitions: list[dict[str, Any]] = attrs.field(factory=list)
    validation: h.Validation | None = None
    configs: dict[str, dict[str, str | None]] = attrs.field(factory=dict)
    targets: dict[str, str] = attrs.field(factory=dict)
    tasks: dict[str, int] = attrs.field(factory=dict)
    statuses: dict[str, h.ConnectorStatus] = attrs.field(factory=dict)
    offsets: dict[str, list[h.Offset]] = attrs.field(factory=dict)
    topics: dict[str, list[str]] = attrs.field(factory=dict)
    loggers: dict[str, h.LoggerLevel] = attrs.field(factory=lambda: {"root": h.LoggerLevel("INFO", None)})
    rebalance_expected: bool = False
    #: URL of the leader and owner of all jobs; "" is every worker itself, ``None`` no worker.
    leader: str | None = ""

    def settle(self) -> None:
        """Give all connectors their tasks, running, paused or stopped as configured."""
        for gone in set(self.statuses) - set(self.configs):
            del self.statuses[gone]
        for name, config in self.configs.items():
            state = self.targets[name]
            wanted = config.get("gen.tasks") or config.get("tasks.max") or "1"
            self.tasks[name] = 0 if state == "STOPPED" else int(wanted) if wanted.isascii() and wanted.isdigit() else 1
            one = h.InstanceStatus(state, "127.0.0.1:8083", "1")
            self.statuses[name] = h.ConnectorStatus(
                name,
                one,
                [attrs.evolve(one, number=number) for number in range(self.tasks[name])],
                _type(config),
            )


@attrs.define
class PretendHerder:
    """One worker of it. ``hold`` blocks the herder's loop until it is set."""

    cluster: PretendCluster
    url: str = "http://127.0.0.1:8083"
    stage: h.WorkerStage = attrs.field(
        factory=lambda: h.WorkerStage("polling the group coordinator", 1_795_234_413_241)
    )
    ready: bool = True
    readings: list[h.WorkerMetric] = attrs.field(factory=list)
    hold: asyncio.Event | None = None
    signed: list[bytes] = attrs.field(factory=list)

    def server_info(self) -> h.ServerInfo:
        return h.ServerInfo("4.3.1", "26b251a451ce941d", "MkU3OEVBNTcwNTJENDM2Qg")

    async def health(self) -> None:
        await self._turn()

    # --- from memory ---

    def connectors(self) -> Sequence[str]:
        return list(self.cluster.configs)

    def known_connector(self, name: str) -> h.ConnectorInfo:
        config = self._config(name)
        tasks = [ConnectorTaskId(name, number) for number in range(self.cluster.tasks.get(name, 0))]
        return h.ConnectorInfo(name, config, tasks, _type(config))

    def connector_status(self, name: str) -> h.ConnectorStatus:
        status = self.cluster.statuses.get(name)
        if status is None:
            raise h.NotFoundError(f"No status found for connector {name}")
        return attrs.evolve(status, tasks=sorted(status.tasks, key=lambda task: task.number or 0))

    def task_status(self, task: ConnectorTaskId) -> h.InstanceStatus:
        status = self.cluster.statuses.get(task.connector)
        for each in status.tasks if status else ():
            if each.number == task.task:
                return each
        raise h.NotFoundError(f"No status found for task {task}")

    def active_topics(self, name: str) -> Sequence[str]:
        return self.cluster.topics.get(name, [])

    def plugins(self, *, connectors_only: bool = True) -> Sequence[h.PluginInfo]:
        return [each for each in self.cluster.plugins if not connectors_only or each.type in ("source", "sink")]

    def plugin_config(self, name: str, version: str | None = None) -> Sequence[Mapping[str, Any]]:
        if name == "None":
            kinds = "sink, source, converter, header_converter, transformation, predicate"
            raise h.BadRequestError(f"Invalid plugin class None. Valid types are {kinds}.")
        if not any(each.class_name == name for each in self.cluster.plugins):
            raise h.NotFoundError(f"Unknown plugin {name}.")
        return self.cluster.definitions

    def loggers(self) -> Mapping[str, h.LoggerLevel]:
        return self.cluster.loggers

    def logger(self, name: str) -> h.LoggerLevel:
        if name not in self.cluster.loggers:
            raise h.NotFoundError(f"Logger {name} not found.")
        return self.cluster.loggers[name]

    def metrics(self) -> Sequence[h.WorkerMetric]:
        return self.readings

    # --- on the loop ---

    async def connector_info(self, name: str) -> h.ConnectorInfo:
        await self._stable_turn()
        return self.known_connector(name)

    async def task_configs(self, name: str) -> Sequence[h.TaskConfig]:
        await self._stable_turn()
        info = self.known_connector(name)
        more = {"task.class": "live.GenConnector$GenTask"}
        return [
            h.TaskConfig(task, {key: value or "" for key, value in info.config.items()} | more | {"gen.id": str(task)})
            for task in info.tasks
        ]

    async def connector_offsets(self, name: str) -> Sequence[h.Offset]:
        await self._turn()
        self._config(name)
        return self.cluster.offsets.get(name, [])

    async def validate(self, plugin: str, config: Mapping[str, str | None]) -> h.Validation:
        await self._turn()
        if self.cluster.validation is None:
            return h.Validation(plugin, 0, ["Common"], [])
        return self.cluster.validation

    async def put_connector(
        self, name: str, config: Mapping[str, str | None], *, initial_state: str | None = None, replace: bool
    ) -> tuple[bool, h.ConnectorInfo]:
        await self._turn()
        self._check(name, config)
        self._lead()
        new = name not in self.cluster.configs
        if not new and not replace:
            raise h.AlreadyExistsError(f"Connector {name} already exists")
        self.cluster.configs[name] = dict(config)
        if new:
            states = {None: "RUNNING", "running": "RUNNING", "paused": "PAUSED", "stopped": "STOPPED"}
            self.cluster.targets[name] = states[initial_state]
        return new, self.known_connector(name)

    async def patch_connector(self, name: str, patch: Mapping[str, str | None]) -> h.ConnectorInfo:
        await self._turn()
        self._lead()
        patched = {**self._config(name), **patch}
        self.cluster.configs[name] = {key: value for key, value in patched.items() if value is not None}
        return self.known_connector(name)

    async def delete_connector(self, name: str) -> None:
        await self._turn()
        self._lead()
        self._config(name)
        del self.cluster.configs[name]
        self.cluster.tasks.pop(name, None)

    async def stop_connector(self, name: str) -> None:
        await self._turn()
        self._lead()
        self._target(name, "STOPPED")

    async def pause_connector(self, name: str) -> None:
        await self._turn()
        self._target(name, "PAUSED")

    async def resume_connector(self, name: str) -> None:
        await self._turn()
        self._target(name, "RUNNING")

    async def restart_connector(self, name: str) -> None:
        await self._stable_turn()
        if name not in self.cluster.configs:
            raise h.NotFoundError(f"Unknown connector: {name}")
        self._own()

    async def restart_task(self, task: ConnectorTaskId) -> None:
        await self._stable_turn()
        if task.connector not in self.cluster.configs:
            raise h.NotFoundError(f"Unknown connector: {task.connector}")
        if task.task not in range(self.cluster.tasks.get(task.connector, 0)):
            raise h.NotFoundError(f"Unknown task: {task}")
        self._own()

    async def restart_connector_and_tasks(self, request: h.RestartRequest) -> h.RestartAnswer:
        await self._stable_turn()
        if request.connector not in self.cluster.configs:
            raise h.NotFoundError(f"Unknown connector: {request.connector}")
        self._lead()
        status = self.cluster.statuses.get(request.connector)
        if status is None:
            raise h.NotFoundError(f"Status for connector {request.connector} not found")

        def planned(instance: h.InstanceStatus) -> h.InstanceStatus:
            restarts = not request.only_failed or instance.state == "FAILED"
            return attrs.evolve(instance, state="RESTARTING") if restarts else instance

        tasks = [planned(task) if request.include_tasks else task for task in status.tasks]
        return h.RestartAnswer(attrs.evolve(status, connector=planned(status.connector), tasks=tasks))

    async def alter_offsets(self, name: str, offsets: Sequence[h.Offset]) -> h.OffsetsAnswer:
        await self._stopped(name)
        self.cluster.offsets[name] = list(offsets)
        return h.OffsetsAnswer("The offsets for this connector have been altered successfully")

    async def reset_offsets(self, name: str) -> h.OffsetsAnswer:
        await self._stopped(name)
        self.cluster.offsets[name] = []
        return h.OffsetsAnswer("The offsets for this connector have been reset successfully")

    async def put_task_configs(self, name: str, configs: Sequence[Mapping[str, str]]) -> None:
        await self._turn()
        self._lead()

    async def fence(self, name: str) -> None:
        await self._turn()
        self._lead()

    async def reset_topics(self, name: str) -> None:
        await self._turn()
        self.cluster.topics.pop(name, None)

    async def set_logger_level(self, name: str, level: str) -> Sequence[str]:
        await self._turn()
        changed = [each for each in self.cluster.loggers if each == name or each.startswith(f"{name}.")]
        self.cluster.loggers |= {each: h.LoggerLevel(level, 1_795_234_413_241) for each in changed}
        return changed

    async def set_cluster_logger_level(self, name: str, level: str) -> None:
        await self.set_logger_level(name, level)

    def verify_internal_request(self, body: bytes, signature: str | None, algorithm: str | None) -> None:
        if signature is None or algorithm is None:
            raise h.BadRequestError("Internal request missing required signature")
        if signature != "c2lnbmVk":
            raise h.ForbiddenError("Internal request contained invalid signature.")
        self.signed.append(body)

    # --- steps ---

    async def _turn(self) -> None:
        if self.hold is not None:
            await self.hold.wait()

    async def _stable_turn(self) -> None:
        await self._turn()
        if self.cluster.rebalance_expected:
            raise h.RebalanceExpectedError("Request cannot be completed because a rebalance is expected")

    async def _stopped(self, name: str) -> None:
        await self._stable_turn()
        self._lead()
        self._config(name)
        if self.cluster.targets[name] != "STOPPED":
            raise h.BadRequestError(_STOP_FIRST.format(name))

    def _lead(self) -> None:
        if self.cluster.leader not in ("", self.url):
            raise h.NotLeaderError("Only the leader can do that", self.cluster.leader)

    def _own(self) -> None:
        if self.cluster.leader not in ("", self.url):
            raise h.NotAssignedError("Only the owner can do that", self.cluster.leader)

    def _config(self, name: str) -> dict[str, str | None]:
        if name not in self.cluster.configs:
            raise h.NotFoundError(f"Connector {name} not found")
        return self.cluster.configs[name]

    def _target(self, name: str, state: str) -> None:
        if name not in self.cluster.configs:
            raise h.NotFoundError(f"Unknown connector {name}")
        self.cluster.targets[name] = state

    def _check(self, name: str, config: Mapping[str, str | None]) -> None:
        cls = config.get("connector.class")
        if cls is None:
            raise h.BadRequestError(f"Connector config {dict(config)} contains no connector type")
        if not any(known.removesuffix("Connector").endswith(cls.removesuffix("Connector")) for known in _TYPES):
            available = ", ".join(each.class_name for each in self.cluster.plugins)
            raise h.BadRequestError(
                f"Failed to find any class that implements Connector and which name matches {cls}, available "
                f"connectors are: {available}"
            )
        errors = []
        if not name.strip():
            errors.append(f"Invalid value {name.strip()} for configuration name: String may not be empty")
        if re.search("[\0-\x1f\x7f-\x9f]", name):
            errors.append(f"Invalid value {name} for configuration name: String may not contain control sequences")
        errors += [
            f"Invalid value {config[key]} for configuration {key}: Value must be at least 1"
            for key in ("tasks.max", "gen.tasks")
            if config.get(key) == "0"
        ]
        if errors:
            raise h.BadRequestError(
                f"Connector configuration is invalid and contains the following {len(errors)} error(s):\n"
                + "\n".join(errors)
                + "\nYou can also find the above list of errors at the endpoint "
                "`/connector-plugins/{connectorType}/config/validate`"
            )


def _type(config: Mapping[str, str | None]) -> str:
    cls = config.get("connector.class") or ""
    return next((kind for name, kind in _TYPES.items() if cls and cls.removesuffix("Connector") in name), "unknown")
