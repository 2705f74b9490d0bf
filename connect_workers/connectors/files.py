"""From a file's lines to a topic, and from topics to a file's lines; files are in the data directory's ``files``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from assignment_api.connectors import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    Connector,
    ConnectorError,
    Importance,
    SinkConnector,
    SinkRecord,
    SinkTask,
    SourceConnector,
    SourceRecord,
    SourceTask,
    Task,
    at_least,
)
from assignor_lab.documents.durable import make_private
from connect_workers.connectors.version import VERSION

__all__ = ["FileSinkConnector", "FileSinkTask", "FileSourceConnector", "FileSourceTask"]

_MOST_BYTES_AT_ONCE = 1 << 20

_SOURCE = ConfigDef((
    ConfigKey("file", ConfigType.STRING, "File to read, in the data directory's files.", importance=Importance.HIGH),
    ConfigKey("topic", ConfigType.STRING, "Topic to write to.", importance=Importance.HIGH),
    ConfigKey(
        "batch.size", ConfigType.INT, "Lines that are read at once, at most.", default=2000, check=at_least(1),
        importance=Importance.LOW,
    ),
))  # fmt: skip

_SINK = ConfigDef(
    (ConfigKey("file", ConfigType.STRING, "File to write, in the data directory's files.", importance=Importance.HIGH),)
)


class FileSourceTask(SourceTask):
    """Reads a file's lines and waits for further ones; a line without its end waits, too."""

    def start(self, config: Mapping[str, str]) -> None:
        values = _SOURCE.parse(config)
        self._path: Path = self.context.file(values["file"])
        self._topic, self._batch = values["topic"], values["batch.size"]
        self._partition = {"filename": values["file"]}
        committed = self.context.offset(self._partition)
        self._position = int(committed["position"]) if committed else 0

    def poll(self) -> Sequence[SourceRecord]:
        data = self._read()
        lines = data[: data.rfind(b"\n") + 1].splitlines(keepends=True)[: self._batch]
        if not lines:
            self.context.wait(0.2)
            return ()
        records = []
        for line in lines:
            self._position += len(line)
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            records.append(SourceRecord(self._partition, {"position": self._position}, self._topic, text))
        return records

    def _read(self) -> bytes:
        try:
            # The path may have changed meanwhile: no link is followed out of the directory.
            with self.context.file(str(self._path)).open("rb") as file:
                if self._position > os.fstat(file.fileno()).st_size:
                    raise ConnectorError(f"{self._path} has become shorter than the part already read")
                file.seek(self._position)
                return file.read(_MOST_BYTES_AT_ONCE)
        except FileNotFoundError:
            return b""


class _FileConnector(Connector):
    def start(self, config: Mapping[str, str]) -> None:
        self._config = dict(config)
        self.context.file(config["file"])


class FileSourceConnector(_FileConnector, SourceConnector):
    """A file's lines into a topic, by one task."""

    version: ClassVar[str] = VERSION
    task_class: ClassVar[type[Task]] = FileSourceTask

    @classmethod
    def config_def(cls) -> ConfigDef:
        return _SOURCE

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        del max_tasks
        return [self._config]

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    ) -> bool:
        """Takes any place in the file.

        Raises:
            ConnectorError: for something else.
        """
        del config
        for partition, offset in offsets:
            if set(partition) != {"filename"} or not (
                offset is None
                or (set(offset) == {"position"} and type(offset["position"]) is int and offset["position"] >= 0)
            ):
                raise ConnectorError(
                    f'partition {dict(partition)!r:.80}, offset {offset!r:.80}: expected {{"filename": file}} and '
                    '{"position": bytes}'
                )
        return True


class FileSinkTask(SinkTask):
    """Appends values to a file, a line each; texts as they are, everything else as JSON."""

    def start(self, config: Mapping[str, str]) -> None:
        path = self.context.file(_SINK.parse(config)["file"])
        make_private(path.parent)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)

    def put(self, records: Sequence[SinkRecord]) -> None:
        lines = [record.value if isinstance(record.value, str) else json.dumps(record.value) for record in records]
        # One write, so that lines of several tasks do not mix.
        data = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
        while data:
            data = data[os.write(self._file, data) :]

    def flush(self) -> None:
        os.fsync(self._file)  # noqa: TID251 - what a sink appends to its file

    def stop(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)


class FileSinkConnector(_FileConnector, SinkConnector):
    """Topics into a file's lines."""

    version: ClassVar[str] = VERSION
    task_class: ClassVar[type[Task]] = FileSinkTask

    @classmethod
    def config_def(cls) -> ConfigDef:
        return _SINK

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """All alike: each gets its share of the partitions."""
        return [self._config] * max_tasks
