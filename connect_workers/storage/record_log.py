"""An append-only log of keys and JSON values on disk, compacted by key, that calls its readers with new records.

Any thread may append. Records that arrive during a write share the next frame, so that many writers share one
``fsync``. Readers get a record, on the event loop and in order, after it is on disk and before its writer returns.
A failed write leaves the log unchanged. The next write is tried; without one, an empty frame is tried now and then, to
notice when the log can be written again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from pathlib import Path
from typing import Any

import attrs

from connect_workers.storage.errors import LogCorruptError, StorageError
from connect_workers.storage.frames import FrameFile

__all__ = ["StoredRecord", "RecordLog"]

_logger = logging.getLogger(__name__)

#: A file is compacted when it is larger than this and than so many times its compacted size, about.
_COMPACT_ABOVE_BYTES, _COMPACT_RATIO = 1 << 20, 4
#: Records of one frame that compaction writes.
_COMPACTED_TOGETHER = 1000
#: Seconds from a failure to the next try, without new writes.
_RETRY_S = 1.0

#: A key that no record has: its place says how far a compacted log went.
_POSITION_KEY = ""


@attrs.frozen
class StoredRecord:
    """A record.

    Args:
        offset: Its place in the log; places of records that compaction has dropped are missing.
        value: JSON value; ``None`` deletes the key.
    """

    offset: int
    key: str
    value: Any


@attrs.frozen(eq=False)
class _Batch:
    """Records appended together: keys, values and the texts of both; ``done`` is ``None`` if no caller waits."""

    records: Sequence[tuple[str, Any, str]]
    done: Future[int] | None


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
        #: Why nothing can be written at present; ``None``: all is well.
        self.failure: StorageError | None = None
        #: The place after the last record that readers know.
        self.end = 0
        self._lock = threading.Condition()
        self._pending: list[_Batch] = []
        self._closing = False
        self._readers: list[Callable[[StoredRecord], None]] = []
        #: By key, in order of their places: the first records of a later reader.
        self._kept: dict[str, StoredRecord] = {}
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._found = 0
        try:
            self._file = FrameFile(path, self._load)
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror or error}: check the data directory") from error
        # For the thread alone: the next place, the records on disk, the records to retry, the length of the text
        # that was tried last, and when to compact.
        self._next = self.end
        self._live = dict(self._kept)
        self._owed: dict[str, tuple[str, Any, str]] = {}
        self._tried = 0
        self._compact_above = _compact_above(self._file.size * len(self._kept) // max(self._found, 1))

    # --- life -----------------------------------------------------------------------------------------

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread = threading.Thread(target=self._write_all, name=f"log-{self.path.stem}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Writes waiting records, and closes the file."""
        with self._lock:
            self._closing = True
            self._lock.notify()
        if self._thread is not None:
            self._thread.join()
        self._file.close()

    # --- reading and writing --------------------------------------------------------------------------

    def records(self) -> list[StoredRecord]:
        """The last record of each key that has a value, in order."""
        return list(self._kept.values())

    def subscribe(self, reader: Callable[[StoredRecord], None]) -> Callable[[], None]:
        """Calls ``reader`` with :meth:`records`, then with each new record; on the event loop.

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
            where that failed; then none of them is in the log.

        Raises:
            StorageError: if the log is closed.
            ValueError, TypeError, RecursionError: if a value has no JSON form; nothing is appended.
        """
        done: Future[int] = Future()
        self._take(_Batch(_encoded(records), done))
        return done

    async def write(self, records: Sequence[tuple[str, Any]]) -> int:
        return await asyncio.wrap_future(self.append(records))

    def put(self, records: Iterable[tuple[str, Any]]) -> None:
        """Appends records without waiting; any thread.

        While nothing can be written they are tried again, the latest of each key. :attr:`failure` has the reason.

        Raises:
            StorageError, ValueError, TypeError, RecursionError: as :meth:`append`.
        """
        self._take(_Batch(_encoded(records), None))

    def _take(self, batch: _Batch) -> None:
        with self._lock:
            if self._closing or self._thread is None:
                raise StorageError(f"{self.path}: the log is closed: the worker is shutting down")
            self._pending.append(batch)
            self._lock.notify()

    # --- the thread -----------------------------------------------------------------------------------

    def _write_all(self) -> None:
        while (group := self._next_group()) is not None:
            try:
                made = self._write(group)
            except OSError as error:
                self._fail(group, error)
                with self._lock:
                    if self._closing and not self._pending:
                        break
                continue
            self._owed.clear()
            if self.failure is not None:
                _logger.warning("%s: is written again", self.path)
                self.failure = None
            self._tell(self._deliver, group, made)
            if self._file.size > self._compact_above:
                self._compact()
        if self._owed:
            _logger.error("%s: %d records without a waiting writer are lost", self.path, len(self._owed))

    def _next_group(self) -> list[_Batch] | None:
        with self._lock:
            if not (self._pending or self._closing):
                self._lock.wait(_RETRY_S if self.failure is not None else None)
            while not (self._pending or self._closing or self.failure is not None):
                self._lock.wait()
            group, self._pending = self._pending, []
            if self._closing and not (group or self._owed):
                return None
        return [_Batch(list(self._owed.values()), None), *group] if self._owed else group

    def _write(self, group: Sequence[_Batch]) -> list[StoredRecord]:
        self._file.cut_back()
        made, texts = [], []
        for place, (key, value, text) in enumerate((each for batch in group for each in batch.records), self._next):
            made.append(StoredRecord(place, key, value))
            texts.append(f"[{place},{text}]")
        if made or self.failure is not None:
            # A frame without records is as long as the one that failed, or it might find room where that does not.
            text = f"[{','.join(texts)}]".ljust(0 if made else self._tried)
            self._tried = len(text)
            self._file.append(text.encode())
            self._file.sync()
            self._next += len(made)
            for record in made:
                _keep(self._live, record)
        return made

    def _fail(self, group: Sequence[_Batch], error: OSError) -> None:
        failure = StorageError(f"{self.path}: {error.strerror or error}: nothing is written until that is mended")
        if self.failure is None:
            _logger.error("%s", failure)
        self.failure = failure
        with contextlib.suppress(OSError):
            self._file.cut_back()
        for batch in group:
            if batch.done is None:
                for record in batch.records:
                    # The latest of a key comes last, as it would have been written.
                    self._owed.pop(record[0], None)
                    self._owed[record[0]] = record
            else:
                # The caller may have stopped waiting.
                with contextlib.suppress(InvalidStateError):
                    batch.done.set_exception(failure)

    def _tell(self, call: Callable[..., None], *arguments: Any) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:
            # The loop is closed: no reader is left.
            return

    def _deliver(self, group: Sequence[_Batch], made: Sequence[StoredRecord]) -> None:
        records = iter(made)
        for batch in group:
            for _ in batch.records:
                record = next(records)
                self._take_in(record)
                for reader in tuple(self._readers):
                    _read(reader, record)
            if batch.done is not None and not batch.done.cancelled():
                batch.done.set_result(self.end)

    def _take_in(self, record: StoredRecord) -> None:
        _keep(self._kept, record)
        self.end = record.offset + 1

    # --- the file -------------------------------------------------------------------------------------

    def _load(self, place: int, payload: bytes) -> None:
        try:
            records = json.loads(payload)
            if not isinstance(records, list):
                raise TypeError("a frame is a list of records")
            for offset, key, value in records:
                # The place that compaction notes is that of the last record, which may be there, too.
                earliest = max(self.end - 1, 0) if key == _POSITION_KEY else self.end
                if type(offset) is not int or type(key) is not str or offset < earliest:
                    raise TypeError("a record is a place, a key and a value, in order of their places")
                if key == _POSITION_KEY:
                    self.end = offset + 1
                else:
                    self._take_in(StoredRecord(offset, key, value))
                    self._found += 1
        except (ValueError, TypeError, RecursionError) as error:
            raise LogCorruptError(f"{self.path}: the record at byte {place} is none of ours: {error}") from error

    def _compact(self) -> None:
        texts = [f"[{record.offset},{_text(record.key, record.value)}]" for record in self._live.values()]
        try:
            self._file.replace(_together([*texts, f"[{self._next - 1},{_text(_POSITION_KEY, None)}]"]))
        except OSError as error:
            # The old file is complete: it can wait for a better moment.
            _logger.warning("not compacted: %s", error)
            self._compact_above = self._file.size * 2
            return
        self._compact_above = _compact_above(self._file.size)
        _logger.info("%s: compacted to %d records", self.path, len(texts))


def _compact_above(compacted: int) -> int:
    return max(_COMPACT_ABOVE_BYTES, _COMPACT_RATIO * compacted)


def _together(texts: Sequence[str]) -> Iterator[bytes]:
    for start in range(0, len(texts), _COMPACTED_TOGETHER):
        yield f"[{','.join(texts[start : start + _COMPACTED_TOGETHER])}]".encode()


def _encoded(records: Iterable[tuple[str, Any]]) -> list[tuple[str, Any, str]]:
    return [(key, value, _text(key, value)) for key, value in records]


def _text(key: str, value: Any) -> str:
    return json.dumps([key, value], separators=(",", ":"))[1:-1]


def _keep(records: dict[str, StoredRecord], record: StoredRecord) -> None:
    records.pop(record.key, None)
    if record.value is not None:
        records[record.key] = record


def _read(reader: Callable[[StoredRecord], None], record: StoredRecord) -> None:
    try:
        reader(record)
    except Exception:
        # One reader's fault must keep neither the others nor the writer waiting.
        _logger.exception("a reader cannot take the record at %d", record.offset)
