"""Restored stores in instances' logs: start, end and number of records."""

from __future__ import annotations

import re

import attrs

from assignor_lab.capture.logs.messages import MessageKind
from assignor_lab.capture.logs.records import LogMessage
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
    """A restored store of an instance.

    Args:
        end_offset: The changelog's end at the start; 0 if not logged.
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
    """Collects restored stores from messages."""

    stores: list[Restored] = attrs.field(init=False, factory=list)
    #: Restored tasks whose stores are not logged (no INFO of StoreChangelogReader); `store` is empty.
    _without_stores: list[Restored] = attrs.field(init=False, factory=list)
    #: Client and changelog partition to an unfinished restore.
    _begun: dict[tuple[str, str], tuple[LogTime, int]] = attrs.field(init=False, factory=dict)
    #: Client and partition to stores of an unknown task.
    _open: dict[tuple[str, int], list[Restored]] = attrs.field(init=False, factory=dict)

    @property
    def of_tasks(self) -> list[Restored]:
        return [*(each for each in self.stores if each.task is not None), *self._without_stores]

    def take(self, record: LogMessage) -> None:
        if record.time is None:
            return
        if record.kind is MessageKind.END_OFFSET and (found := _BEGUN.match(record.text)):
            self._begun[found["client"], found["changelog"]] = record.time, int(found["end"])
        elif record.kind is MessageKind.RESTORED and (found := _RESTORED.match(record.text)):
            changelog = f"{found['topic']}-{found['partition']}"
            begun, end = self._begun.pop((found["client"], changelog), (None, 0))
            made = Restored(
                record.time, found["client"], found["thread"], found["topic"], int(found["partition"]), found["store"],
                int(found["records"]), begun, end,
            )  # fmt: skip
            self.stores.append(made)
            self._open.setdefault((made.client, made.partition), []).append(made)
        elif record.kind is MessageKind.RESTORED_TASK and (found := _TASK.match(record.text)):
            # All stores of a task have its partition's number, and are ready before it.
            stores = self._open.pop((found["client"], int(found["partition"])), [])
            for each in stores:
                each.task = found["task"]
            if not stores:
                client, partition = found["client"], int(found["partition"])
                made = Restored(record.time, client, found["thread"], "", partition, "", 0, task=found["task"])
                self._without_stores.append(made)
