"""Applications of many topologies beside a recorder: started, joined, killed, returned, left (marked `services`).

    python -m tests.capture.live.recorded_topologies FOLDER [--pack] [ROW...]

records them to a folder, and makes that the test data.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.live.real_streams import RealApplications
from tests.capture.topology_recordings import TopologyRecordings, pack
from tests.connect.real_kafka import JVM, until

HERE = Path(__file__).parent
SOURCES = ("TopologyApplications.java", "TopologyRows.java")
LOGGING = HERE / "topology-log4j2.xml"
#: Ninety instances start on two cores, which others may use, too.
LONG_S = 120.0
RECORDS = 60


class RecordedTopologies(RealApplications):
    """All rows of TopologyRows.java in one process at one broker, and the recorder that follows them."""

    def __init__(self, directory: Path, *rows: str) -> None:
        super().__init__(directory)
        self.rows = rows
        self.recordings = TopologyRecordings(directory)
        self.past = directory / "past"
        #: A folder for each application: topology, configuration, and Kafka's own view of the sub-topologies.
        self.applications = directory / "applications"
        self.logs = directory / "logs"
        sources = [str(HERE / name) for name in SOURCES]
        compiler = ["javac", "-proc:none", "-cp", self.path, "-d", str(self.classes), *sources]
        subprocess.run(compiler, check=True, capture_output=True, timeout=120)

    def live(self) -> None:
        """Plays all steps; afterwards two instances of each application still run."""
        self.start_broker()
        self.start_applications()
        self.command("start i1")
        self.settle(1)
        self.start_recorder()
        self.produce_more()
        self.command("start i2")
        self.settle(2)
        self.produce_more()
        self.command("kill i1")
        self.settle(1)
        self.command("start i1")
        self.settle(2)
        self.produce_more()
        self.command("leave i2")
        self.command("start i3")
        self.settle(2)
        self.command("grow i3")
        self.settle(2)
        self.command("truth i3")
        self.processes["recorder"].terminate()
        self.processes["recorder"].wait(LONG_S)
        self.run("record", "--all", "--out", str(self.past), "--resume")

    # --- the process ------------------------------------------------------------------------------------

    def start_applications(self) -> None:
        (rocks,) = (Path(importlib.util.find_spec("pyspark").origin).parent / "jars").glob("rocksdbjni-*.jar")  # type: ignore[union-attr, arg-type]
        settings = {
            "log4j2.configurationFile": LOGGING, "log4j2.isThreadContextMapInheritable": "true", "logs": self.logs
        }  # fmt: skip
        options = [f"-D{key}={value}" for key, value in settings.items()]
        command = ["java", *JVM, "-Xmx768m", *options, "-cp", f"{self.path}:{rocks}", "TopologyApplications"]
        with (self.directory / "applications.out").open("wb") as errors:
            self.java = subprocess.Popen(
                [*command, self.address, str(self.applications), *self.rows],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip
        self.processes["applications"] = self.java  # type: ignore[assignment]
        self._wait_for("ready")

    def command(self, line: str) -> None:
        assert self.java.stdin is not None
        self.java.stdin.write(f"{line}\n")
        self.java.stdin.flush()
        self._wait_for(f"done {line}")

    def _wait_for(self, line: str) -> None:
        assert self.java.stdout is not None
        told = self.java.stdout.readline().strip()
        assert told == line, f"{told!r} for {line!r}: see {self.directory / 'applications.out'}"

    def produce_more(self) -> None:
        self.command(f"produce {RECORDS}")
        before: dict[str, Any] = {}

        def is_calm() -> bool:
            nonlocal before
            earlier, before = before, self.ends()
            return earlier == before

        until(is_calm, "the records", LONG_S, pause_s=1)
        time.sleep(1)

    def ends(self) -> dict[Any, int]:
        from kafka import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(bootstrap_servers=self.address)
        try:
            topics = [name for name in consumer.topics() if not name.startswith("__")]
            partitions = [TopicPartition(name, at) for name in topics for at in consumer.partitions_for_topic(name)]
            found: dict[Any, int] = consumer.end_offsets(partitions)
        finally:
            consumer.close()
        return found

    # --- groups -----------------------------------------------------------------------------------------

    def settle(self, processes: int) -> None:
        before: dict[str, int] = {}

        def is_settled() -> bool:
            nonlocal before
            groups = json.loads(self.run("groups", "--json").stdout)
            earlier, before = before, {each["id"]: each["generation"] for each in groups}
            ready = [
                each["id"]
                for each in groups
                if each["state"] == "Stable" and each["tasks"] is not None and each["processes"] == processes
            ]
            unsettled[:] = [each for each in groups if each["id"] not in ready or earlier.get(each["id"]) is None]
            return not unsettled and len(ready) == len(self.recordings.names()) and earlier == before

        unsettled: list[dict[str, Any]] = []
        try:
            until(is_settled, f"{processes} of each", LONG_S, pause_s=0.5)
        except AssertionError as error:
            raise AssertionError(f"{error}: {unsettled}") from error
        kept = self.directory / "kept.jsonl"
        self.run("capture", "--all", "--out", str(self.directory / "captured.jsonl"), "--keep-answers", str(kept))
        with self.recordings.answers.open("ab") as answers:
            answers.write(kept.read_bytes())

    def start_recorder(self) -> None:
        assignor = str(Path(sys.executable).with_name("assignor"))
        options = ["--all", "--out", str(self.past), "--follow", "--sample-every", "1s"]
        self._spawn_command("recorder", [assignor, "record", "--bootstrap-server", self.address, *options])

    def run(self, command: str, *options: str) -> Any:
        arguments = [command, "--bootstrap-server", self.address, *options]
        told = CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)
        assert told.exit_code == 0, told.stderr
        return told


def main(directory: Path, *options: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    made = RecordedTopologies(directory, *(each for each in options if each != "--pack"))
    begun = time.monotonic()

    def timed(step: Callable[..., None]) -> Callable[..., None]:
        def told(*arguments: Any) -> None:
            step(*arguments)
            print(f"{time.monotonic() - begun:6.1f} s: {step.__name__} {' '.join(map(str, arguments))}", flush=True)

        return told

    for name in ("start_broker", "start_applications", "command", "settle", "produce_more"):
        setattr(made, name, timed(getattr(made, name)))
    try:
        made.live()
    finally:
        made.close()
    if "--pack" in options:
        pack(directory)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
