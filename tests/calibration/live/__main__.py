"""Plans rolling restarts of a real application, runs them, and compares: ``make accuracy-live``.

Then it takes the advice for such deployments, runs them again, and compares the gain with the promised one.

Needs the broker and the classes of Kafka Streams that ``make test-services`` installs.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyspark
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from tests.capture.live.real_streams import OFFICIAL, RealApplications
from tests.connect.real_kafka import LIB, until

SOURCE = Path(__file__).with_name("AccuracyApplication.java")
NAMES = ("i1", "i2", "i3")
#: Numbers of partitions of the topics, with and without state.
WORK, NOTES = 4, 2
SETTINGS: Mapping[str, object] = {
    "num.stream.threads": 2,
    "num.standby.replicas": 1,
    "session.timeout.ms": 10_000,
    "heartbeat.interval.ms": 3_000,
    "commit.interval.ms": 5_000,
    "statestore.cache.max.bytes": 0,
    "metadata.max.age.ms": 5_000,
}
#: A task is away after this long without output; a step also counts absences that begin this long before it.
AWAY_S, GRACE_S = 0.5, 0.5
#: Required share of rolls with a true value inside the interval.
HELD = 0.8
#: Largest difference of the real gain from the promised one, as a share of it.
GAIN_ERROR = 0.2
#: Days with one deployment each, and settings that the application can take.
MIX = "rolls_per_week = 7\nscalings_per_week = 0\nkills_per_month = 0\nstalls_per_day = 0\n"
WITHIN = '"group.instance.id" = ["none", "one for each instance"]\n"session.timeout.ms" = [10000, 30000]\n'


class Application(RealApplications):
    """A broker and an application of three instances."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        #: Advised settings of each instance.
        self.advised: dict[str, Mapping[str, object]] = {name: {} for name in NAMES}
        (streams,) = OFFICIAL.glob("kafka-streams-*.jar")
        (rocks,) = (Path(pyspark.__file__).parent / "jars").glob("rocksdbjni-*.jar")
        self.path = f"{self.classes}:{streams}:{rocks}:{LIB}/*"
        compiler = ["javac", "-proc:none", "-cp", self.path, "-d", str(self.classes), str(SOURCE)]
        subprocess.run(compiler, check=True, capture_output=True, timeout=120)

    def create_topics(self) -> None:
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        sizes = {"work": WORK, "work-out": WORK, "notes": NOTES, "notes-out": NOTES}
        admin.create_topics([NewTopic(name, count, 1) for name, count in sizes.items()])
        admin.close()

    def start(self, name: str) -> None:
        self._states(name).unlink(missing_ok=True)
        settings = self.settings_of(name, "live", {**SETTINGS, **self.advised[name]})
        self._spawn(name, "128m", "AccuracyApplication", str(self._states(name)), *settings)

    def stop(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGTERM)
        self.processes[name].wait(60)

    def start_all(self) -> None:
        for name in NAMES:
            self.start(name)
        for name in NAMES:
            self.wait_until_running(name)
        time.sleep(20)

    def wait_until_running(self, name: str) -> None:
        until(lambda: self._states(name).exists() and "RUNNING" in self._last(name).split(), f"{name} RUNNING")

    def _last(self, name: str) -> str:
        lines = self._states(name).read_text().splitlines()
        return lines[-1] if lines else ""

    def _states(self, name: str) -> Path:
        return self.directory / f"{name}.states"


