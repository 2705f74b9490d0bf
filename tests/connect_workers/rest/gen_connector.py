"""The recording's own test connector, for live workers: it counts, and fails on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from assignment_api.connectors import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    ConnectorError,
    Importance,
    SourceConnector,
    SourceRecord,
    SourceTask,
    Task,
    at_least,
)
from connect_workers.connectors import FileSinkConnector, FileSourceConnector
from connect_workers.plugins.connector_plugins import ConnectorPlugins, connector_kind

FAILING: set[str] = set()


class GenTask(SourceTask):
    def start(self, config: Mapping[str, str]) -> None:
        self.id, self.topic = config["gen.id"], config["gen.topic"]
        committed = self.context.offset({"id": self.id})
        self.n = int(committed["n"]) if committed else 0

    def poll(self) -> Sequence[SourceRecord]:
        if self.id in FAILING:
            raise ConnectorError(f"told to fail: {self.id}")
        self.context.wait(0.05)
        self.n += 1
        partition = self.context.number % 2
        return [SourceRecord({"id": self.id}, {"n": self.n}, self.topic, self.n, partition=partition)]


class GenConnector(SourceConnector):
    version: ClassVar[str] = "1"
    task_class: ClassVar[type[Task]] = GenTask

    @classmethod
    def config_def(cls) -> ConfigDef:
        return ConfigDef(
            [
                ConfigKey("gen.topic", ConfigType.STRING, "target topic", importance=Importance.HIGH),
                ConfigKey(
                    "gen.tasks",
                    ConfigType.INT,
                    "number of task configurations",
                    default=1,
                    importance=Importance.HIGH,
                    check=at_least(1),
                ),
                ConfigKey("gen.start.ms", ConfigType.INT, "time", default=0, importance=Importance.LOW),
                ConfigKey("gen.fail.file", ConfigType.STRING, "tasks", default="", importance=Importance.LOW),
            ]
        )

    def start(self, config: Mapping[str, str]) -> None:
        self.config = dict(config)

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        tasks = min(int(self.config.get("gen.tasks", "1")), max_tasks)
        return [{**self.config, "gen.id": f"{self.context.name}-{number}"} for number in range(tasks)]

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    ) -> bool:
        return True


FILE = "org.apache.kafka.connect.file."
PLUGINS = ConnectorPlugins(
    [
        connector_kind("sink", FileSinkConnector, [f"{FILE}FileStreamSinkConnector"]),
        connector_kind("gen", GenConnector, ["live.GenConnector"]),
        connector_kind("source", FileSourceConnector, [f"{FILE}FileStreamSourceConnector"]),
    ]
)
