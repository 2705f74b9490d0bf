"""An append-only log of keys and JSON values on disk, compacted by key, that tells its readers what is new.

Any thread may append. Whatever has come in while the last write was on its way to the disk goes into the next frame
together, so that many writers share one ``fsync``. Readers hear of a record, on the event loop and in order, after it
is on disk and before its writer is told so.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.connect.storage.errors import LogCorruptError, StorageError
from assignor_lab.connect.storage.frames import MAGIC, frame_of, scan

__all__ = ["LogRecord", "RecordLog"]

_logger = logging.getLogger(__name__)

#: A file is compacted when it is larger than this and than so many times what compaction would leave.
_COMPACT_ABOVE_BYTES, _COMPACT_RATIO = 1 << 20, 4

#: A key that no record has: its place says how far a compacted log went.
_POSITION_KEY = ""


@attrs.frozen
class LogRecord:
    """A record.

    Args:
        offset: Its place in the log; places of records that compaction has dropped are missing.
        key: What it is about; a later record of the same key takes its place.
        value: JSON value; ``None``: the key is no more.
    """

    offset: int
    key: str
    value: Any


class RecordLog:
    """The log.

    Args:
        path: Its file, made if it is not there.

    Raises:
        LogCorruptError: if the file is damaged elsewhere than at its end.
        StorageError: if it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Condition()
        self._pending: list[tuple[list[LogRecord], list[str], Future[int]]] = []
        self._readers: list[Callable[[LogRecord], None]] = []
        #: By key, in the order of their places: what readers that come later get first.
        self._kept: dict[str, LogRecord] = {}
        #: What the thread has written, as texts: what compaction keeps. Only the thread touches it once it runs.
        self._written: dict[str, str] = {}
        self._written_bytes = 0
        self._broken: StorageError | None = None
        self._closing = False
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.end = 0
        try:
            self._file, self._size = self._opened()
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror or error}: check the data directory") from error
        self._assigned = self.end

    # --- life -----------------------------------------------------------------------------------------

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begins to write; readers are told on ``loop``."""
        self._loop = loop
        self._thread = threading.Thread(target=self._write_all, name=f"log-{self.path.stem}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Writes what is waiting, and closes the file."""
        with self._lock:
            self._closing = True
            self._lock.notify()
        if self._thread is not None:
            self._thread.join()
        os.close(self._file)

    # --- reading and writing --------------------------------------------------------------------------

    def records(self) -> list[LogRecord]:
        """The last record of each key that has a value, in order."""
        return list(self._kept.values())

    def subscribe(self, reader: Callable[[LogRecord], None]) -> Callable[[], None]:
        """Calls ``reader`` with what :meth:`records` has, then with each new record; on the event loop.

        Returns:
            Call it to end that.
        """
        for record in self.records():
            reader(record)
        self._readers.append(reader)

        def unsubscribe() -> None:
            if reader in self._readers:
                self._readers.remove(reader)

        return unsubscribe

    def append(self, records: Iterable[tuple[str, Any]]) -> Future[int]:
        """Appends records, all of them or none; any thread.

        Returns:
            The place after the last one, once they are on disk and all readers know them. It raises ``StorageError``
            where that failed.

        Raises:
            StorageError: if the log is broken or closed.
            ValueError, TypeError, RecursionError: if a value has no JSON form; nothing is appended.
        """
        encoded = [(key, value, _json(key), _json(value)) for key, value in records]
        done: Future[int] = Future()
        with self._lock:
            if self._broken is not None:
                raise self._broken
            if self._closing or self._thread is None:
                raise StorageError(f"{self.path}: the log is closed: the worker is shutting down")
            made, texts = [], []
            for key, value, key_text, value_text in encoded:
                made.append(LogRecord(self._assigned, key, value))
                texts.append(f"[{self._assigned},{key_text},{value_text}]")
                self._assigned += 1
            self._pending.append((made, texts, done))
            self._lock.notify()
        return done

    async def write(self, records: Sequence[tuple[str, Any]]) -> int:
        """As :meth:`append`, and waits."""
        return await asyncio.wrap_future(self.append(records))

    # --- the thread -----------------------------------------------------------------------------------

    def _write_all(self) -> None:
        while True:
            with self._lock:
                while not self._pending and not self._closing:
                    self._lock.wait()
                if not self._pending:
                    return
                group, self._pending = self._pending, []
            try:
                self._write(group)
            except OSError as error:
                self._fail(group, error)
                continue
            self._tell(self._deliver, group)
            if self._size > max(_COMPACT_ABOVE_BYTES, _COMPACT_RATIO * self._written_bytes):
                try:
                    self._compact()
                except OSError as error:
                    # The old file is complete: it can wait for a better moment.
                    _logger.warning("%s: not compacted: %s", self.path, error)
                    self._written_bytes = max(self._written_bytes, self._size)

    def _write(self, group: Sequence[tuple[list[LogRecord], list[str], Future[int]]]) -> None:
        texts = [text for _, texts, _ in group for text in texts]
        frame = frame_of(f"[{','.join(texts)}]".encode())
        _write_fully(self._file, frame)
        os.fsync(self._file)
        self._size += len(frame)
        for made, texts, _ in group:
            for record, text in zip(made, texts, strict=True):
                self._note_written(record, text)

    def _note_written(self, record: LogRecord, text: str) -> None:
        self._written_bytes -= len(self._written.pop(record.key, ""))
        if record.value is not None:
            self._written[record.key] = text
            self._written_bytes += len(text)

    def _fail(self, group: Sequence[tuple[list[LogRecord], list[str], Future[int]]], error: OSError) -> None:
        # What the disk holds now is not known: a later write might seem to follow what is not there.
        broken = StorageError(f"{self.path}: {error.strerror or error}: nothing more is written; start again")
        _logger.error("%s", broken)
        with self._lock:
            self._broken = broken
            group = [*group, *self._pending]
            self._pending = []
        for _, _, done in group:
            if not done.done():
                done.set_exception(broken)

    def _tell(self, call: Callable[..., None], *arguments: Any) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:
            # The loop is closed, and nobody is left to be told.
            return

    def _deliver(self, group: Sequence[tuple[list[LogRecord], list[str], Future[int]]]) -> None:
        for made, _, done in group:
            for record in made:
                self._keep(record)
                for reader in tuple(self._readers):
                    _read(reader, record)
            if not done.cancelled():
                done.set_result(self.end)

    def _keep(self, record: LogRecord) -> None:
        self._kept.pop(record.key, None)
        if record.value is not None:
            self._kept[record.key] = record
        self.end = record.offset + 1

    # --- files ----------------------------------------------------------------------------------------

    def _opened(self) -> tuple[int, int]:
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        data = self.path.read_bytes()
        frames, good = scan(self.path, data)
        for position, payload in frames:
            self._load(position, payload)
        if good < len(data):
            _logger.warning("%s: %d bytes of an unfinished write cut off", self.path, len(data) - good)
            os.ftruncate(file, good)
        if good == 0:
            _write_fully(file, MAGIC)
            good = len(MAGIC)
        os.lseek(file, good, os.SEEK_SET)
        os.fsync(file)
        _sync_directory(self.path.parent)
        return file, good

    def _load(self, position: int, payload: bytes) -> None:
        try:
            records = json.loads(payload)
            if not isinstance(records, list):
                raise TypeError("a frame is a list of records")
            for offset, key, value in records:
                # The place that compaction notes is that of the last record, which may be there, too.
                earliest = self.end - 1 if key == _POSITION_KEY else self.end
                if type(offset) is not int or type(key) is not str or offset < max(earliest, 0):
                    raise TypeError("a record is a place, a key and a value, in order of their places")
                if key != _POSITION_KEY:
                    record = LogRecord(offset, key, value)
                    self._keep(record)
                    self._note_written(record, f"[{offset},{_json(key)},{_json(value)}]")
                self.end = offset + 1
        except (ValueError, TypeError, RecursionError) as error:
            raise LogCorruptError(f"{self.path}: the record at byte {position} is none of ours: {error}") from error

    def _compact(self) -> None:
        """Writes what readers need into a new file, which then takes the old one's place."""
        temporary = self.path.with_suffix(".compacting")
        texts = [*self._written.values(), f'[{self._last_written()},"",null]']
        data = MAGIC + b"".join(
            frame_of(f"[{','.join(texts[start : start + 1000])}]".encode()) for start in range(0, len(texts), 1000)
        )
        file = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _write_fully(file, data)
            os.fsync(file)
            temporary.replace(self.path)
        except OSError:
            os.close(file)
            temporary.unlink(missing_ok=True)
            raise
        old, self._file, self._size = self._file, file, len(data)
        os.close(old)
        _sync_directory(self.path.parent)
        _logger.info("%s: compacted to %d records", self.path, len(self._written))

    def _last_written(self) -> int:
        # Places behind it may have been given to records that wait: they come later, with their own.
        with self._lock:
            return self._assigned - sum(len(made) for made, _, _ in self._pending) - 1


def _read(reader: Callable[[LogRecord], None], record: LogRecord) -> None:
    try:
        reader(record)
    except Exception:
        # One reader's fault must keep neither the others nor the writer waiting.
        _logger.exception("a reader cannot take the record at %d", record.offset)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _write_fully(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