class Probe:
    """Sends 20 records a second to each partition, and notes when the output arrives."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._stopped = threading.Event()
        self.arrivals: dict[tuple[str, int], list[float]] = {}
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._send, self._read)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join(10)

    def _send(self) -> None:
        producer = KafkaProducer(bootstrap_servers=self._address, linger_ms=0)
        while not self._stopped.wait(0.05):
            for topic, count in (("work", WORK), ("notes", NOTES)):
                for partition in range(count):
                    producer.send(topic, key=str(partition).encode(), value=b"x" * 200, partition=partition)
        producer.close()

    def _read(self) -> None:
        consumer = KafkaConsumer(bootstrap_servers=self._address, auto_offset_reset="latest")
        sizes = {"work-out": WORK, "notes-out": NOTES}
        consumer.assign([TopicPartition(name, number) for name, count in sizes.items() for number in range(count)])
        while not self._stopped.is_set():
            found = consumer.poll(timeout_ms=50)
            now = time.time()
            for at in found:
                self.arrivals.setdefault((at.topic, at.partition), []).append(now)
        consumer.close()

    def absences(self, begin: float) -> list[float]:
        return [
            after - before
            for moments in self.arrivals.values()
            for before, after in pairwise(moments)
            if before >= begin - GRACE_S and after - before >= AWAY_S
        ]


def assignor(*words: str) -> str:
    program = [sys.executable, "-m", "assignor_lab.cli.main", *words]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"assignor {' '.join(words)}: {done.stderr}")
    return done.stdout


def captured(application: Application) -> tuple[str, str]:
    """Files of the current group and of its configuration."""
    directory = application.directory
    config, capture = directory / "application.properties", directory / "capture.jsonl"
    config.write_text("".join(f"{key}={value}\n" for key, value in SETTINGS.items()))
    where = ("--bootstrap-server", application.address, "--group", "live", "--config", str(config))
    assignor("capture", *where, "--out", str(capture))
    return str(capture), str(config)


def planned(application: Application, start_s: float) -> Any:
    """The plan of a roll, from a capture of the current group."""
    capture, config = captured(application)
    order = f"--order={','.join(NAMES)}"
    words = ("--config", config, "--start-seconds", f"{start_s:.1f}", "--json")
    return json.loads(assignor("plan", capture, "roll", order, *words))


def advice_for(application: Application, start_s: float) -> Any:
    """The advice for deployments alone, from a capture of the current group."""
    capture, config = captured(application)
    mix, within = application.directory / "mix.toml", application.directory / "within.toml"
    mix.write_text(MIX)
    within.write_text(WITHIN)
    words = ("--config", config, "--mix", str(mix), "--within", str(within), "--start-seconds", f"{start_s:.1f}")
    return json.loads(assignor("advise", capture, *words, "--json"))


def is_gain_as_promised(advice: Any, before: float, after: float) -> bool:
    """Prints the gain beside the promised one; true if they differ by at most ``GAIN_ERROR``."""
    promised_of = advice["figures"]["task_seconds"]["judged"]
    promised, gain = (
        1 - one / other for one, other in ((promised_of["advised"], promised_of["present"]), (after, before))
    )
    print(
        f"advice: {advice['sentence']}\ngain {gain:.0%} ({after:.1f} instead of {before:.1f}), promised {promised:.0%}"
    )
    return bool(abs(gain - promised) <= GAIN_ERROR * promised)


def rolled(application: Application, probe: Probe) -> dict[str, float]:
    begin = time.time()
    for name in NAMES:
        application.stop(name)
        application.start(name)
        application.wait_until_running(name)
    time.sleep(15)
    lengths = probe.absences(begin)
    return {"task_seconds": sum(lengths), "worst_task_seconds": max(lengths, default=0.0)}


def main() -> int:
    """Prints a line for each roll; returns 1 if too few true values are inside their intervals, or the gain is not."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.live", description=__doc__)
    parser.add_argument("--rolls", type=int, default=10, help="rolling restarts (%(default)s)")
    parser.add_argument("--advised-rolls", type=int, default=3, help="rolling restarts under the advice (%(default)s)")
    parser.add_argument("--start-seconds", type=float, default=2.2, help="start to first join (%(default)s)")
    options = parser.parse_args()
    inside = {"task_seconds": 0, "worst_task_seconds": 0}
    before: list[float] = []
    is_as_promised = True
    with tempfile.TemporaryDirectory() as folder:
        application = Application(Path(folder))
        try:
            application.start_broker()
            application.create_topics()
            probe = Probe(application.address)
            application.start_all()
            for roll in range(1, options.rolls + 1):
                plan = planned(application, options.start_seconds)
                truth = rolled(application, probe)
                before.append(truth["task_seconds"])
                shown = []
                for figure, seconds in truth.items():
                    low, median, high = (plan["total"][figure][key] for key in ("low", "median", "high"))
                    inside[figure] += low <= seconds <= high
                    shown.append(f"{figure} {seconds:.1f}, planned {median:.1f} ({low:.1f} to {high:.1f})")
                print(f"roll {roll}: {'; '.join(shown)}", flush=True)
            if options.advised_rolls:
                advice = advice_for(application, options.start_seconds)
                change = advice["change"]
                application.advised = {
                    name: {**change["properties"], **change["instances"].get(name, {})} for name in NAMES
                }
                for name in NAMES:
                    application.stop(name)
                application.start_all()
                after = [rolled(application, probe)["task_seconds"] for _ in range(options.advised_rolls)]
                is_as_promised = is_gain_as_promised(advice, statistics.mean(before), statistics.mean(after))
            probe.close()
        finally:
            application.close()
    print(", ".join(f"{figure}: {count} of {options.rolls} inside" for figure, count in inside.items()))
    return 0 if min(inside.values()) >= HELD * options.rolls and is_as_promised else 1


if __name__ == "__main__":
    raise SystemExit(main())
