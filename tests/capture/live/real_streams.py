"""A real broker with real applications of Kafka Streams and a Connect worker, for tests marked `services`."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from tests.connect.real_kafka import LIB, RealConnect

SOURCE = Path(__file__).with_name("OrdersApplication.java")
OFFICIAL = Path(__file__).parents[3] / "build" / "official" / "kafka-4.3" / "lib"
RACK = "r1"


class RealApplications(RealConnect):
    #: Java files of the applications.
    sources: tuple[Path, ...] = (SOURCE,)

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        (streams,) = OFFICIAL.glob("kafka-streams-*.jar")
        self.classes = directory / "classes"
        self.path = f"{self.classes}:{streams}:{LIB}/*"
        compiler = ["javac", "-proc:none", "-cp", self.path, "-d", str(self.classes), *map(str, self.sources)]
        subprocess.run(compiler, check=True, capture_output=True, timeout=120)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.broker}"

    def create_input(self, partitions: int) -> None:
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        admin.create_topics([NewTopic("in", partitions, 1), NewTopic("out", 1, 1)])
        admin.close()

    def produce(self, records: int) -> None:
        producer = KafkaProducer(bootstrap_servers=self.address)
        for number in range(records):
            producer.send("in", key=str(number).encode(), value=f"word {number % 100}".encode())
        producer.flush()
        producer.close()

    def start_application(self, name: str, application: str, **settings: object) -> None:
        self._spawn(name, "96m", "OrdersApplication", *self.settings_of(name, application, settings))

    def start_process(self, name: str, applications: Mapping[str, Mapping[str, object]]) -> None:
        arguments: list[str] = []
        for application, settings in applications.items():
            arguments += ["--"] * bool(arguments)
            arguments += self.settings_of(f"{name}-{application}", application, settings)
        self._spawn(name, "128m", "OrdersApplication", *arguments)

    def settings_of(self, name: str, application: str, settings: Mapping[str, object]) -> list[str]:
        values = {
            "bootstrap.servers": self.address,
            "application.id": application,
            "client.id": name,
            "client.rack": RACK,
            "state.dir": self.directory / name,
            **{key.replace("_", "."): value for key, value in settings.items()},
        }
        return [f"{key}={value}" for key, value in values.items()]

    def _java(self, heap: str) -> list[str]:
        *options, _, _ = super()._java(heap)
        return [*options, "-cp", self.path]

    def _properties(self, name: str, values: Mapping[str, object]) -> Path:
        if name == "broker":
            values = {**values, "broker.rack": RACK, "group.streams.initial.rebalance.delay.ms": 0}
        return super()._properties(name, values)
