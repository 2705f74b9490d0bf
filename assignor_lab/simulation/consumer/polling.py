"""Times without polls of each partition."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignor_lab.model.courses import OwnedTime, TaskCourse, UnownedTime
from assignor_lab.simulation.consumer.consumers import Consumer, Partition

__all__ = ["NotPolled", "PollingLedger"]


@attrs.frozen
class NotPolled:
    """A time in which a partition is not polled.

    Args:
        end_ms: ``None`` while it lasts.
        after: The last consumer, by its key; empty: the partition is new.
        cause: The event that ended its polls.
    """

    partition: Partition
    begin_ms: int
    end_ms: int | None
    after: str
    cause: str


class PollingLedger:
    """The consumers that poll each partition. A partition without any is not polled."""

    def __init__(self) -> None:
        self.over: list[NotPolled] = []
        #: Partition to its runs; a run that lasts ends at the end of the play.
        self.runs: dict[Partition, list[tuple[int, int | None, str]]] = {}
        self._polled_by: dict[Partition, set[str]] = {}
        self._open: dict[Partition, NotPolled] = {}

    def exists(self, partition: Partition, now_ms: int) -> None:
        if partition not in self._polled_by:
            self._polled_by[partition] = set()
            self._open[partition] = NotPolled(partition, now_ms, None, "", "new partition")

    def begins(self, consumer: Consumer, partitions: Iterable[Partition], now_ms: int) -> None:
        for partition in partitions:
            self.exists(partition, now_ms)
            self._polled_by[partition].add(consumer.key)
            self.runs.setdefault(partition, []).append((now_ms, None, consumer.name))
            opened = self._open.pop(partition, None)
            if opened is not None and opened.begin_ms < now_ms:
                self.over.append(attrs.evolve(opened, end_ms=now_ms))

    def ends(self, consumer: Consumer, partitions: Iterable[Partition], now_ms: int, cause: str) -> None:
        for partition in partitions:
            polled_by = self._polled_by.get(partition, set())
            if consumer.key in polled_by:
                polled_by.discard(consumer.key)
                self._ends_run(partition, consumer.name, now_ms)
                if not polled_by:
                    self._open[partition] = NotPolled(partition, now_ms, None, consumer.key, cause)

    def _ends_run(self, partition: Partition, name: str, now_ms: int) -> None:
        runs = self.runs[partition]
        place = max(each for each, run in enumerate(runs) if run[1] is None and run[2] == name)
        runs[place] = (runs[place][0], now_ms, name)

    def course(self, partition: Partition, begin_ms: int, until_ms: int) -> TaskCourse:
        """Runs and waits of a partition between two times."""
        waits = [each for each in (*self.over, *self._open.values()) if each.partition == partition]
        runs = self.runs.get(partition, [])
        return TaskCourse(
            tuple(
                OwnedTime(max(begin_ms, begin), until_ms if end is None else end, name)
                for begin, end, name in runs
                if end is None or end > begin_ms
            ),
            tuple(
                UnownedTime(max(begin_ms, each.begin_ms), each.end_ms or until_ms, each.cause)
                for each in sorted(waits, key=lambda each: each.begin_ms)
                if (each.end_ms or until_ms) > max(begin_ms, each.begin_ms)
            ),
        )

    @property
    def lasting(self) -> tuple[NotPolled, ...]:
        return tuple(self._open.values())

    @property
    def owners(self) -> dict[Partition, frozenset[str]]:
        return {partition: frozenset(keys) for partition, keys in self._polled_by.items()}
