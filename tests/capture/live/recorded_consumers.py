"""Records plain consumer groups of a real broker: ``python -m tests.capture.live.recorded_consumers OUT``.

The groups are those of ``tests/data/captures/consumers``. All of them live by one clock: three members start, two roll,
the third is killed and returns, the first one is late with its poll, the topics grow, and all stop.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from kafka import KafkaAdminClient
from kafka.admin import NewPartitions, NewTopic
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.live.python_consumers import LIBRARIES
from tests.connect.real_kafka import LIB, RealConnect

__all__ = ["CLASSIC", "CONSUMER", "GROUPS", "LIBRARY", "MOVED", "SHARE", "RecordedConsumers"]

_SOURCE = Path(__file__).with_name("PlainConsumers.java")
_PACKAGE = "org.apache.kafka.clients.consumer"
_SESSION = {"session.timeout.ms": 6_000, "heartbeat.interval.ms": 1_000}
_CONSUMER = {"group.protocol": "consumer"}
_BOTH = f"{_PACKAGE}.RangeAssignor,{_PACKAGE}.CooperativeStickyAssignor"

#: Settings of each group's members.
CLASSIC: Mapping[str, Mapping[str, object]] = {
    "range": {**_SESSION, "partition.assignment.strategy": f"{_PACKAGE}.RangeAssignor"},
    "roundrobin": {**_SESSION, "partition.assignment.strategy": f"{_PACKAGE}.RoundRobinAssignor"},
    "sticky": {**_SESSION, "partition.assignment.strategy": f"{_PACKAGE}.StickyAssignor"},
    "cooperative": {**_SESSION, "partition.assignment.strategy": f"{_PACKAGE}.CooperativeStickyAssignor"},
    "defaults": {**_SESSION, "partition.assignment.strategy": _BOTH},
    "static": {**_SESSION, "partition.assignment.strategy": f"{_PACKAGE}.RangeAssignor", "static": True},
    "static-cooperative": {
        **_SESSION, "partition.assignment.strategy": f"{_PACKAGE}.CooperativeStickyAssignor", "static": True,
    },
}  # fmt: skip
CONSUMER: Mapping[str, Mapping[str, object]] = {
    "uniform": _CONSUMER,
    "uniform-static": {**_CONSUMER, "static": True},
    "uniform-regex": {**_CONSUMER, "regex": "(orders|payments)"},
    "broker-range": {**_CONSUMER, "group.remote.assignor": "range"},
    "unequal": {**_CONSUMER, "topics": {"c1": "orders", "c2": "orders,payments", "c3": "payments,audit"}},
}
SHARE = {"share": {"share": True}}
#: Groups whose members use the client libraries of Python; ``mixed`` has one member of each, and one of Java.
LIBRARY: Mapping[str, Mapping[str, object]] = {
    "kafka-python-range": {**_SESSION, "library": "kafka-python", "partition.assignment.strategy": "range"},
    "kafka-python-sticky": {**_SESSION, "library": "kafka-python", "partition.assignment.strategy": "sticky"},
    "librdkafka-range": {**_SESSION, "library": "librdkafka", "partition.assignment.strategy": "range"},
    "mixed": {**_SESSION, "library": {"c1": "kafka-python", "c2": "", "c3": "librdkafka"}},
}  # fmt: skip
#: Members of classic groups that move to the consumer protocol one by one, and back.
MOVED = {"moved": CLASSIC["cooperative"]}
GROUPS = (*CLASSIC, *CONSUMER, *SHARE, *LIBRARY, *MOVED)
_TOPICS = {"orders": 12, "payments": 6, "audit": 1}
_GROWN = {"orders": 15, "payments": 7}
_LATE_MS = 10_000


class RecordedConsumers(RealConnect):
    """All groups, and their recording in ``out``."""

    #: Settings of the broker.
    of_broker: Mapping[str, object] = MappingProxyType(
        {
            "group.consumer.min.session.timeout.ms": 6_000,
            "group.consumer.session.timeout.ms": 6_000,
            "group.consumer.min.heartbeat.interval.ms": 1_000,
            "group.consumer.heartbeat.interval.ms": 2_000,
            "group.share.min.session.timeout.ms": 6_000,
            "group.share.session.timeout.ms": 6_000,
            "group.share.min.heartbeat.interval.ms": 1_000,
            "group.share.heartbeat.interval.ms": 2_000,
            "group.coordinator.rebalance.protocols": "classic,consumer,share",
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "share.coordinator.state.topic.num.partitions": 1,
        }
    )

    def __init__(self, directory: Path, out: Path) -> None:
        super().__init__(directory)
        self.out = out
        self.classes = directory / "classes"
        compiler = ["javac", "-proc:none", "-cp", f"{LIB}/*", "-d", str(self.classes), str(_SOURCE)]
        subprocess.run(compiler, check=True, capture_output=True, timeout=120)
        self._begun = 0.0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.broker}"

    def live(self, follow_s: int = 100) -> None:
        self.start_broker()
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        admin.create_topics([NewTopic(name, partitions, 1) for name, partitions in _TOPICS.items()])
        for name in ("hosts", "victims", "later"):
            self._host(name, [*self._java("256m"), "PlainConsumers"])
            for library in LIBRARIES:
                self._host(f"{name} {library}", [sys.executable, "-m", "tests.capture.live.python_consumers", library])
        self._begun = time.monotonic()
        lives = threading.Thread(target=self._ordinary, args=(admin,))
        lives.start()
        # The recorder receives signals, which needs the main thread.
        self._record(follow_s)
        lives.join()
        admin.close()

    def _ordinary(self, admin: KafkaAdminClient) -> None:
        lives = {**CLASSIC, **CONSUMER, **SHARE, **LIBRARY}
        self._at(0, "hosts", "start", "c1", {**lives, **MOVED})
        self._at(5, "hosts", "start", "c2", {**lives, **MOVED})
        self._at(10, "victims", "start", "c3", lives)
        self._at(10, "later", "start", "c3", MOVED)
        for begin, name in ((16, "c1"), (24, "c2")):
            self._at(begin, "hosts", "stop", name, {**lives, **MOVED})
            self._at(begin + 2, "hosts", "start", name, lives)
            self._at(begin + 2, "hosts", "start", name, MOVED, changed=_CONSUMER)
        self._sleep_until(34)
        for name in ("victims", *(f"victims {library}" for library in LIBRARIES)):
            self.kill(name)
        self._at(35, "later", "stop", "c3", MOVED)
        self._at(37, "later", "start", "c3", MOVED, changed=_CONSUMER)
        self._at(48, "later", "start", "c3", lives)
        self._at(48, "later", "stop", "c3", MOVED)
        self._at(50, "later", "start", "c3", MOVED)
        self._at(56, "hosts", "stop", "c1", MOVED)
        self._at(58, "hosts", "start", "c1", MOVED)
        self._at(60, "hosts", "pause", "c1", lives, amount=_LATE_MS)
        self._at(64, "hosts", "stop", "c2", MOVED)
        self._at(66, "hosts", "start", "c2", MOVED)
        self._sleep_until(76)
        admin.create_partitions({name: NewPartitions(total_count=count) for name, count in _GROWN.items()})
        self._at(86, "later", "stop", "c3", {**lives, **MOVED})
        self._at(91, "hosts", "stop", "c2", {**lives, **MOVED})
        self._sleep_until(94)

    # --- inside -----------------------------------------------------------------------------------------

    def _host(self, name: str, command: list[str]) -> None:
        with (self.directory / f"{name}.out").open("ab") as out:
            self.processes[name] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=out)

    def _at(
        self,
        second: float,
        host: str,
        command: str,
        member: str,
        groups: Mapping[str, Mapping[str, object]],
        *,
        amount: int = 0,
        changed: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self._sleep_until(second)
        for group, settings in groups.items():
            given = {**settings, **changed}
            library = given.pop("library", "")
            library = library[member] if isinstance(library, Mapping) else library
            if group == "mixed":
                given["partition.assignment.strategy"] = "range" if library else f"{_PACKAGE}.RangeAssignor"
            words = self._settings(group, member, given) if command == "start" else str(amount or "")
            self._command(f"{host} {library}".strip(), f"{command} {group}-{member} {words}".strip())

    def _settings(self, group: str, member: str, given: Mapping[str, object]) -> str:
        values: dict[str, object] = {
            "bootstrap.servers": self.address,
            "group.id": group,
            "client.id": f"{group}-{member}",
            "topics": "orders,payments",
            **given,
        }
        if values.get("share") is None:
            values |= {"max.poll.interval.ms": 6_000, "metadata.max.age.ms": 2_000, "auto.offset.reset": "earliest"}
        if values.get("group.protocol") == "consumer":
            for key in (*_SESSION, "partition.assignment.strategy"):
                values.pop(key, None)
        if values.pop("static", None):
            values["group.instance.id"] = member
        topics = values["topics"]
        if isinstance(topics, Mapping):
            values["topics"] = topics[member]
        return " ".join(f"{key}={value}" for key, value in values.items())

    def _command(self, host: str, line: str) -> None:
        pipe = self.processes[host].stdin
        assert pipe is not None
        pipe.write(f"{line}\n".encode())
        pipe.flush()

    def _sleep_until(self, second: float) -> None:
        time.sleep(max(0.0, self._begun + second - time.monotonic()))

    def _record(self, follow_s: int) -> None:
        arguments = ["record", "--bootstrap-server", self.address, "--all", "--out", str(self.out)]
        arguments += ["--for", f"{follow_s}s", "--sample-every", "5s"]
        found = CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)
        assert found.exit_code == 0, found.output

    def _java(self, heap: str) -> list[str]:
        *options, _, path = super()._java(heap)
        return [*options, "-cp", f"{self.classes}:{path}"]

    def _properties(self, name: str, values: Mapping[str, object]) -> Path:
        if name == "broker":
            values = {**values, **self.of_broker}
        return super()._properties(name, values)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = RecordedConsumers(Path(folder), Path(sys.argv[1]))
        try:
            made.live()
        finally:
            made.close()
