"""Sources that make up their records: one that counts, and one that fails on request."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
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
from connect_workers.connectors.version import VERSION

__all__ = ["FailingSourceConnector", "FailingSourceTask", "GeneratorSourceConnector", "GeneratorSourceTask"]

_MOST_AT_ONCE = 1_000


def _rate(value: Any) -> str | None:
    return None if value is not None and 0.001 <= value <= 1_000_000 else "Value must be from 0.001 to 1000000"


_GENERATOR_KEYS = (
    ConfigKey("topic", ConfigType.STRING, "Topic to write to.", importance=Importance.HIGH),
    ConfigKey(
        "generators",
        ConfigType.INT,
        "Number of sequences, each by one task and into one partition; 0: as many as tasks.max.",
        default=0,
        check=at_least(0),
    ),
    ConfigKey(
        "records.per.second", ConfigType.DOUBLE, "Records of each sequence in a second.", default=10.0,
        check=_rate,
    ),
    ConfigKey(
        "records.max", ConfigType.LONG, "Length of each sequence; -1 = without an end.", default=-1,
        check=at_least(-1),
    ),
    ConfigKey("payload", ConfigType.STRING, "Text that every record carries.", default="", importance=Importance.LOW),
)  # fmt: skip


class GeneratorSourceTask(SourceTask):
    """Makes the records ``{"generator", "n"}``, ``n`` from 0 without gaps, at a fixed rate."""

    def start(self, config: Mapping[str, str]) -> None:
        """Goes on where the sequence was committed."""
        values = ConfigDef(_GENERATOR_KEYS).parse(config)
        self._topic, self._rate, self._most = values["topic"], values["records.per.second"], values["records.max"]
        self._payload = values["payload"]
        self._number = self.context.number
        self._partition = {"generator": self._number}
        committed = self.context.offset(self._partition)
        self._next = int(committed["n"]) if committed else 0
        self._first, self._begun = self._next, time.monotonic()

    def poll(self) -> Sequence[SourceRecord]:
        due = self._first + int((time.monotonic() - self._begun) * self._rate) + 1
        end = (
            min(due, self._next + _MOST_AT_ONCE) if self._most < 0 else min(due, self._next + _MOST_AT_ONCE, self._most)
        )
        if end <= self._next:
            self.context.wait(min(1 / self._rate, 0.5))
            return ()
        records = [self._record(n) for n in range(self._next, end)]
        self._next = end
        return records

    def _record(self, n: int) -> SourceRecord:
        value: dict[str, Any] = {"generator": self._number, "n": n}
        if self._payload:
            value["payload"] = self._payload
        return SourceRecord(self._partition, {"n": n + 1}, self._topic, value, f"{self._number}-{n}", self._number)


class GeneratorSourceConnector(SourceConnector):
    """Counts into a topic, so that lost and duplicate records are visible at the other end."""

    version: ClassVar[str] = VERSION
    task_class: ClassVar[type[Task]] = GeneratorSourceTask

    @classmethod
    def config_def(cls) -> ConfigDef:
        return ConfigDef(_GENERATOR_KEYS)

    def start(self, config: Mapping[str, str]) -> None:
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        wanted = int(self._config.get("generators", "0")) or max_tasks
        return [self._config] * min(wanted, max_tasks)

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    ) -> bool:
        """Takes any place in a sequence.

        Raises:
            ConnectorError: for something else.
        """
        del config
        for partition, offset in offsets:
            if set(partition) != {"generator"} or not (
                offset is None or (set(offset) == {"n"} and type(offset["n"]) is int and offset["n"] >= 0)
            ):
                raise ConnectorError(
                    f'partition {dict(partition)!r:.80}, offset {offset!r:.80}: expected {{"generator": number of the '
                    'task} and {"n": next number}'
                )
        return True


_FAILING_KEYS = (
    ConfigKey("fail.connector.on.start", ConfigType.BOOLEAN, "The connector fails when it starts.", default=False),
    ConfigKey("fail.task.on.start", ConfigType.BOOLEAN, "Every task fails when it starts.", default=False),
    ConfigKey(
        "fail.after.records", ConfigType.LONG, "Tasks fail after so many records; -1 = never.", default=-1,
        check=at_least(-1),
    ),
    ConfigKey(
        "fail.file", ConfigType.STRING,
        "While this file exists, the jobs that its lines name fail: connector, or a task such as name-0; an empty file "
        "names all tasks.", default="",
    ),
    ConfigKey("start.ms", ConfigType.INT, "How long a task takes to start.", default=0, check=at_least(0)),
    ConfigKey("stop.ms", ConfigType.INT, "How long a task takes to stop.", default=0, check=at_least(0)),
)  # fmt: skip


def _named(file: Path) -> list[str] | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace")[:100_000].split()
    except FileNotFoundError:
        return None


class FailingSourceTask(GeneratorSourceTask):
    """A generator's task that fails."""

    def start(self, config: Mapping[str, str]) -> None:
        """May fail already.

        Raises:
            ConnectorError: as configured.
        """
        self._fail = ConfigDef(_FAILING_KEYS).parse(config)
        self._polled = 0
        time.sleep(self._fail["start.ms"] / 1000)
        if self._fail["fail.task.on.start"]:
            raise ConnectorError(f"task {self.context.name}-{self.context.number} is configured to fail on start")
        super().start(config)

    def poll(self) -> Sequence[SourceRecord]:
        """May fail.

        Raises:
            ConnectorError: as configured.
        """
        name = f"{self.context.name}-{self.context.number}"
        if self._fail["fail.file"]:
            named = _named(self.context.file(self._fail["fail.file"]))
            if named is not None and (not named or name in named):
                raise ConnectorError(f"task {name} is configured to fail by {self._fail['fail.file']}")
        most = self._fail["fail.after.records"]
        if 0 <= most <= self._polled:
            raise ConnectorError(f"task {name} is configured to fail after {most} records")
        records = super().poll()
        if 0 <= most < self._polled + len(records):
            records = records[: most - self._polled]
        self._polled += len(records)
        return records

    def stop(self) -> None:
        time.sleep(getattr(self, "_fail", {"stop.ms": 0})["stop.ms"] / 1000)


class FailingSourceConnector(GeneratorSourceConnector):
    """A generator that fails on request, for trying restarts."""

    task_class: ClassVar[type[Task]] = FailingSourceTask

    @classmethod
    def config_def(cls) -> ConfigDef:
        return ConfigDef((*_GENERATOR_KEYS, *_FAILING_KEYS))

    def start(self, config: Mapping[str, str]) -> None:
        """May fail.

        Raises:
            ConnectorError: as configured.
        """
        values = ConfigDef(_FAILING_KEYS).parse(config)
        if values["fail.connector.on.start"]:
            raise ConnectorError(f"connector {self.context.name} is configured to fail on start")
        if values["fail.file"] and "connector" in (_named(self.context.file(values["fail.file"])) or ()):
            raise ConnectorError(f"connector {self.context.name} is configured to fail by {values['fail.file']}")
        super().start(config)
