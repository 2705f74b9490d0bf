"""Lives of real groups beside a recorder: started, grown, killed, returned, stopped (tests marked `services`)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.live.real_streams import RealApplications
from tests.connect.real_kafka import JVM, LIB, START_S, free_ports, until

BROKERS = Path(__file__).parents[3] / "build" / "brokers"
LOGGING = Path(__file__).with_name("coordinator-log4j2.xml")
CLASSIC, STREAMS, CONNECT = "classic", "streams", "real-connect"
SESSION_MS = 10_000
DELAY_MS = 3_000
RECORDS = 400
#: Nine processes start on two cores, which others may use, too.
LONG_S = 240.0

#: Assignment of the classic group's tasks: a killed instance returns without state, and lags then.
ASSIGNMENT = {
    "num.standby.replicas": 1,
    "acceptable.recovery.lag": 5,
    "rack.aware.assignment.strategy": "min_traffic",
    "rack.aware.assignment.traffic_cost": 10,
    "rack.aware.assignment.non_overlap_cost": 1,
}
RACKS = {"p1": "r1", "p2": "r2", "p3": "r1"}

#: A coordinator's log lines for a leader's answer, and for its own targets.
_ANSWERED = re.compile(r"Assignment received from leader \S+ for group (\S+) for generation (\d+)\.")
_DECIDED = re.compile(r"\[GroupId (\S+?)\]\S* .*[Cc]omputed (?:a )?new target assignment for epoch (\d+) ")


def lib_of(release: str) -> Path:
    """The folder of a release's broker and clients."""
    return LIB if release == "4.3" else BROKERS / f"kafka-{release}" / "lib"


