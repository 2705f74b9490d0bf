"""Records groups whose instances' logs alone name causes: ``python -m tests.capture.live.recorded_causes OUT``.

The groups are those of ``tests/data/captures/causes``: a poll timeout, threads that die and are replaced, an instance
that shuts down, a fenced static member, and assignments that fail.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.live.real_streams import SOURCE, RealApplications
from tests.connect.real_kafka import until

_TROUBLED = Path(__file__).with_name("TroubledApplication.java")
_PATTERN = "%d{yyyy-MM-dd HH:mm:ss,SSS} [%t] %p %c - %m%n"
_LOGGING = f"""<Configuration>
  <Appenders><Console name="out"><PatternLayout pattern="{_PATTERN}"/></Console></Appenders>
  <Loggers>
    <Logger name="org.apache.kafka.streams" level="INFO"/>
    <Logger name="org.apache.kafka.clients.consumer.internals" level="INFO"/>
    <Root level="WARN"><AppenderRef ref="out"/></Root>
  </Loggers>
</Configuration>"""
GROUPS = ("pausing", "replaced", "ending", "fenced", "missing", "grown", "failing")
_SESSION_MS, _POLL_MS = 10_000, 8_000


class RecordedCauses(RealApplications):
    """Groups that lose members and assignments for causes that no record names."""

    sources = (SOURCE, _TROUBLED)

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.logging = directory / "log4j2.xml"
        self.logging.write_text(_LOGGING)

    def live(self, out: Path, groups: Sequence[str] = GROUPS) -> None:
        out.mkdir(parents=True)
        self.start_broker()
        self._create("out", 1)
        for group in groups:
            if group not in ("missing", "grown"):
                self._create(group, 4)
            names: list[str] = getattr(self, group)()
            for name in names:
                log = (self.directory / f"{name}.out").read_bytes()
                (out / group).mkdir(exist_ok=True)
                (out / group / f"{name}.log.gz").write_bytes(gzip.compress(log, mtime=0))
        records = out / "records"
        arguments = ["record", "--bootstrap-server", self.address, "--all", "--out", str(records)]
        assert CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False).exit_code == 0

    def pausing(self) -> list[str]:
        """A record keeps a thread of p2 from polling, longer than ``max.poll.interval.ms``."""
        names = ["p1", "p2"]
        for name in names:
            self.begin(name, "pausing", max_poll_interval_ms=_POLL_MS, troubled_pause_ms=2 * _POLL_MS)
        self.running(*names)
        self.send("pausing", "pause")
        self.pause(3 * _POLL_MS / 1_000 + 6)
        return self.ended(names)

    def replaced(self) -> list[str]:
        """Each of two records ends a thread, which is replaced."""
        names = ["r1", "r2"]
        for name in names:
            self.begin(name, "replaced", troubled_response="REPLACE_THREAD")
        self.running(*names)
        self.pause(3)
        self.send("replaced", "fail")
        self.pause(12)
        return self.ended(names)

    def ending(self) -> list[str]:
        """A record ends the instance that reads it, then the next one."""
        names = ["e1", "e2"]
        for name in names:
            self.begin(name, "ending", troubled_response="SHUTDOWN_CLIENT")
        self.running(*names)
        self.pause(3)
        self.send("ending", "fail")
        self.pause(25)
        return self.ended(names)

    def fenced(self) -> list[str]:
        """A second process takes the ``group.instance.id`` of s1."""
        for name, instance in (("s1", "a"), ("s2", "b")):
            self.begin(name, "fenced", group_instance_id=instance)
        self.running("s1", "s2")
        self.pause(3)
        self.begin("s3", "fenced", group_instance_id="a")
        self.running("s3")
        self.pause(15)
        return self.ended(["s1", "s2", "s3"])

    def missing(self) -> list[str]:
        """The source topic does not exist."""
        self.begin("m1", "missing", troubled_topic="absent")
        self.says("m1", b"to ERROR")
        return self.ended(["m1"])

    def grown(self) -> list[str]:
        """The source topic grows, and the changelog keeps its partitions."""
        self._create("few", 2)
        self.begin("g1", "grown", troubled_topic="few")
        self.running("g1")
        self.pause(3)
        self.ended(["g1"])
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        admin.create_partitions({"few": 4})
        admin.close()
        self.pause(_SESSION_MS / 1_000 + 2)
        self.begin("g2", "grown", troubled_topic="few")
        self.says("g2", b"to ERROR")
        return ["g1", *self.ended(["g2"])]

    def failing(self) -> list[str]:
        """The leader's assignor throws."""
        self.begin("f1", "failing", task_assignor_class="TroubledApplication$FailingAssignor")
        self.says("f1", b"to ERROR")
        self.pause(5)
        return self.ended(["f1"])

    # --- inside -----------------------------------------------------------------------------------------

    def begin(self, name: str, group: str, **settings: object) -> None:
        shown: dict[str, object] = {
            "num.stream.threads": 1,
            "statestore.cache.max.bytes": 0,
            "consumer.session.timeout.ms": _SESSION_MS,
            "consumer.heartbeat.interval.ms": 1_000,
            "commit.interval.ms": 500,
            "troubled.topic": group,
        }
        self._spawn(name, "96m", "TroubledApplication", *self.settings_of(name, group, {**shown, **settings}))

    def running(self, *names: str) -> None:
        for name in names:
            self.says(name, b"to RUNNING")

    def says(self, name: str, text: bytes) -> None:
        out = self.directory / f"{name}.out"
        until(lambda: text in out.read_bytes(), f"{name}: {text!r}", 120.0, 0.3)

    def ended(self, names: list[str]) -> list[str]:
        for name in names:
            if self.processes[name].poll() is None:
                self.stop(name)
        return names

    def send(self, topic: str, value: str) -> None:
        """One record into partition 0."""
        producer = KafkaProducer(bootstrap_servers=self.address)
        producer.send(topic, value=value.encode(), partition=0)
        producer.flush()
        producer.close()

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def _create(self, topic: str, partitions: int) -> None:
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        admin.create_topics([NewTopic(topic, partitions, 1)])
        admin.close()


if __name__ == "__main__":
    lives = RecordedCauses(Path(tempfile.mkdtemp(prefix="causes-")))
    try:
        lives.live(Path(sys.argv[1]))
    finally:
        lives.close()
