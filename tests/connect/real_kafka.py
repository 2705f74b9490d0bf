"""A real broker and real Connect workers for tests marked `services`, installed by scripts/build-kafka."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
from kafka import KafkaAdminClient
from kafka.errors import KafkaError
from kafka.protocol.admin.groups import DescribeGroupsRequest

LIB = Path(__file__).parents[2] / "build" / "kafka" / "lib"
LOGGING = Path(__file__).with_name("log4j2.xml")
#: A small JVM that starts fast; the first compiler is enough for seconds.
JVM = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
START_S = 90.0


def free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def until(condition: Callable[[], bool], what: str, timeout_s: float = START_S, pause_s: float = 0.1) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {timeout_s:g} s"
        time.sleep(pause_s)


class RealConnect:
    def __init__(self, directory: Path) -> None:
        assert LIB.is_dir(), "no Kafka: run these tests as `make test-services`, which brings it"
        self.directory = directory
        self.logging = LOGGING
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.urls: dict[str, str] = {}
        self.http = httpx.Client(trust_env=False, timeout=100)

    # --- processes --------------------------------------------------------------------------------

    def start_broker(self) -> None:
        self.broker, controller = free_ports(2)
        config = self._properties(
            "broker",
            {
                "process.roles": "broker,controller",
                "node.id": 1,
                "controller.quorum.voters": f"1@127.0.0.1:{controller}",
                "controller.listener.names": "CONTROLLER",
                "listeners": f"PLAINTEXT://127.0.0.1:{self.broker},CONTROLLER://127.0.0.1:{controller}",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "log.dirs": self.directory / "log",
                "offsets.topic.replication.factor": 1,
                "offsets.topic.num.partitions": 1,
                "transaction.state.log.replication.factor": 1,
                "transaction.state.log.min.isr": 1,
                "transaction.state.log.num.partitions": 1,
                "group.initial.rebalance.delay.ms": 0,
                "log.cleaner.dedupe.buffer.size": 4 * 1024 * 1024,
                "log.cleaner.threads": 1,
                "num.network.threads": 1,
                "num.io.threads": 2,
                "background.threads": 2,
                "num.recovery.threads.per.data.dir": 1,
            },
        )
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        while cluster.startswith("-"):
            cluster = urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        tool = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(config)]
        subprocess.run([*self._broker_java("64m"), *tool], check=True, capture_output=True, timeout=START_S)
        self._spawn_command("broker", [*self._broker_java("128m"), "kafka.Kafka", str(config)])
        until(self._has_brokers, "the broker")

    def start_worker(
        self,
        name: str,
        port: int,
        max_delay_ms: int = 60_000,
        *,
        protocol: str = "sessioned",
        group: str = "real-connect",
    ) -> None:
        config = self._properties(
            name,
            {
                "bootstrap.servers": f"127.0.0.1:{self.broker}",
                "group.id": group,
                "connect.protocol": protocol,
                "client.id": name,
                "listeners": f"http://127.0.0.1:{port}",
                "rest.advertised.host.name": "127.0.0.1",
                "key.converter": "org.apache.kafka.connect.storage.StringConverter",
                "value.converter": "org.apache.kafka.connect.storage.StringConverter",
                "plugin.discovery": "service_load",
                "scheduled.rebalance.max.delay.ms": max_delay_ms,
                "session.timeout.ms": 10_000,
                "heartbeat.interval.ms": 1_000,
                "offset.flush.interval.ms": 60_000,
                **{
                    f"{kind}.storage.{key}": value
                    for kind in ("config", "offset", "status")
                    for key, value in (("topic", f"real-{kind}"), ("replication.factor", 1))
                },
                "offset.storage.partitions": 1,
                "status.storage.partitions": 1,
            },
        )
        self._spawn(name, "200m", "org.apache.kafka.connect.cli.ConnectDistributed", str(config))
        self.urls[name] = f"http://127.0.0.1:{port}"

    def wait_for_workers(self) -> None:
        for name, url in self.urls.items():
            until(lambda name=name, url=url: self._is_healthy(name, url), name)  # type: ignore[misc]

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()

    def stop(self, name: str) -> None:
        """In order: the worker leaves its group."""
        self.processes[name].terminate()
        self.processes[name].wait(START_S)

    def close(self) -> None:
        self.http.close()
        for process in self.processes.values():
            # Its data is not needed any more.
            process.kill()
        for process in self.processes.values():
            process.wait()

    # --- requests ---------------------------------------------------------------------------------

    def put(self, connector: str, config: Mapping[str, str]) -> None:
        url = f"{next(iter(self.urls.values()))}/connectors/{connector}/config"
        until(lambda: self.http.put(url, json=dict(config)).status_code in (200, 201), f"creating {connector}")

    def status(self, connector: str, worker: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.http.get(f"{self.urls[worker]}/connectors/{connector}/status").json()
        return answer

    def describe_group(self) -> dict[str, Any]:
        """The broker's description of the group: bytes, as a line of a recording."""
        request = DescribeGroupsRequest(groups=["real-connect"], include_authorized_operations=False)
        request.API_VERSION = 6
        request.with_header(correlation_id=1, client_id="test")
        with socket.create_connection(("127.0.0.1", self.broker), timeout=30) as link, link.makefile("rb") as answer:
            link.sendall(request.encode(header=True, framed=True))
            size = int.from_bytes(answer.read(4), "big")
            response = answer.read(size)
        now = time.time_ns() // 1_000_000
        return {"t": now, "api_key": 15, "api_version": 6, "response_hex": response.hex()}

    def states(self, connector: str, worker: str) -> list[str]:
        status = self.status(connector, worker)
        return [each["state"] for each in (status["connector"], *status["tasks"])] if "connector" in status else []

    # --- inside -----------------------------------------------------------------------------------

    def _has_brokers(self) -> bool:
        assert self.processes["broker"].poll() is None, f"the broker ended: see {self.directory / 'broker'}.out"
        with contextlib.suppress(KafkaError):
            admin = KafkaAdminClient(bootstrap_servers=f"127.0.0.1:{self.broker}", bootstrap_timeout_ms=1_000)
            try:
                return bool(admin.describe_cluster()["brokers"])
            finally:
                admin.close()
        return False

    def _is_healthy(self, name: str, url: str) -> bool:
        assert self.processes[name].poll() is None, f"{name} ended: see {self.directory / name}.out"
        try:
            return self.http.get(f"{url}/health").status_code == 200
        except httpx.HTTPError:
            return False

    def _java(self, heap: str) -> list[str]:
        return ["java", *JVM, f"-Xmx{heap}", f"-Dlog4j2.configurationFile={self.logging}", "-cp", f"{LIB}/*"]

    def _broker_java(self, heap: str) -> list[str]:
        return self._java(heap)

    def _spawn(self, name: str, heap: str, *command: str) -> None:
        self._spawn_command(name, [*self._java(heap), *command])

    def _spawn_command(self, name: str, command: list[str]) -> None:
        # The earlier output of a restarted process of the same name is kept.
        with (self.directory / f"{name}.out").open("ab") as out:
            self.processes[name] = subprocess.Popen(command, stdout=out, stderr=out)

    def _properties(self, name: str, values: Mapping[str, object]) -> Path:
        path = self.directory / f"{name}.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
        return path


def real_connect(directory: Path, workers: int, max_delay_ms: int = 60_000) -> Iterator[RealConnect]:
    """A ready cluster, always removed afterwards."""
    cluster = RealConnect(directory)
    try:
        cluster.start_broker()
        for number, port in enumerate(free_ports(workers), 1):
            cluster.start_worker(f"w{number}", port, max_delay_ms)
        cluster.wait_for_workers()
        yield cluster
    finally:
        cluster.close()
