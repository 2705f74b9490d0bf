"""A broker and applications of one release of Kafka, for tests marked `services`."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import threading
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.live.recorded_lives import LONG_S, RecordedLives, lib_of
from tests.connect.real_kafka import JVM, LIB, RealConnect, until

HERE = Path(__file__).parent
OFFICIAL = Path(__file__).parents[3] / "build" / "official"
INSTANCES_LOGGING = HERE / "released-log4j2.xml"
PARTITIONS = 4
SESSION_MS = 10_000
#: A task is away after this long without output; a step also counts absences that begin this long before it.
AWAY_S, GRACE_S = 0.5, 0.5
_KEEPS_TOPOLOGIES = "org.apache.kafka.server.streams.InMemoryTopologyDescriptionPlugin"
_RESTORED = re.compile(r"Finished restoring changelog (\S+) to store \S+ with a total number of (\d+) records")


def path_of_clients(classes: Path, release: str) -> str:
    """The class path of an application of Kafka Streams."""
    (streams,) = (OFFICIAL / f"kafka-{release}" / "lib").glob("kafka-streams-*.jar")
    (rocks,) = (Path(importlib.util.find_spec("pyspark").origin).parent / "jars").glob("rocksdbjni-*.jar")  # type: ignore[union-attr, arg-type]
    return f"{classes}:{streams}:{rocks}:{path_of_broker(release)}"


def path_of_broker(release: str) -> str:
    """The class path of a broker, and of clients without Streams."""
    return ":".join([f"{lib_of(release)}/*", *map(str, sorted(LIB.glob("log4j-slf4j-impl-*.jar")))])


class Instances:
    """A process of clients of one release, with any number of instances."""

    def __init__(self, kafka: ReleasedKafka, name: str, release: str) -> None:
        self.log = kafka.directory / f"{name}.log"
        self.states: dict[str, str] = {}
        self._answers: list[str] = []
        path = kafka.path_of(release)
        options = [f"-Dlog4j2.configurationFile={INSTANCES_LOGGING}", f"-Dlog={self.log}", "-cp", path]
        with (kafka.directory / f"{name}.out").open("ab") as errors:
            self.java = subprocess.Popen(
                ["java", *JVM, "-Xmx256m", *options, "ReleasedApplications"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1,
            )  # fmt: skip
        kafka.processes[name] = self.java  # type: ignore[assignment]
        threading.Thread(target=self._read, daemon=True).start()

    def start(self, name: str, prefix: str, store: str, settings: list[str]) -> None:
        self.states.pop(name, None)
        self._command(f"start {name}", f"start {name} {prefix} {store} {' '.join(settings)}")

    def close(self, name: str) -> None:
        self._command(f"close {name}", f"close {name}")

    def wait_until_running(self, *names: str) -> None:
        until(lambda: all(self.states.get(name) == "RUNNING" for name in names), f"{names} RUNNING", LONG_S)

    def restored(self) -> dict[str, int]:
        """Changelog partition to the records of its last completed restoration."""
        return {changelog: int(count) for changelog, count in _RESTORED.findall(self.log.read_text())}

    def _command(self, answer: str, line: str) -> None:
        assert self.java.stdin is not None
        self.java.stdin.write(f"{line}\n")
        self.java.stdin.flush()
        until(lambda: f"done {answer}" in self._answers, answer, LONG_S)
        self._answers.remove(f"done {answer}")

    def _read(self) -> None:
        assert self.java.stdout is not None
        for line in self.java.stdout:
            words = line.split()
            if words and words[0] == "state":
                self.states[words[1]] = words[2]
            else:
                self._answers.append(line.strip())


class ReleasedKafka(RecordedLives):
    """One or two brokers of a release, and applications of any."""

    def __init__(self, directory: Path, release: str) -> None:
        RealConnect.__init__(self, directory)
        self.release = release
        self.classes = directory / "classes"
        self.out = directory / "past"
        compiler = ["javac", "-proc:none", "-cp", self.path_of(release), "-d", str(self.classes)]
        subprocess.run([*compiler, str(HERE / "ReleasedApplications.java")], check=True, capture_output=True)

    def path_of(self, release: str) -> str:
        return path_of_clients(self.classes, release)

    def start_broker(self) -> None:
        super().start_broker()
        # The coordinator's topic is on this broker, before another one joins.
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        until(lambda: _is_there(admin), "the coordinator", LONG_S)
        admin.close()

    def _properties(self, name: str, values: Mapping[str, object]) -> Path:
        if name == "broker" and self.release == "4.4":
            values = {**values, "group.streams.topology.description.plugin.class": _KEEPS_TOPOLOGIES}
        return super()._properties(name, values)

    def create_topics(self, prefix: str, replicas: int = 1) -> None:
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        admin.create_topics([NewTopic(f"{prefix}-{name}", PARTITIONS, replicas) for name in ("work", "out")])
        admin.close()

    def fill(self, prefix: str, records: int, size: int = 200) -> None:
        """The same number of records in each partition."""
        producer = KafkaProducer(bootstrap_servers=self.address, linger_ms=20, batch_size=100_000)
        for _ in range(records):
            for partition in range(PARTITIONS):
                producer.send(f"{prefix}-work", key=str(partition).encode(), value=b"x" * size, partition=partition)
        producer.flush()
        producer.close()

    def settings_for(self, name: str, prefix: str, **settings: object) -> list[str]:
        common = {
            "num_stream_threads": 2, "session_timeout_ms": SESSION_MS, "heartbeat_interval_ms": 3_000,
            "commit_interval_ms": 1_000, "statestore_cache_max_bytes": 0, "metadata_max_age_ms": 1_000,
        }  # fmt: skip
        return self.settings_of(name, prefix, {**common, **settings})

    def epochs(self, group: str) -> list[int]:
        """Generations or target epochs that the coordinator logged, in order."""
        return sorted(self.decided(group))

    def processed(self, group: str) -> int:
        """Committed input records."""
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        try:
            offsets = admin.list_group_offsets(group)[group]
        finally:
            admin.close()
        return sum(max(at.offset, 0) for partition, at in offsets.items() if partition.topic == f"{group}-work")

    def assignor(self, *words: object) -> str:
        arguments = [str(word) for word in words]
        told = CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)
        assert told.exit_code == 0, told.stderr
        return told.stdout

    def captured(self, group: str, *options: str) -> Path:
        out = self.directory / f"{group}.jsonl"
        where = ("--bootstrap-server", self.address, "--group", group, "--out", out, "--wait", f"{LONG_S:g}")
        self.assignor("capture", *where, *options)
        return out


class OutputProbe:
    """Sends 20 records a second to each partition of a prefix, and notes when the output arrives."""

    def __init__(self, address: str, prefix: str) -> None:
        self._address, self._prefix = address, prefix
        self._stopped = threading.Event()
        self.arrivals: dict[int, list[float]] = {}
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._send, self._read)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join(20)

    def absences(self, begin: float) -> dict[int, list[float]]:
        """Partition to the lengths of its absences, in seconds."""
        return {
            partition: [
                after - before
                for before, after in pairwise(moments)
                if before >= begin - GRACE_S and after - before >= AWAY_S
            ]
            for partition, moments in self.arrivals.items()
        }

    def longest_gap_before(self, begin: float) -> float:
        """The longest gap of a calm group, in seconds: the error of the probe on this machine."""
        calm = [[at for at in moments if at < begin - 2 * GRACE_S][20:] for moments in self.arrivals.values()]
        return max((after - before for moments in calm for before, after in pairwise(moments)), default=0.0)

    def _send(self) -> None:
        producer = KafkaProducer(bootstrap_servers=self._address, linger_ms=0)
        while not self._stopped.wait(0.05):
            for partition in range(PARTITIONS):
                value, key = b"x" * 200, str(partition).encode()
                producer.send(f"{self._prefix}-work", key=key, value=value, partition=partition)
        producer.close()

    def _read(self) -> None:
        consumer = KafkaConsumer(
            bootstrap_servers=self._address, auto_offset_reset="latest", isolation_level="read_committed"
        )
        consumer.assign([TopicPartition(f"{self._prefix}-out", number) for number in range(PARTITIONS)])
        while not self._stopped.is_set():
            found = consumer.poll(timeout_ms=50)
            now = time.time()
            for at in found:
                self.arrivals.setdefault(at.partition, []).append(now)
        consumer.close()


def _is_there(admin: Any) -> bool:
    try:
        admin.list_group_offsets("nobody")
    except Exception:  # noqa: BLE001 - any error: not yet
        return False
    return True
