"""Scales real groups beside twins that do not scale, and compares with the plan: a part of ``make accuracy-live``.

A group and its twin read the same topic, and each thread processes a limited number of records in a second. A capture,
the waiting records and the input are known when the scaling begins; ``assignor plan scale`` has nothing else.
The instances of a group and its twin are in one process: a start takes the given time, as on machines of their own.
With ``--own-processes`` each new instance is a process of its own, which needs the same time before its instance
starts. With ``--bare-starts`` it needs the time of its Java machine alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import threading
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import attrs
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from assignor_lab.documents.wording import plural
from tests.calibration.live.__main__ import assignor, with_part
from tests.capture.live.real_streams import RealApplications
from tests.capture.live.released_applications import path_of_clients
from tests.connect.real_kafka import until

SOURCE = Path(__file__).with_name("LimitedApplication.java")
PART = "python -m tests.calibration.live.scalings --write"
PART_OF_REAL = "python -m tests.calibration.live.scalings --again --real-starts --write"
PART_OF_OWN = "python -m tests.calibration.live.scalings --own-processes --write"
PART_OF_BARE = "python -m tests.calibration.live.scalings --bare-starts --write"
#: Records that a thread processes in a second.
CAPACITY = 50
#: Length of a comparison, rest of a group before it, and time that a scaling has for itself.
WINDOW_S, CALM_S, ALONE_S = 60.0, 12.0, 8.0
#: Starts whose range a plan has.
LAST = 6
#: Required shares: signs that are right, and times to break even within ERROR of the measured ones.
SIGNS, TIMES, ERROR = 0.95, 0.75, 0.2
#: A lag of less than the input of this time is none; lags are means over SMOOTH_S.
LITTLE_S, SMOOTH_S, STEP_S = 0.1, 1.0, 0.1
SESSION: Mapping[str, object] = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 3_000}
COMMON: Mapping[str, object] = {
    "num.stream.threads": 1,
    "commit.interval.ms": 1_000,
    "max.poll.records": 10,
    "buffered.records.per.partition": 10,
    "max.partition.fetch.bytes": 2_000,
    "auto.offset.reset": "earliest",
    "statestore.cache.max.bytes": 0,
    "metadata.max.age.ms": 5_000,
}


@attrs.frozen
class Scaling:
    """A scaling to record.

    Args:
        rates: Records per second of each partition from the scaling on.
        behind_s: Waiting records at the beginning, in seconds of the group's capacity.
        standbys: ``None``: no state.
        init_s: Time that a program needs before its instance starts.
    """

    protocol: str
    before: int
    after: int
    rates: tuple[float, ...]
    behind_s: float = 0.0
    standbys: int | None = None
    init_s: float = 6.0

    @property
    def words(self) -> str:
        state = "no state" if self.standbys is None else f"state, {plural(self.standbys, 'standby')}"
        return f"{self.protocol}, {len(self.rates)} tasks, {state}"

    @property
    def input_words(self) -> str:
        rates = sorted(set(self.rates))
        return f"{sum(self.rates):.0f}" + ("" if len(rates) == 1 else f", {rates[-1]:.0f} in one partition")


SCALINGS = (
    Scaling("classic", 2, 4, (15.0,) * 4, 30),
    Scaling("classic", 2, 4, (35.0,) * 4, init_s=8),
    Scaling("streams", 2, 4, (15.0,) * 4, 30, init_s=10),
    Scaling("classic", 4, 5, (15.0,) * 8, 30),
    Scaling("classic", 2, 3, (15.0,) * 4, 30, init_s=8),
    Scaling("classic", 2, 4, (8.0,) * 8),
    Scaling("streams", 2, 4, (35.0,) * 4, init_s=6),
    Scaling("classic", 3, 2, (12.0,) * 6, 20),
    Scaling("classic", 2, 4, (15.0,) * 4, 30, 1, init_s=10),
    Scaling("classic", 2, 3, (35.0,) * 4, init_s=4),
    Scaling("streams", 2, 3, (8.0,) * 8, 30, init_s=8),
    Scaling("streams", 2, 4, (15.0,) * 4),
    Scaling("classic", 3, 4, (22.0,) * 8, init_s=12),
    Scaling("classic", 4, 2, (35.0,) * 4),
    Scaling("classic", 2, 4, (10.0,) * 8, 30, 0, init_s=8),
    Scaling("classic", 2, 4, (35.0,) * 4, 0, 1, init_s=10),
    Scaling("streams", 1, 2, (6.0,) * 4, 40, init_s=12),
    Scaling("streams", 4, 5, (20.0,) * 8),
    Scaling("classic", 1, 3, (10.0,) * 3, 45),
    Scaling("classic", 3, 2, (10.0,) * 6),
)


class Host:
    """A process with instances, which reports their states and counts."""

    def __init__(self, kafka: LimitedKafka, name: str) -> None:
        self._log = kafka.directory / f"{name}.log"
        self.states: dict[str, list[tuple[float, str]]] = {}
        self.counts: dict[str, list[tuple[float, int]]] = {}
        with (kafka.directory / f"{name}.out").open("ab") as errors:
            self._java = subprocess.Popen(
                [*kafka._java("256m"), "LimitedApplication"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1,
            )  # fmt: skip
        kafka.processes[name] = self._java  # type: ignore[assignment]
        threading.Thread(target=self._read, daemon=True).start()

    def command(self, *words: object) -> None:
        assert self._java.stdin is not None
        self._java.stdin.write(" ".join(map(str, words)) + "\n")
        self._java.stdin.flush()

    def is_running(self, name: str) -> bool:
        return bool(self.states.get(name)) and self.states[name][-1][1] == "RUNNING"

    def _read(self) -> None:
        assert self._java.stdout is not None
        with self._log.open("w") as log:
            for line in self._java.stdout:
                self._note(line, log)

    def _note(self, line: str, log: TextIO) -> None:
        # Its log has the same stream.
        at_ms, kind, name, value, *others = *line.split(), *[""] * 4
        if kind == "state" and not any(others):
            self.states.setdefault(name, []).append((int(at_ms) / 1000, value))
        elif kind == "count" and not any(others):
            self.counts.setdefault(name, []).append((int(at_ms) / 1000, int(value)))
            return
        log.write(line)


class Input(threading.Thread):
    """Sends records at a rate to each partition of a topic."""

    def __init__(self, address: str, topic: str, rates: Sequence[float]) -> None:
        super().__init__(daemon=True)
        self._producer = KafkaProducer(bootstrap_servers=address, linger_ms=0, batch_size=1_000)
        self._topic, self.rates, self.sent = topic, list(rates), [0] * len(rates)
        self._stopped = threading.Event()
        self.start()

    def send(self, partition: int) -> None:
        key = str(self.sent[partition] % 100).encode()
        self._producer.send(self._topic, key=key, value=b"x" * 80, partition=partition)
        self.sent[partition] += 1

    def run(self) -> None:
        before, due = time.monotonic(), [0.0] * len(self.rates)
        while not self._stopped.wait(0.05):
            now = time.monotonic()
            for partition, rate in enumerate(self.rates):
                due[partition] += rate * (now - before)
                while due[partition] >= 1:
                    due[partition] -= 1
                    self.send(partition)
            before = now

    def flush(self) -> None:
        self._producer.flush()

    def close(self) -> None:
        self._stopped.set()
        self.join(10)
        self._producer.close()


@attrs.frozen
class Recorded:
    """A recorded scaling, with all that its plan needs.

    Args:
        start_seconds: Range of the starts before.
        started_s: Starts of the new instances, which the plan does not have.
        gains: Times after the begin of the scaling, and the records by which the lag is lower than that of the twin.
    """

    scaling: Scaling
    capture: str
    config: str
    load: str
    lag: int
    start_seconds: str
    started_s: tuple[float, ...]
    gains: tuple[tuple[float, float], ...]

    @property
    def break_even_s(self) -> float | None:
        """Seconds until the lag is lower than that of the twin and stays so; ``None``: it does not become lower."""
        little = LITTLE_S * sum(self.scaling.rates)
        times, gains = zip(*self.gains, strict=True)
        if gains[-1] <= little:
            if statistics.mean(gains) <= little:
                return None
            last = max(place for place, gain in enumerate(gains) if gain > little)
        else:
            last = len(gains) - 1
        place = max((place for place in range(last) if gains[place] <= little), default=0)
        return float(times[place])


@attrs.frozen
class Judged:
    """A recorded scaling beside its plan."""

    recorded: Recorded
    verdict: str
    planned_s: tuple[float, float, float] | None

    @property
    def is_sign_right(self) -> bool:
        return (self.recorded.break_even_s is None) == (self.planned_s is None)

    @property
    def is_time_right(self) -> bool:
        """Both have no time, or the planned one differs by at most ``ERROR``."""
        measured = self.recorded.break_even_s
        if measured is None or self.planned_s is None:
            return measured is None and self.planned_s is None
        return abs(self.planned_s[1] - measured) <= ERROR * measured


class LimitedKafka(RealApplications):
    def __init__(self, directory: Path, *, has_own_processes: bool, has_bare_starts: bool = False) -> None:
        super().__init__(directory)
        self.has_own_processes, self.has_bare_starts = has_own_processes, has_bare_starts
        self.path = path_of_clients(self.classes, "4.3")
        compiler = ["javac", "-proc:none", "-cp", self.path, "-d", str(self.classes), str(SOURCE)]
        subprocess.run(compiler, check=True, capture_output=True, timeout=120)
        #: Held while a group is captured and scales: scalings do not disturb each other.
        self._alone = threading.Lock()
        self.starts: list[float] = []

    def _properties(self, name: str, values: Mapping[str, object]) -> Path:
        if name == "broker":
            of_broker = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 3_000}
            limits = {f"group.streams.min.{key}": held for key, held in of_broker.items()}
            values = {**values, **limits, **{f"group.streams.{key}": held for key, held in of_broker.items()}}
        return super()._properties(name, values)

    def create(self, topic: str, partitions: int) -> None:
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        admin.create_topics([NewTopic(topic, partitions, 1)])
        admin.close()

    def settings(self, scaling: Scaling) -> dict[str, object]:
        if scaling.protocol == "streams":
            return {**COMMON, "group.protocol": "streams"}
        return {**COMMON, **SESSION, "num.standby.replicas": scaling.standbys or 0}

    def begin(self, host: Host, name: str, group: str, topic: str, scaling: Scaling) -> None:
        state = "none" if scaling.standbys is None else "disk"
        words = self.settings_of(name, group, self.settings(scaling))
        host.command("start", name, topic, state, 1_000_000 // CAPACITY, *words)

    def warm_up(self) -> None:
        """Some starts of instances, two at a time, as most scalings start them."""
        self.create("warm", 4)
        host, scaling = Host(self, "warm"), Scaling("classic", 1, 1, (1.0,) * 4)
        names = [f"warm{number}" for number in range(LAST)]
        for pair in zip(names[::2], names[1::2], strict=True):
            begun = time.time()
            hosts = {name: self.host_of_new(name, host) for name in pair}
            init_s = 0.0 if self.has_bare_starts or not self.has_own_processes else scaling.init_s
            time.sleep(init_s)
            for name in pair:
                self.begin(hosts[name], name, "warm", "warm", scaling)
            until(lambda of=hosts: all(each.is_running(name) for name, each in of.items()), f"{pair}")  # type: ignore[misc]
            for name in pair:
                self.note_start(hosts[name], name, begun, init_s)
            time.sleep(3)
        for name in ("warm", *names):
            if name in self.processes:
                self.kill(name)

    def host_of_new(self, name: str, home: Host) -> Host:
        """The process of a new instance; its Java machine starts while its program needs its time."""
        return Host(self, name) if self.has_own_processes else home

    def note_start(self, host: Host, name: str, begun: float, init_s: float = 0.0) -> float:
        """Seconds from the start of a process to its first join."""
        seconds = round(host.states[name][0][0] - begun, 2)
        self.starts.append(seconds - init_s)
        return seconds

    def start_seconds(self, init_s: float) -> str:
        low, high = min(self.starts[-LAST:]) + init_s, max(self.starts[-LAST:]) + init_s
        return f"{low:.1f}..{max(high, low + 0.1):.1f}"

    def recorded(self, number: int, scaling: Scaling) -> Recorded:
        """Does a scaling and watches both groups."""
        group, twin = f"g{number}", f"t{number}"
        topic, home = f"in{number}", Host(self, f"home{number}")
        self.create(topic, len(scaling.rates))
        names = [f"{group}-{place}" for place in range(max(scaling.before, scaling.after))]
        twins = [f"{twin}-{place}" for place in range(scaling.before)]
        for own, of in ((names[: scaling.before], group), (twins, twin)):
            for name in own:
                self.begin(home, name, of, topic, scaling)
        until(lambda: all(map(home.is_running, (*names[: scaling.before], *twins))), f"{group} RUNNING")
        # Without waiting records the input may grow with the scaling.
        calm = min(1.0, 0.6 * CAPACITY * min(scaling.before, len(scaling.rates)) / sum(scaling.rates))
        records = Input(self.address, topic, [calm * rate for rate in scaling.rates])
        time.sleep(CALM_S)
        hosts = dict.fromkeys(names[: scaling.before], home)
        with self._alone:
            capture, config = self._captured(group, scaling)
            waiting = scaling.behind_s * CAPACITY * min(scaling.before, len(scaling.rates))
            for partition, rate in enumerate(scaling.rates):
                for _ in range(round(waiting * rate / sum(scaling.rates))):
                    records.send(partition)
            records.flush()
            time.sleep(3)
            init_s = 0.0 if self.has_bare_starts else scaling.init_s
            start_seconds = self.start_seconds(init_s)
            begun = time.time()
            lag = sum(records.sent) - _count(hosts, names[: scaling.before], begun)
            records.rates[:] = scaling.rates
            added = names[scaling.before : scaling.after]
            for name in names[scaling.after : scaling.before]:
                home.command("close", name)
            hosts |= {name: self.host_of_new(name, home) for name in added}
            time.sleep(init_s if added else 0.0)
            for name in added:
                self.begin(hosts[name], name, group, topic, scaling)
            time.sleep(ALONE_S)
        time.sleep(max(0.0, begun + WINDOW_S + 1 - time.time()))
        started = tuple(self.note_start(hosts[name], name, begun, init_s) for name in added)
        gains = _gains(hosts, names, dict.fromkeys(twins, home), twins, begun)
        records.close()
        for name in (f"home{number}", *added):
            if name in self.processes:
                self.kill(name)
        load = self.directory / f"{group}.csv"
        rows = [f"{time_s},{sum(scaling.rates)}" for time_s in range(0, round(WINDOW_S), 10)]
        load.write_text("\n".join(["time,records_per_second", *rows]) + "\n")
        return Recorded(
            scaling,
            capture,
            config,
            str(load),
            max(0, lag),
            start_seconds,
            started,
            gains,
        )

    def _captured(self, group: str, scaling: Scaling) -> tuple[str, str]:
        config, capture = self.directory / f"{group}.properties", self.directory / f"{group}.jsonl"
        config.write_text("".join(f"{key}={value}\n" for key, value in self.settings(scaling).items()))
        where = ("--bootstrap-server", self.address, "--group", group, "--config", str(config))
        assignor("capture", *where, "--out", str(capture))
        return str(capture), str(config)


def _count(hosts: Mapping[str, Host], names: Sequence[str], at: float) -> int:
    """Records that instances have processed at a time."""
    total = 0
    for name in names:
        reports = hosts[name].counts.get(name, [])
        place = bisect_right(reports, at, key=lambda each: each[0])
        total += reports[place - 1][1] if place else 0
    return total


def _gains(
    hosts: Mapping[str, Host], names: Sequence[str], twin_hosts: Mapping[str, Host], twins: Sequence[str], begun: float
) -> tuple[tuple[float, float], ...]:
    def difference(at: float) -> int:
        return _count(hosts, [name for name in names if name in hosts], at) - _count(twin_hosts, twins, at)

    smooth = round(SMOOTH_S / STEP_S)
    steps = range(-round(3 / STEP_S), round(WINDOW_S / STEP_S) + 1)
    found = [difference(begun + step * STEP_S) for step in steps]
    before = statistics.mean(found[: round(3 / STEP_S)])
    smoothed = [
        statistics.mean(found[max(0, place - smooth // 2) : place + smooth // 2 + 1]) - before
        for place in range(len(found))
    ]
    return tuple((round(step * STEP_S, 1), gain) for step, gain in zip(steps, smoothed, strict=True) if step >= 0)


def judged(recorded: Recorded) -> Judged:
    """The plan of a recorded scaling."""
    count = recorded.scaling.after
    words = ("plan", recorded.capture, "scale", f"--to={count},{count}", "--config", recorded.config, "--json")
    options = ("--start-seconds", recorded.start_seconds, "--load", recorded.load, "--lag", str(recorded.lag))
    # From one poll to the next a thread processes the records of a poll.
    poll_s = int(str(COMMON["max.poll.records"])) / CAPACITY
    known = ("--capacity", str(CAPACITY), "--poll-seconds", f"{poll_s:.1f}")
    answer: Any = json.loads(assignor(*words, *options, *known))
    row = answer["counts"][str(count)]
    even = row["break_even_seconds"]
    return Judged(recorded, row["verdict"], even and (even["low"], even["median"], even["high"]))


def table(found: Sequence[Judged]) -> list[str]:
    """The rows of the page."""
    heads = (
        "group",
        "instances",
        "input, records/s",
        "waiting records",
        "starts, s: given, real",
        "lag lower after, s",
        "planned",
    )
    lines = [f"| {' | '.join((*heads, 'verdict', 'sign', 'time'))} |", "|" + "---|" * (len(heads) + 3)]
    for each in found:
        recorded = each.recorded
        of, even = recorded.scaling, recorded.break_even_s
        planned = "never" if each.planned_s is None else "{1:.1f} ({0:.1f} to {2:.1f})".format(*each.planned_s)
        measured = "never" if even is None else f"{even:.1f}"
        sign, right = ("yes" if is_right else "**no**" for is_right in (each.is_sign_right, each.is_time_right))
        lines.append(
            f"| {of.words} | {of.before} to {of.after} | {of.input_words} | {recorded.lag} | "
            f"{recorded.start_seconds.replace('..', ' to ')}{_starts(recorded.started_s)} | {measured} | {planned} | "
            f"{each.verdict} | {sign} | {right} |"
        )
    return lines


def _starts(started_s: Sequence[float]) -> str:
    return f", {max(started_s):.1f}" if started_s else ""


def _recorded(kafka: LimitedKafka, keep: Path | None, number: int) -> Recorded:
    recorded = kafka.recorded(number, SCALINGS[number])
    if keep is not None:
        (keep / f"scaling-{number}.json").write_text(json.dumps(attrs.asdict(recorded)))
    return recorded


def measured(
    keep: Path | None, numbers: Sequence[int], at_once: int, *, has_own_processes: bool, has_bare_starts: bool
) -> list[Judged]:
    """Does scalings, some beside each other, and judges them."""
    found: list[Judged] = []
    with tempfile.TemporaryDirectory() as folder:
        directory = keep or Path(folder)
        kafka = LimitedKafka(directory, has_own_processes=has_own_processes, has_bare_starts=has_bare_starts)
        try:
            kafka.start_broker()
            kafka.warm_up()
            for first in range(0, len(numbers), at_once):
                some = numbers[first : first + at_once]
                with ThreadPoolExecutor(len(some)) as pool:
                    made = list(pool.map(partial(_recorded, kafka, keep), some))
                for recorded in made:
                    found.append(judged(recorded))
                    print(table(found)[-1], flush=True)
        finally:
            kafka.close()
    return found


def kept(keep: Path, numbers: Sequence[int], *, real_starts: bool) -> list[Judged]:
    """Judges the scalings that a folder has.

    Args:
        real_starts: Plans have the starts of their own new instances, and not those before them.
    """
    found: list[Judged] = []
    for number in numbers:
        document = json.loads((keep / f"scaling-{number}.json").read_text())
        scaling = Scaling(**document.pop("scaling"))
        scaling = attrs.evolve(scaling, rates=tuple(scaling.rates))
        gains = tuple((time_s, gain) for time_s, gain in document.pop("gains"))
        started = tuple(document.pop("started_s"))
        if real_starts and started:
            low, high = min(started), max(started)
            document["start_seconds"] = f"{low:.1f}..{max(high, low + 0.1):.1f}"
        found.append(judged(Recorded(scaling=scaling, gains=gains, started_s=started, **document)))
        print(table(found)[-1], flush=True)
    return found


def main() -> int:
    """Prints a line for each scaling; returns 1 if too few signs or times are right."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.live.scalings", description=__doc__)
    parser.add_argument("--only", default="", help="numbers of scalings from 0 on, with commas (all)")
    parser.add_argument("--at-once", type=int, default=4, help="groups beside each other (%(default)s)")
    parser.add_argument("--keep", type=Path, help="folder that keeps the captures and curves")
    parser.add_argument("--again", action="store_true", help="judge the recordings of --keep again")
    parser.add_argument("--own-processes", action="store_true", help="a process for each new instance")
    parser.add_argument("--bare-starts", action="store_true", help="the same, without the time that its program needs")
    parser.add_argument("--real-starts", action="store_true", help="--again: plans have the starts that followed")
    parser.add_argument("--write", action="store_true", help="the table into docs/reference/accuracy.md")
    options = parser.parse_args()
    numbers = [int(each) for each in options.only.split(",")] if options.only else list(range(len(SCALINGS)))
    found = (
        kept(options.keep, numbers, real_starts=options.real_starts)
        if options.again
        else measured(
            options.keep,
            numbers,
            options.at_once,
            has_own_processes=options.own_processes or options.bare_starts,
            has_bare_starts=options.bare_starts,
        )
    )
    signs, times = sum(each.is_sign_right for each in found), sum(each.is_time_right for each in found)
    sentence = (
        f"{signs} of {len(found)} signs are right, and {times} of {len(found)} times to break even are within "
        f"{ERROR:.0%} or rightly absent."
    )
    print(sentence)
    if options.write:
        part = PART_OF_REAL if options.real_starts else PART_OF_BARE if options.bare_starts else PART
        part = PART_OF_OWN if options.own_processes else part
        with_part(part, [sentence, "", *table(found)])
    return 0 if signs >= SIGNS * len(found) and times >= TIMES * len(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