class RecordedLives(RealApplications):
    """Groups of each kind at a broker of some release, and the recorder that follows them all."""

    def __init__(self, directory: Path, release: str) -> None:
        super().__init__(directory)
        self.release = release
        self.out = directory / "past"
        *workers, self.metrics_port = free_ports(4)
        self.ports = dict(zip(("w1", "w2", "w3"), workers, strict=True))

    def live(self) -> None:
        """Plays the groups' events; afterwards only the broker is left."""
        self.start_broker()
        self.start_second_broker()
        self.create_input(4)
        for name in ("p1", "p2"):
            self.start_applications(name)
        for name in ("w1", "w2"):
            self.start_worker(name, self.ports[name])
        self.wait_for_members(2)
        self.start_recorder()
        for number in range(3):
            self.put(f"read-{number}", self.connector(number))
        self.produce(RECORDS)
        until(self.is_processed, "all records", LONG_S)
        self.start_applications("p3")
        self.start_worker("w3", self.ports["w3"])
        self.wait_for_members(3)
        self.kill("recorder")
        self.kill("p1")
        self.kill("w1")
        self.wait_for_members(2)
        self.start_recorder("--resume")
        self.start_applications("p1")
        self.start_worker("w1", self.ports["w1"])
        self.wait_for_members(3)
        self.stop("p2")
        self.stop("w2")
        self.wait_for_members(2)
        until(self.serves_the_latest_decisions, "metrics", LONG_S)
        self.reproduced = self.metric("assignor_group_reproduced_decisions_ratio")
        self.served = {sample.name for sample in self.samples()}
        self.stop("recorder")
        # All decisions from the time of its stop are present, and no new ones follow.
        for name in ("p1", "p3", "w1", "w3"):
            self.kill(name)
        self.record("--resume")

    def start_second_broker(self) -> None:
        """Starts a broker in another rack, so that partitions are in both."""
        (port,) = free_ports(1)
        text = (self.directory / "broker.properties").read_text()
        changed = {
            "process.roles": "broker", "node.id": "2", "broker.rack": "r2", "log.dirs": str(self.directory / "log2"),
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        }  # fmt: skip
        kept = dict(line.split("=", 1) for line in text.splitlines())
        config = self._properties("broker2", {**kept, **changed})
        (cluster,) = re.findall(r"cluster\.id=(\S+)", (self.directory / "log" / "meta.properties").read_text())
        tool = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(config)]
        subprocess.run([*self._broker_java("64m"), *tool], check=True, capture_output=True, timeout=LONG_S)
        self._spawn_command("broker2", [*self._broker_java("128m"), "kafka.Kafka", str(config)])
        until(lambda: len(self.brokers()) == 2, "the second broker", LONG_S)

    def brokers(self) -> list[Any]:
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        try:
            found: list[Any] = admin.describe_cluster()["brokers"]
        finally:
            admin.close()
        return found

    # --- members ----------------------------------------------------------------------------------------

    def start_applications(self, name: str) -> None:
        # Every record goes to the changelog at once: no record is written while the groups rebalance.
        common = {"num.stream.threads": 1, "client.rack": RACKS[name], "statestore.cache.max.bytes": 0}
        classic = {**ASSIGNMENT, "consumer.session.timeout.ms": SESSION_MS}
        self.start_process(name, {CLASSIC: {**common, **classic}, STREAMS: {**common, "group.protocol": "streams"}})

    def is_processed(self) -> bool:
        consumer = KafkaConsumer(bootstrap_servers=self.address)
        changelogs = [
            TopicPartition(f"{group}-counts-changelog", at) for group in (CLASSIC, STREAMS) for at in range(4)
        ]
        ends: dict[TopicPartition, int] = consumer.end_offsets(changelogs)
        consumer.close()
        return sum(ends.values()) == 2 * RECORDS

    def connector(self, number: int) -> dict[str, str]:
        file = self.directory / f"lines-{number}"
        file.touch()
        return {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
            "file": str(file),
            "topic": "lines",
        }

    def stop(self, name: str) -> None:
        self.processes[name].terminate()
        self.processes[name].wait(START_S)

    def start_recorder(self, *options: str) -> None:
        served = ["--metrics", f":{self.metrics_port}"]
        served += [option for key, value in ASSIGNMENT.items() for option in ("-c", f"{key}={value}")]
        arguments = self.recording("--follow", "--sample-every", "1s", *served, *options)
        self._spawn_command("recorder", [str(Path(sys.executable).with_name("assignor")), *arguments])

    def record(self, *options: str) -> None:
        arguments = self.recording(*options)
        told = CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)
        assert told.exit_code == 0, told.stderr

    def recording(self, *options: str) -> list[str]:
        return ["record", "--bootstrap-server", self.address, "--all", "--out", str(self.out), *options]

    def wait_for_members(self, number: int) -> None:
        until(
            lambda: self.settled() == {CLASSIC: number, STREAMS: number, CONNECT: number}, f"{number} of each", LONG_S
        )

    def settled(self) -> dict[str, int]:
        arguments = ["groups", "--bootstrap-server", self.address, "--json"]
        told = CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)
        return {
            each["id"]: each["processes"]
            for each in json.loads(told.stdout)
            if each["state"] == "Stable" and each["tasks"] is not None
        }

    # --- observations -----------------------------------------------------------------------------------

    def metric(self, name: str) -> dict[str, float]:
        """Group to the value of a metric that the running recorder serves."""
        return {sample.labels["group"]: sample.value for sample in self.samples() if sample.name == name}

    def samples(self) -> list[Any]:
        """The samples that the running recorder serves; none while it does not."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10) as reply:
                families = list(text_string_to_metric_families(reply.read().decode()))
        except OSError:
            return []
        return [sample for family in families for sample in family.samples]

    def serves_the_latest_decisions(self) -> bool:
        """Whether the running recorder's metrics are those of the last decisions in the brokers' logs."""
        latest = {group: max(self.decided(group)) for group in (CLASSIC, STREAMS, CONNECT)}
        return self.metric("assignor_group_generation") == latest and set(
            self.metric("assignor_group_members").values()
        ) == {2}

    def decided(self, group: str) -> set[int]:
        text = "".join((self.directory / f"{broker}.out").read_text() for broker in ("broker", "broker2"))
        return {int(number) for name, number in (*_ANSWERED.findall(text), *_DECIDED.findall(text)) if name == group}

    def history(self, group: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.out / group / "history.jsonl").read_text().splitlines()]

    # --- inside -----------------------------------------------------------------------------------------

    def _broker_java(self, heap: str) -> list[str]:
        lib = lib_of(self.release)
        assert lib.is_dir(), f"no broker {self.release}: run these tests as `make test-services`, which brings it"
        # Brokers before 4.0 bring another logging library, and the coordinator's texts are needed.
        bound = LIB.glob("log4j-*.jar" if not list(lib.glob("log4j-core-*.jar")) else "log4j-slf4j-impl-*.jar")
        path = ":".join([f"{lib}/*", *map(str, sorted(bound))])
        return ["java", *JVM, f"-Xmx{heap}", f"-Dlog4j2.configurationFile={LOGGING}", "-cp", path]

    def _properties(self, name: str, values: Mapping[str, object]) -> Path:
        if name == "broker":
            times = {
                "group.streams.min.session.timeout.ms": SESSION_MS,
                "group.streams.session.timeout.ms": SESSION_MS,
                "group.streams.min.heartbeat.interval.ms": 500,
                "group.streams.heartbeat.interval.ms": 500,
                "group.streams.num.standby.replicas": 1,
            }
            values = {**values, **times}
        elif "scheduled.rebalance.max.delay.ms" in values:
            values = {**values, "session.timeout.ms": SESSION_MS, "scheduled.rebalance.max.delay.ms": DELAY_MS}
        return super()._properties(name, values)
