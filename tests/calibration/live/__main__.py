"""Plans rolling restarts of a real application, runs them, and compares: ``make accuracy-live``.

Then it takes the advice for such deployments, runs them again, and compares the gain with the promised one.

Needs the broker and the classes of Kafka Streams that ``make test-services`` installs; ``--release 4.4`` also
``scripts/build-brokers 4.4``.
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
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from tests.capture.live.real_streams import RealApplications
from tests.capture.live.released_applications import path_of_broker, path_of_clients
from tests.connect.real_kafka import until

SOURCE = Path(__file__).with_name("AccuracyApplication.java")
NAMES = ("i1", "i2", "i3")
#: Partitions of the topics, with and without state.
SIZES: Mapping[str, int] = {"work": 4, "notes": 2}
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


#: Settings of a member of the streams protocol; the sessions are the broker's.
OF_BROKER = ("session.timeout.ms", "heartbeat.interval.ms", "num.standby.replicas")
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "accuracy.md"
PART = "python -m tests.calibration.live --release 4.4 --write"


@attrs.frozen
class Roll:
    """A figure of a roll: recorded, and planned before it."""

    protocol: str
    number: int
    figure: str
    recorded: float
    planned: float
    low: float
    high: float

    @property
    def is_inside(self) -> bool:
        return self.low <= self.recorded <= self.high


class Application(RealApplications):
    """A broker and an application of three instances, of one release of Kafka."""

    names: Sequence[str] = NAMES
    sizes = SIZES

    def __init__(self, directory: Path, release: str = "4.3", protocol: str = "classic") -> None:
        super().__init__(directory)
        self.release, self.protocol = release, protocol
        #: From the start of each process to its first join, in seconds.
        self.starts: list[float] = []
        #: Advised settings of each instance.
        self.advised: dict[str, Mapping[str, object]] = {name: {} for name in self.names}
        self.path = path_of_clients(self.classes, release)
        compiler = ["javac", "-proc:none", "-cp", self.path, "-d", str(self.classes), str(SOURCE)]
        subprocess.run(compiler, check=True, capture_output=True, timeout=120)

    @property
    def settings(self) -> Mapping[str, object]:
        """Of a classic group, or of one of the streams protocol."""
        if self.protocol == "classic":
            return SETTINGS
        return {**{key: held for key, held in SETTINGS.items() if key not in OF_BROKER}, "group.protocol": "streams"}

    def _broker_java(self, heap: str) -> list[str]:
        *options, _, _ = super()._java(heap)
        return [*options, "-cp", path_of_broker(self.release)]

    def _properties(self, name: str, values: Mapping[str, object]) -> Path:
        if name == "broker" and self.protocol == "streams":
            of_broker = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 3_000, "num.standby.replicas": 1}
            limits = {f"group.streams.min.{key}": held for key, held in of_broker.items() if key.endswith("ms")}
            values = {**values, **limits, **{f"group.streams.{key}": held for key, held in of_broker.items()}}
        return super()._properties(name, values)

    def create_topics(self) -> None:
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        admin.create_topics(
            [NewTopic(name, count, 1) for topic, count in self.sizes.items() for name in (topic, f"{topic}-out")]
        )
        admin.close()

    def start(self, name: str) -> None:
        self._states(name).unlink(missing_ok=True)
        settings = self.settings_of(name, "live", {**self.settings, **self.advised[name]})
        self._spawned = time.time()
        self._spawn(name, "128m", "AccuracyApplication", str(self._states(name)), *settings)

    def stop(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGTERM)
        self.processes[name].wait(60)

    def start_all(self) -> None:
        for name in self.names:
            self.start(name)
        for name in self.names:
            self.wait_until_running(name)
        time.sleep(20)

    def restart(self, name: str) -> None:
        """Returns when the instance runs again, and notes its start."""
        self.stop(name)
        self.start(name)
        self.wait_until_running(name)
        joined_ms = int(self._states(name).read_text().split()[0])
        self.starts.append(joined_ms / 1000 - self._spawned)

    def wait_until_running(self, name: str) -> None:
        until(lambda: self._states(name).exists() and "RUNNING" in self._last(name).split(), f"{name} RUNNING")

    @property
    def start_seconds(self) -> str:
        """For ``--start-seconds``: the range of the last restarts."""
        low, high = min(self.starts[-9:]), max(self.starts[-9:])
        return f"{low:.1f}..{max(high, low + 0.1):.1f}"

    def _last(self, name: str) -> str:
        lines = self._states(name).read_text().splitlines()
        return lines[-1] if lines else ""

    def _states(self, name: str) -> Path:
        return self.directory / f"{name}.states"


class Probe:
    """Sends 20 records a second to each partition, and notes when the output arrives."""

    def __init__(self, address: str, sizes: Mapping[str, int] = SIZES) -> None:
        self._address, self._sizes = address, sizes
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
            for topic, count in self._sizes.items():
                for partition in range(count):
                    producer.send(topic, key=str(partition).encode(), value=b"x" * 200, partition=partition)
        producer.close()

    def _read(self) -> None:
        consumer = KafkaConsumer(bootstrap_servers=self._address, auto_offset_reset="latest")
        consumer.assign(
            [TopicPartition(f"{topic}-out", place) for topic, count in self._sizes.items() for place in range(count)]
        )
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
    config.write_text("".join(f"{key}={value}\n" for key, value in application.settings.items()))
    where = ("--bootstrap-server", application.address, "--group", "live", "--config", str(config))
    assignor("capture", *where, "--out", str(capture))
    return str(capture), str(config)


def planned(application: Application, start_seconds: str) -> Any:
    """The plan of a roll, from a capture of the current group."""
    capture, config = captured(application)
    order = f"--order={','.join(NAMES)}"
    words = ("--config", config, "--start-seconds", start_seconds, "--json", "--no-variants")
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
        application.restart(name)
    time.sleep(15)
    lengths = probe.absences(begin)
    return {"task_seconds": sum(lengths), "worst_task_seconds": max(lengths, default=0.0)}


def rolls_of(application: Application, probe: Probe, number: int, start_s: float) -> list[Roll]:
    """Plans and does rolls; the first plan has the given start, the others those of the rolls before."""
    found = []
    for roll in range(1, number + 1):
        plan = planned(application, application.start_seconds if application.starts else f"{start_s:.1f}")
        for figure, seconds in rolled(application, probe).items():
            low, median, high = (plan["total"][figure][key] for key in ("low", "median", "high"))
            found.append(Roll(application.protocol, roll, figure, seconds, median, low, high))
        shown = "; ".join(
            f"{each.figure} {each.recorded:.1f}, planned {each.planned:.1f} ({each.low:.1f} to {each.high:.1f})"
            for each in found
            if each.number == roll
        )
        print(f"roll {roll}: {shown}", flush=True)
    return found


def is_advice_kept(application: Application, probe: Probe, rolls: list[Roll], number: int, start_s: float) -> bool:
    """Takes the advice for such deployments, and rolls again; true if the gain is as promised."""
    advice = advice_for(application, start_s)
    change = advice["change"]
    application.advised = {name: {**change["properties"], **change["instances"].get(name, {})} for name in NAMES}
    for name in NAMES:
        application.stop(name)
    application.start_all()
    before = statistics.mean(each.recorded for each in rolls if each.figure == "task_seconds")
    after = [rolled(application, probe)["task_seconds"] for _ in range(number)]
    return is_gain_as_promised(advice, before, statistics.mean(after))


def table(rolls: list[Roll]) -> list[str]:
    """The rows of the page."""
    lines = ["| protocol | roll | figure | recorded, s | planned | 90 % interval | holds it |", "|" + "---|" * 7]
    for each in rolls:
        name = {"task_seconds": "all tasks together", "worst_task_seconds": "worst task"}[each.figure]
        seconds = f"{each.recorded:.1f} | {each.planned:.1f} | {each.low:.1f} to {each.high:.1f}"
        lines.append(
            f"| {each.protocol} | {each.number} | {name} | {seconds} | {'yes' if each.is_inside else '**no**'} |"
        )
    return lines


def with_part(command: str, lines: Sequence[str]) -> None:
    """Writes the part of the page that a command makes."""
    begin, end = (f"<!-- written by {command}: {place} -->" for place in ("begin", "end"))
    head, _, rest = PAGE.read_text("utf-8").partition(begin)
    text = "\n".join(lines)
    PAGE.write_text(f"{head}{begin}\n{text}\n{end}{rest.partition(end)[2]}", "utf-8")


def main() -> int:
    """Prints a line for each roll; returns 1 if too few true values are inside their intervals, or the gain is not."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.live", description=__doc__)
    parser.add_argument("--rolls", type=int, default=10, help="rolling restarts of a protocol (%(default)s)")
    parser.add_argument("--advised-rolls", type=int, default=3, help="rolling restarts under the advice (%(default)s)")
    parser.add_argument("--start-seconds", type=float, default=2.2, help="start to first join (%(default)s)")
    parser.add_argument("--release", choices=("4.3", "4.4"), default="4.3", help="of broker and clients (%(default)s)")
    parser.add_argument("--write", action="store_true", help="the table of release 4.4 into docs/reference/accuracy.md")
    options = parser.parse_args()
    found: list[Roll] = []
    is_as_promised = True
    for protocol in ("classic",) if options.release == "4.3" else ("classic", "streams"):
        with tempfile.TemporaryDirectory() as folder:
            application = Application(Path(folder), options.release, protocol)
            try:
                application.start_broker()
                application.create_topics()
                probe = Probe(application.address)
                application.start_all()
                rolls = rolls_of(application, probe, options.rolls, options.start_seconds)
                found += rolls
                if options.advised_rolls and protocol == "classic":
                    is_as_promised &= is_advice_kept(
                        application, probe, rolls, options.advised_rolls, options.start_seconds
                    )
                probe.close()
            finally:
                application.close()
    if options.write:
        with_part(PART, table(found))
    held = {each.figure: [other.is_inside for other in found if other.figure == each.figure] for each in found}
    print(", ".join(f"{figure}: {sum(all_of)} of {len(all_of)} inside" for figure, all_of in held.items()))
    return 0 if all(sum(each) >= HELD * len(each) for each in held.values()) and is_as_promised else 1


if __name__ == "__main__":
    raise SystemExit(main())
