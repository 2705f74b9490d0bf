"""Stores that instances restored, as their logs tell: since when, until when, and how many records that took."""

from __future__ import annotations

import re

import attrs

from assignor_lab.capture.logs.messages import Kind
from assignor_lab.capture.logs.records import LogRecord
from assignor_lab.capture.logs.timestamps import LogTime

__all__ = ["Restorations", "Restored"]

_THREAD = r"\A(?:state-updater|stream-thread) \[(?P<client>.*?)-(?P<thread>(?:StateUpdater|StreamThread)-\d+)\] "
_BEGUN = re.compile(rf"{_THREAD}End offset for changelog (?P<changelog>\S+-\d+) initialized as (?P<end>\d{{1,19}})\.")
_RESTORED = re.compile(
    rf"{_THREAD}Finished restoring changelog (?P<topic>\S+)-(?P<partition>\d{{1,10}}) to store (?P<store>\S+) "
    r"with a total number of (?P<records>\d{1,19}) records"
)
_TASK = re.compile(
    rf"{_THREAD}Stateful active task (?P<task>(?:\S+__)?\d+_(?P<partition>\d{{1,10}})) completed restoration"
)


@attrs.define
class Restored:
    """A store that an instance restored.

    Args:
        time: When it was ready.
        client: ``client.id`` of the instance.
        thread: Its thread.
        topic: The changelog.
        partition: Its partition.
        store: The store.
        records: How many records that took.
        begun: When its end was known and restoring began, or ``None`` if the log does not say.
        end_offset: The changelog's end then; 0 if the log does not say.
        task: The task that it is of, or ``None`` if the log does not say.
    """

    time: LogTime
    client: str
    thread: str
    topic: str
    partition: int
    store: str
    records: int
    begun: LogTime | None = None
    end_offset: int = 0
    task: str | None = None


@attrs.define
class Restorations:
    """Takes the messages one after another."""

    #: All that was restored, in the order of reading.
    stores: list[Restored] = attrs.field(init=False, factory=list)
    #: Client and changelog partition to the beginning of a restoration that is not done yet.
    _begun: dict[tuple[str, str], tuple[LogTime, int]] = attrs.field(init=False, factory=dict)
    #: Client and partition to stores of which it is not known yet which task they are of.
    _open: dict[tuple[str, int], list[Restored]] = attrs.field(init=False, factory=dict)

    @property
    def of_tasks(self) -> list[Restored]:
        """Those of which the task is known."""
        return [each for each in self.stores if each.task is not None]

    def take(self, record: LogRecord) -> None:
        """Adds a message; one that is cut off, or has no time, is passed over."""
        if record.time is None:
            return
        if record.kind is Kind.END_OFFSET and (found := _BEGUN.match(record.text)):
            self._begun[found["client"], found["changelog"]] = record.time, int(found["end"])
        elif record.kind is Kind.RESTORED and (found := _RESTORED.match(record.text)):
            changelog = f"{found['topic']}-{found['partition']}"
            begun, end = self._begun.pop((found["client"], changelog), (None, 0))
            made = Restored(
                record.time, found["client"], found["thread"], found["topic"], int(found["partition"]), found["store"],
                int(found["records"]), begun, end,
            )  # fmt: skip
            self.stores.append(made)
            self._open.setdefault((made.client, made.partition), []).append(made)
        elif record.kind is Kind.RESTORED_TASK and (found := _TASK.match(record.text)):
            # All stores of a task have its partition's number, and are ready before it is.
            for each in self._open.pop((found["client"], int(found["partition"])), ()):
                each.task = found["task"]
