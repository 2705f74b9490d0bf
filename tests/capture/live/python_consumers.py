"""Consumers of Python's client libraries in one process: ``python -m tests.capture.live.python_consumers LIBRARY``.

Commands on the standard input are those of ``PlainConsumers.java``: "start NAME key=value ...", "pause NAME ms" and
"stop NAME". Keys are Kafka's; the strategy has the library's own name.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from kafka import KafkaConsumer
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


class Member(threading.Thread):
    """A consumer in its own thread."""

    def __init__(self, make: Callable[[dict[str, str]], Any], settings: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self._make, self._settings = make, settings
        self.pause_s = 0.0
        self.ends = False

    def run(self) -> None:
        poll, close = self._make(self._settings)
        while not self.ends:
            poll()
            time.sleep(self.pause_s)
            self.pause_s = 0.0
        close()


def kafka_python(settings: dict[str, str]) -> tuple[Callable[[], object], Callable[[], object]]:
    """A consumer of kafka-python: its poll and its end."""
    topics = settings.pop("topics").split(",")
    strategy = _STRATEGIES[settings.pop(_STRATEGY)]
    options = {key.replace(".", "_"): int(value) if value.isdecimal() else value for key, value in settings.items()}
    consumer = KafkaConsumer(*topics, **options, partition_assignment_strategy=[strategy])
    return lambda: consumer.poll(timeout_ms=100), consumer.close


def librdkafka(settings: dict[str, str]) -> tuple[Callable[[], object], Callable[[], object]]:
    """A consumer of confluent-kafka: its poll and its end."""
    from confluent_kafka import Consumer

    topics = settings.pop("topics").split(",")
    settings["topic.metadata.refresh.interval.ms"] = settings.pop("metadata.max.age.ms")
    consumer = Consumer(settings)
    consumer.subscribe(topics)
    return lambda: consumer.poll(0.1), consumer.close


LIBRARIES: Mapping[str, Callable[[dict[str, str]], tuple[Callable[[], object], Callable[[], object]]]] = {
    "kafka-python": kafka_python,
    "librdkafka": librdkafka,
}


def main() -> None:
    """Obeys the commands until the standard input ends."""
    make, members = LIBRARIES[sys.argv[1]], dict[str, Member]()
    for line in sys.stdin:
        command, name, *rest = line.split()
        if command == "start":
            members[name] = Member(make, dict(each.split("=", 1) for each in rest))
            members[name].start()
        elif command == "pause":
            members[name].pause_s = int(rest[0]) / 1000
        else:
            members.pop(name).ends = True
    # Without the orderly end of other threads.
    os._exit(0)


if __name__ == "__main__":
    main()
