"""Consumers of Python's client libraries in one process: ``python -m tests.capture.live.python_consumers LIBRARY``.

Commands on the standard input are those of ``PlainConsumers.java``: "start NAME key=value ...", "pause NAME ms" and
"stop NAME". Keys are Kafka's; the strategy has the library's own name. The lines of the output are the same, too.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

__all__ = ["LIBRARIES"]

_STRATEGY = "partition.assignment.strategy"
_STRATEGIES = {
    each.name: each
    for each in (
        RangePartitionAssignor,
        RoundRobinPartitionAssignor,
        StickyPartitionAssignor,
        CooperativeStickyAssignor,
    )
}


#: Writes a line: a change, and its partitions.
Tell = Callable[[str, Iterable[Any]], None]
#: A poll and the end of a consumer.
Calls = tuple[Callable[[], object], Callable[[], object]]


class Member(threading.Thread):
    """A consumer in its own thread."""

    def __init__(self, name: str, make: Callable[[dict[str, str], Tell], Calls], settings: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self._name, self._make, self._settings = name, make, settings
        self.pause_s = 0.0
        self.ends = False

    def run(self) -> None:
        poll, close = self._make(self._settings, self._tell)
        while not self.ends:
            poll()
            if self.pause_s:
                self._tell("stands")
                time.sleep(self.pause_s)
                self.pause_s = 0.0
                self._tell("goes")
        self._tell("closing")
        close()
        self._tell("closed")

    def _tell(self, change: str, partitions: Iterable[Any] = ()) -> None:
        words = " ".join(f"{each.topic}-{each.partition}" for each in partitions)
        sys.stdout.write(f"{time.time_ns() // 1_000_000} {self._name} {change} {words}".rstrip() + "\n")
        sys.stdout.flush()


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        self._tell("revoked", revoked)

    def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        self._tell("assigned", assigned)

    def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        self._tell("lost", lost)


def kafka_python(settings: dict[str, str], tell: Tell) -> Calls:
    """A consumer of kafka-python."""
    topics = settings.pop("topics").split(",")
    strategy = _STRATEGIES[settings.pop(_STRATEGY)]
    options = {key.replace(".", "_"): int(value) if value.isdecimal() else value for key, value in settings.items()}
    consumer = KafkaConsumer(**options, partition_assignment_strategy=[strategy])
    consumer.subscribe(topics, listener=_Listener(tell))
    return lambda: consumer.poll(timeout_ms=100), consumer.close


def librdkafka(settings: dict[str, str], tell: Tell) -> Calls:
    """A consumer of confluent-kafka."""
    from confluent_kafka import Consumer

    topics = settings.pop("topics").split(",")
    settings["topic.metadata.refresh.interval.ms"] = settings.pop("metadata.max.age.ms")
    consumer = Consumer(settings)

    def passes(change: str, _: object, partitions: Iterable[Any]) -> None:
        tell(change, partitions)

    listeners = {"on_assign": "assigned", "on_revoke": "revoked", "on_lost": "lost"}
    consumer.subscribe(topics, **{name: partial(passes, change) for name, change in listeners.items()})
    return lambda: consumer.poll(0.1), consumer.close


LIBRARIES: Mapping[str, Callable[[dict[str, str], Tell], Calls]] = {
    "kafka-python": kafka_python,
    "librdkafka": librdkafka,
}


def main() -> None:
    """Obeys the commands until the standard input ends."""
    make, members = LIBRARIES[sys.argv[1]], dict[str, Member]()
    for line in sys.stdin:
        command, name, *rest = line.split()
        if command == "start":
            members[name] = Member(name, make, dict(each.split("=", 1) for each in rest))
            members[name].start()
        elif command == "pause":
            members[name].pause_s = int(rest[0]) / 1000
        else:
            members.pop(name).ends = True
    # Without the orderly end of other threads.
    os._exit(0)


if __name__ == "__main__":
    main()
