"""The offset log: how far source connectors are in their sources, and sink connectors in topics."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from connect_workers.contract import Offset
from connect_workers.storage import RecordLog, StoredRecord

__all__ = ["OffsetLog"]


class OffsetLog:
    """Committed offsets.

    All methods may be called by any thread.
    """

    def __init__(self, log: RecordLog) -> None:
        self._log = log
        self._lock = threading.Lock()
        #: Connector to the text of a source partition to both.
        self._sources: dict[str, dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]]] = {}
        self._sinks: dict[str, dict[tuple[str, int], int]] = {}
        log.subscribe(self._read)

    # --- reading -------------------------------------------------------------------------------------

    def of_source(self, connector: str, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        with self._lock:
            found = self._sources.get(connector, {}).get(_text(partition))
        return None if found is None else found[1]

    def of_sink(self, connector: str, topic: str, partition: int) -> int | None:
        with self._lock:
            return self._sinks.get(connector, {}).get((topic, partition))

    def listed(self, connector: str, *, sink: bool) -> list[Offset]:
        with self._lock:
            if sink:
                return [
                    Offset({"kafka_partition": partition, "kafka_topic": topic}, {"kafka_offset": offset})
                    for (topic, partition), offset in sorted(self._sinks.get(connector, {}).items())
                ]
            return [
                Offset(partition, offset) for _, (partition, offset) in sorted(self._sources.get(connector, {}).items())
            ]

    # --- writing --------------------------------------------------------------------------------------

    def write_source(
        self, connector: str, offsets: Iterable[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    ) -> Future[int]:
        """Writes where source partitions go on; ``None`` forgets one. Errors are those of ``RecordLog.append``."""
        return self._log.append(
            [
                (f"source:{_text([connector, partition])}", None if offset is None else dict(offset))
                for partition, offset in offsets
            ]
        )

    def write_sink(self, connector: str, offsets: Iterable[tuple[str, int, int | None]]) -> Future[int]:
        """Writes where a sink goes on: topics, partitions, offsets; ``None`` forgets one."""
        return self._log.append(
            [(f"sink:{_text([connector, topic, partition])}", offset) for topic, partition, offset in offsets]
        )

    # --- reading --------------------------------------------------------------------------------------

    def _read(self, record: StoredRecord) -> None:
        kind, _, text = record.key.partition(":")
        try:
            where = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(where, list) or not where or not isinstance(where[0], str):
            return
        with self._lock:
            if kind == "source":
                self._read_source(where, record.value)
            elif kind == "sink":
                self._read_sink(where, record.value)

    def _read_source(self, where: list[Any], value: Any) -> None:
        if len(where) == 2 and isinstance(where[1], dict) and (value is None or isinstance(value, dict)):
            pair = None if value is None else (where[1], value)
            _set(self._sources, where[0], _text(where[1]), pair)

    def _read_sink(self, where: list[Any], value: Any) -> None:
        known = value is None or (type(value) is int and value >= 0)
        if len(where) == 3 and isinstance(where[1], str) and type(where[2]) is int and known:
            _set(self._sinks, where[0], (where[1], where[2]), value)


def _set(offsets: dict[str, dict[Any, Any]], connector: str, where: Any, value: Any) -> None:
    if value is not None:
        offsets.setdefault(connector, {})[where] = value
        return
    offsets.get(connector, {}).pop(where, None)
    if not offsets.get(connector, {}):
        offsets.pop(connector, None)


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
