"""Changes of plain consumer groups on a real broker, each planned before it is done: a part of ``make accuracy-live``.

All groups live on one broker, each with an own topic. Their consumers share processes, one of which is killed. A start
takes a drawn time, as on machines of their own. Before each change the groups are captured. A probe reads the lines of
the poll loops: a partition is away while no running poll loop has it.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
from kafka import KafkaAdminClient
from kafka.admin import NewPartitions, NewTopic
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.calibration.live.__main__ import with_part
from tests.capture.live.recorded_consumers import RecordedConsumers

PART = "python -m tests.calibration.live.consumers --write"
FIGURES = ("worst_task_seconds", "task_seconds")
WORDS = {"worst_task_seconds": "worst partition", "task_seconds": "all partitions together"}
MEMBERS = ("c1", "c2", "c3")
#: The consumer that is killed, and the one that stands still.
KILLED, LATE = "c3", "c1"
PARTITIONS, GROWN = 12, 15
DOWN_S, BACK_S, LATE_S = 2.0, 28.0, 26.0
#: Poll loops return every 0.1 s, and a state of 26 s without polls has hardly any interval.
TOLERANCE = 0.01
#: Bounds of the time between the begin of a process and its consumer.
STARTS_S = (1.0, 3.0)
#: Of a plan. A play takes some milliseconds, and the ends of 20 plays are coarse.
PLAYS = 199
#: A group has been calm for this time (the same in the plays), and is longest not calm.
RESTS_S, LONGEST_S = 2.0, 45.0
_PACKAGE = "org.apache.kafka.clients.consumer"
_STRATEGY = "partition.assignment.strategy"
_CLIENT: Mapping[str, object] = {
    "session.timeout.ms": 20_000,
    "heartbeat.interval.ms": 3_000,
    # librdkafka accepts none below the session timeout.
    "max.poll.interval.ms": 20_000,
    "metadata.max.age.ms": 5_000,
}
_CONSUMER: Mapping[str, object] = {"group.protocol": "consumer"}
_BROKER: Mapping[str, object] = {
    "group.consumer.heartbeat.interval.ms": 5_000,
    "group.consumer.session.timeout.ms": 20_000,
}


@attrs.frozen(eq=False)
class Shape:
    """A group.

    Args:
        settings: Of its consumers, besides those of all.
        other: Settings after the move to the other protocol; empty: no move.
        library: Client library of its consumers; empty: Java.
    """

    name: str
    settings: Mapping[str, object]
    other: Mapping[str, object] = attrs.field(factory=dict)
    library: str = ""
    is_static: bool = False

    def member(self, name: str) -> str:
        """Name of a consumer in a capture."""
        return name if self.is_static else f"{self.name}-{name}"


_EAGER = {_STRATEGY: f"{_PACKAGE}.RangeAssignor"}
_COOPERATIVE = {_STRATEGY: f"{_PACKAGE}.CooperativeStickyAssignor"}
SHAPES = (
    Shape("eager", _EAGER, _CONSUMER),
    Shape("eager-static", _EAGER, _CONSUMER, is_static=True),
    Shape("cooperative", _COOPERATIVE, _CONSUMER),
    Shape("cooperative-static", _COOPERATIVE, is_static=True),
    Shape("kip-848", _CONSUMER, _EAGER),
    Shape("kip-848-static", _CONSUMER, is_static=True),
    Shape("kafka-python", {_STRATEGY: "range"}, library="kafka-python"),
    Shape("kafka-python-static", {_STRATEGY: "range"}, library="kafka-python", is_static=True),
    Shape("confluent-kafka", {_STRATEGY: "range"}, library="librdkafka"),
    Shape("confluent-cooperative", {_STRATEGY: "cooperative-sticky"}, library="librdkafka"),
)


@attrs.frozen
class Done:
    """A change that was planned and then done.

    Args:
        measured: Figure to its value; ``planned``: figure to low, median and high.
        state: The group before it; ``words``: those of ``plan``.
    """

    round: int
    group: str
    change: str
    measured: Mapping[str, float]
    planned: Mapping[str, Sequence[float]]
    state: str = ""
    words: Sequence[str] = ()

    def is_inside(self, name: str, beside: float = TOLERANCE) -> bool:
        """True if a figure is in its interval, or beside it by at most this share of it."""
        low, _, high = self.planned[name]
        return low * (1 - beside) <= self.measured[name] <= high * (1 + beside)

    def width(self, name: str) -> float:
        low, median, high = self.planned[name]
        return (high - low) / max(median, 0.5)


# --- the probe ----------------------------------------------------------------------------------------------


class PollProbe:
    """The poll loops of all consumers, from the lines of their processes. Consumers are named ``GROUP-MEMBER``."""

    def __init__(self) -> None:
        #: Time in seconds, consumer, change, partitions.
        self.lines: list[tuple[float, str, str, Sequence[str]]] = []
        self._now = _Loops()
        self._files: dict[Path, int] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._read_on, daemon=True)

    def watch(self, files: Iterable[Path]) -> None:
        self._files = dict.fromkeys(files, 0)
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()

    def _read_on(self) -> None:
        while not self._stopped.wait(0.05):
            for file, place in self._files.items():
                with file.open("rb") as text:
                    text.seek(place)
                    data = text.read()
                whole = data[: data.rfind(b"\n") + 1]
                self._files[file] = place + len(whole)
                for line in whole.decode("utf-8", "replace").splitlines():
                    words = line.split()
                    if len(words) > 2 and words[0].isdecimal():
                        self.tell(int(words[0]) / 1000, words[1], words[2], words[3:])

    def tell(self, at: float, consumer: str, change: str, partitions: Sequence[str] = ()) -> None:
        with self._lock:
            self.lines.append((at, consumer, change, partitions))
            self._now.change(consumer, change, partitions)

    def owners(self, group: str) -> Mapping[str, set[str]]:
        """The present consumers of each polled partition."""
        with self._lock:
            return self._now.owners(group)

    def absences(self, group: str, partitions: Iterable[str], begin: float) -> list[float]:
        """Seconds of each time without polls that began at ``begin`` or later, and is over."""
        with self._lock:
            lines = sorted((each for each in self.lines if _group_of(each[1]) == group), key=lambda each: each[0])
        loops, found = _Loops(), []
        # A new partition is away from the begin on.
        since = dict.fromkeys(partitions, begin)
        for at, consumer, change, own in lines:
            loops.change(consumer, change, own)
            owners = loops.owners(group)
            for partition in partitions:
                if partition not in owners:
                    since.setdefault(partition, at)
                elif partition in since:
                    gone = since.pop(partition)
                    if gone >= begin and at > gone:
                        found.append(at - gone)
        return found


class _Loops:
    """Partitions of each poll loop."""

    def __init__(self) -> None:
        self._held: dict[str, set[str]] = {}
        self._stand: set[str] = set()

    def change(self, consumer: str, change: str, partitions: Iterable[str]) -> None:
        own = self._held.setdefault(consumer, set())
        if change == "assigned":
            own.update(partitions)
        elif change in ("revoked", "lost"):
            own.difference_update(partitions)
        elif change in ("closing", "killed"):
            own.clear()
        elif change == "stands":
            self._stand.add(consumer)
        elif change == "goes":
            self._stand.discard(consumer)

    def owners(self, group: str) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for consumer, held in self._held.items():
            if _group_of(consumer) == group and consumer not in self._stand:
                for partition in held:
                    found.setdefault(partition, set()).add(consumer)
        return found


def _group_of(consumer: str) -> str:
    return consumer.rpartition("-")[0]


# --- the groups ---------------------------------------------------------------------------------------------


class PlannedConsumers(RecordedConsumers):
    """All groups, and the changes that are done to them."""

    of_broker = MappingProxyType(
        {
            **RecordedConsumers.of_broker,
            "group.consumer.min.heartbeat.interval.ms": 1_000,
            "group.consumer.min.session.timeout.ms": 6_000,
            **_BROKER,
        }
    )

    def __init__(self, directory: Path, shapes: Sequence[Shape], number: int) -> None:
        super().__init__(directory, directory / "recording")
        self.shapes, self.number = shapes, number
        self.probe = PollProbe()
        self.partitions = PARTITIONS
        self._drawn = random.Random(number)
        self._hosts = {name: "hosts" if name != KILLED else "victims" for name in MEMBERS}
        #: Library to the seconds from the begin of a consumer to its assignment.
        self.starts: dict[str, list[float]] = {}
        self._present = {shape.name: shape.settings for shape in shapes}
        self.config = _config(directory)

    def begin(self) -> None:
        self.start_broker()
        self.admin = KafkaAdminClient(bootstrap_servers=self.address)
        self.admin.create_topics([NewTopic(shape.name, PARTITIONS, 1) for shape in self.shapes])
        hosts = []
        for library in sorted({shape.library for shape in self.shapes}):
            python = [sys.executable, "-m", "tests.capture.live.python_consumers", library]
            for host in ("hosts", "victims", "later"):
                hosts.append(f"{host} {library}".strip())
                self._host(hosts[-1], python if library else [*self._java("256m"), "PlainConsumers"])
        self.probe.watch([self.directory / f"{host}.out" for host in hosts])
        time.sleep(5)
        for library in {shape.library for shape in self.shapes}:
            self._warm_up(next(shape for shape in self.shapes if shape.library == library))
        for shape in self.shapes:
            for name in MEMBERS:
                self.begin_one(shape, name)
        for shape in self.shapes:
            if not self.rest(shape):
                raise SystemExit(f"{shape.name} did not form")

    def _warm_up(self, shape: Shape) -> None:
        """Starts and stops the first consumer twice in each host; the seconds of the second start count."""
        hosts = dict(self._hosts)
        for host in ("hosts", "victims", "later"):
            self._hosts[MEMBERS[0]] = host
            for is_cold in (True, False):
                begun = time.time()
                self.begin_one(shape, MEMBERS[0])
                while len(self.probe.owners(shape.name)) < self.partitions and time.time() - begun < LONGEST_S:
                    time.sleep(0.02)
                if not is_cold:
                    self.starts.setdefault(shape.library, []).append(time.time() - begun)
                self.end_one(shape, MEMBERS[0])
                time.sleep(2)
        self._hosts = hosts
        # A start that met the end of the one before is none.
        self.starts[shape.library] = sorted(self.starts[shape.library])[:2]

    def begin_one(self, shape: Shape, name: str) -> None:
        """Starts a consumer at once."""
        settings = self._present[shape.name]
        values: dict[str, object] = {
            "bootstrap.servers": self.address,
            "group.id": shape.name,
            "client.id": f"{shape.name}-{name}",
            "topics": shape.name,
            "auto.offset.reset": "earliest",
            **_CLIENT,
            **settings,
        }
        if values.get("group.protocol") == "consumer":
            for key in ("session.timeout.ms", "heartbeat.interval.ms"):
                values.pop(key)
        if shape.is_static:
            values["group.instance.id"] = name
        words = " ".join(f"{key}={value}" for key, value in values.items())
        self._command(self._host_of(shape, name), f"start {shape.name}-{name} {words}")

    def begin_later(self, shape: Shape, name: str, chance: random.Random) -> None:
        """Starts a consumer after the time that its process needs."""
        time.sleep(chance.uniform(*STARTS_S))
        self.begin_one(shape, name)

    def end_one(self, shape: Shape, name: str) -> None:
        self._command(self._host_of(shape, name), f"stop {shape.name}-{name}")

    def start_seconds(self, shape: Shape) -> str:
        """For ``--start-seconds``, which has the bounds of 90 %: from the begin of a process to its join."""
        low, high = min(self.starts[shape.library]), max(self.starts[shape.library])
        outside_s = 0.05 * (STARTS_S[1] - STARTS_S[0])
        return f"{STARTS_S[0] + outside_s + low:.2f}..{STARTS_S[1] - outside_s + high:.2f}"

    def _host_of(self, shape: Shape, name: str) -> str:
        return f"{self._hosts[name]} {shape.library}".strip()

    # --- waits ------------------------------------------------------------------------------------------

    def is_calm(self, shape: Shape, members: Sequence[str] = MEMBERS) -> bool:
        """True if each partition is polled once, and each consumer polls as many: a move that is under way is not."""
        owners = self.probe.owners(shape.name)
        polled = Counter(name for each in owners.values() for name in each)
        share = self.partitions // len(members)
        return len(owners) == self.partitions and polled == {f"{shape.name}-{name}": share for name in members}

    def rest(self, shape: Shape) -> bool:
        """Waits until a group has been calm for a time; false if it never was."""
        since = time.monotonic()
        end = since + LONGEST_S
        while time.monotonic() - since < RESTS_S:
            if not self.is_calm(shape):
                since = time.monotonic()
            if since > end:
                print(f"{shape.name}: not calm within {LONGEST_S:g} s", self.probe.owners(shape.name), flush=True)
                return False
            time.sleep(0.1)
        return True

    # --- changes ----------------------------------------------------------------------------------------

    def changes(self) -> Sequence[tuple[str, Callable[[Shape], Sequence[str] | None], Callable[[Shape], None]]]:
        """Each change in words, its words for ``plan`` (``None``: not for this group), and its deed."""
        steps = (f"--down-seconds={DOWN_S:g}", "--wait=calm")
        return (
            ("roll", lambda each: ("roll", f"--order={','.join(map(each.member, MEMBERS))}", *steps), self._roll),
            ("kill", lambda each: ("kill", each.member(KILLED), f"--back-after={BACK_S:g}"), self._returns),
            ("late poll", lambda each: ("script", _script(self.directory, each, "late poll")), self._late),
            ("grown topic", lambda each: ("script", _script(self.directory, each, "grown topic")), lambda each: None),
            ("move", lambda each: ("upgrade-protocol", *steps) if each.other else None, self._move),
        )

    def _roll(self, shape: Shape) -> None:
        chance = random.Random(f"{self.number} {shape.name}")
        time.sleep(chance.uniform(0, 5))
        for name in MEMBERS:
            self.end_one(shape, name)
            time.sleep(DOWN_S)
            self.begin_later(shape, name, chance)
            self.rest(shape)

    def _move(self, shape: Shape) -> None:
        self._present[shape.name] = shape.other
        self._roll(shape)

    def _late(self, shape: Shape) -> None:
        chance = random.Random(f"{self.number} late {shape.name}")
        time.sleep(chance.uniform(0, 5))
        self._command(self._host_of(shape, LATE), f"pause {shape.name}-{LATE} {LATE_S * 1000:.0f}")
        time.sleep(LATE_S)

    def _returns(self, shape: Shape) -> None:
        time.sleep(BACK_S)
        self.begin_later(shape, KILLED, random.Random(f"{self.number} back {shape.name}"))

    def done(self, change: str, deed: Callable[[Shape], None], shapes: Sequence[Shape]) -> dict[str, dict[str, float]]:
        """Does a change to all groups; returns figures by group."""
        begin = time.time()
        if change == "grown topic":
            self.partitions = GROWN
            self.admin.create_partitions({each.name: NewPartitions(total_count=GROWN) for each in self.shapes})
        if change == "kill":
            for library in {each.library for each in shapes}:
                self.kill(f"victims {library}".strip())
            at = time.time()
            for shape in self.shapes:
                self.probe.tell(at, f"{shape.name}-{KILLED}", "killed")
            self._hosts[KILLED] = "later"
        with ThreadPoolExecutor(len(shapes)) as pool:
            calm = list(pool.map(partial(self._all_of, deed), shapes))
        found = {}
        for shape, is_calm in zip(shapes, calm, strict=True):
            if not is_calm:
                continue
            partitions = [f"{shape.name}-{number}" for number in range(self.partitions)]
            lengths = self.probe.absences(shape.name, partitions, begin)
            found[shape.name] = {"worst_task_seconds": max(lengths, default=0.0), "task_seconds": sum(lengths)}
        return found

    def _all_of(self, deed: Callable[[Shape], None], shape: Shape) -> bool:
        deed(shape)
        return self.rest(shape)


def _config(directory: Path) -> Path:
    file = directory / "consumer.properties"
    lines = [f"{key}={value}\n" for key, value in {**_CLIENT, **_BROKER}.items()]
    file.write_text("".join([*lines, "group.initial.rebalance.delay.ms=0\n"]))
    return file


def _script(directory: Path, shape: Shape, change: str) -> str:
    """The file of a change that is no plan of its own."""
    event: dict[str, object] = {"type": "grow", "partitions": GROWN, "topic": shape.name}
    if change == "late poll":
        event = {"type": "busy", "for_ms": int(LATE_S * 1000), "consumer": shape.member(LATE)}
    file = directory / f"{change}-{shape.name}.json"
    file.write_text(json.dumps({"steps": [{"events": [event], "wait": "calm"}]}))
    return str(file)


def _run(*words: str) -> str:
    """The output of a command, in this process."""
    done = CliRunner().invoke(build_app(list(words)), list(words), catch_exceptions=False)
    if done.exit_code:
        raise SystemExit(f"assignor {' '.join(words)}: {done.output}")
    return done.stdout


@attrs.frozen
class _Planned:
    """A change that is planned from the state before it."""

    shape: Shape
    change: str
    state: Path
    words: Sequence[str]
    measured: Mapping[str, float]


def changes_of(shapes: Sequence[Shape], number: int, measured_file: Path | None) -> list[Done]:
    """Starts the groups and changes them, and plans each change from its state before.

    Args:
        measured_file: Gets the changes without their plans.
    """
    with tempfile.TemporaryDirectory() as temporary:
        groups = PlannedConsumers(Path(temporary), shapes, number)
        found: list[_Planned] = []
        try:
            groups.begin()
            for change, words_of, deed in groups.changes():
                given = {each: words for each in shapes if (words := words_of(each)) is not None}
                states = {each: _captured(groups, each, change) for each in given}
                measured = groups.done(change, deed, list(given))
                shapes = [each for each in shapes if each.name in measured or each not in given]
                for shape, words in given.items():
                    if shape.name not in measured:
                        continue
                    found.append(_Planned(shape, change, states[shape], words, measured[shape.name]))
                    print(number, shape.name, change, measured[shape.name], flush=True)
        finally:
            groups.probe.close()
            groups.close()
        if measured_file is not None:
            rows = [Done(number, e.shape.name, e.change, e.measured, {}, e.state.read_text(), e.words) for e in found]
            measured_file.write_text(json.dumps([[attrs.asdict(each), groups.starts] for each in rows]))
        return [_planned(groups, each, number) for each in found]


def _captured(groups: PlannedConsumers, shape: Shape, change: str) -> Path:
    file = groups.directory / f"{shape.name} {change}.jsonl"
    _run("capture", "--bootstrap-server", groups.address, "--group", shape.name, "--out", str(file))
    return file


def _planned(groups: PlannedConsumers, before: _Planned, number: int) -> Done:
    words = [*before.words, "--config", str(groups.config), "--start-seconds", groups.start_seconds(before.shape)]
    if before.shape.library:
        words += ["--client", before.shape.library]
    state = before.state.read_text()
    done = Done(number, before.shape.name, before.change, before.measured, {}, state, words)
    return attrs.evolve(done, planned=_intervals(before.state, words))


def _intervals(state: Path, words: Sequence[str]) -> dict[str, list[float]]:
    # The poll loops do nothing else, so a rebalance never waits for one.
    options = ("--json", "--no-variants", f"--plays={PLAYS}", "--poll-seconds=0.001")
    answer: Any = json.loads(_run("plan", str(state), *words, *options))
    return {name: [answer["total"][name][key] for key in ("low", "median", "high")] for name in FIGURES}


def planned_again(found: Sequence[Done]) -> list[Done]:
    """Recorded changes with the plans of today."""
    again = []
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        config, state = str(_config(directory)), directory / "state.jsonl"
        for each in found:
            shape, words = next(shape for shape in SHAPES if shape.name == each.group), list(each.words)
            state.write_text(each.state)
            words[words.index("--config") + 1] = config
            if words[0] == "script":
                words[1] = _script(directory, shape, each.change)
            if shape.library and "--client" not in words:
                words += ["--client", shape.library]
            again.append(attrs.evolve(each, planned=_intervals(state, words)))
    return again


# --- the table ----------------------------------------------------------------------------------------------


def table(found: Sequence[Done]) -> list[str]:
    """The goals and the rows of the page."""
    lines = ["|  | goal | worst partition | all partitions together |", "|---|---|---|---|"]
    for words, beside in (("inside, or beside it by at most 1 %", TOLERANCE), ("inside", 0.0)):
        inside = [sum(each.is_inside(name, beside) for each in found) for name in FIGURES]
        shares = [f"{number} of {len(found)} ({number / len(found):.0%})" for number in inside]
        lines.append(f"| {words} | 85 % | {' | '.join(shares)} |")
    widths = [f"{statistics.median(each.width(name) for each in found):.0%}" for name in FIGURES]
    lines.append(f"| median width | at most 30 % | {' | '.join(widths)} |")
    heads: tuple[str, ...] = ("change or group", "worst partition: inside", "width", "all together: inside", "width")
    lines += ["", f"| {' | '.join(heads)} |", "|---|---|---|---|---|"]
    for name in (*dict.fromkeys(each.change for each in found), *sorted({each.group for each in found})):
        lines.append(_line(name, [each for each in found if name in (each.change, each.group)]))
    heads = ("round", "group", "change", "figure", "measured", "planned", "interval")
    lines += ["", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for each in sorted(found, key=lambda each: (each.round, each.group)):
        for name in FIGURES:
            low, median, high = each.planned[name]
            lines.append(
                f"| {each.round} | {each.group} | {each.change} | {WORDS[name]} | {each.measured[name]:.1f} | "
                f"{median:.1f} | {low:.1f} to {high:.1f}{'' if each.is_inside(name) else ' **no**'} |"
            )
    return lines


def _line(name: str, own: Sequence[Done]) -> str:
    cells = []
    for figure in FIGURES:
        cells.append(f"{sum(each.is_inside(figure) for each in own)} of {len(own)}")
        cells.append(f"{statistics.median(each.width(figure) for each in own):.0%}")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> int:
    """Returns 1 if too few changes are inside their intervals."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.live.consumers", description=__doc__)
    parser.add_argument("--groups", help="names of groups (default: all)")
    parser.add_argument("--rounds", type=int, default=2, help="lives of all groups (%(default)s)")
    parser.add_argument("--results", type=Path, help="JSON of the changes: rounds of earlier calls stay in it")
    parser.add_argument(
        "--again", action="store_true", help="plan the recorded changes of --results again, without a broker"
    )
    parser.add_argument("--write", action="store_true", help="the table into docs/reference/accuracy.md")
    options = parser.parse_args()
    found = []
    if options.results and options.results.is_file():
        found = [Done(**each) for each in json.loads(options.results.read_text())]
    shapes = [each for each in SHAPES if not options.groups or each.name in options.groups.split(",")]
    first = max((each.round for each in found), default=0) + 1
    if options.again:
        found, options.rounds = planned_again(found), 0
        options.results.write_text(json.dumps([attrs.asdict(each) for each in found], indent=1))
    for number in range(first, first + options.rounds):
        found += changes_of(shapes, number, options.results and options.results.with_suffix(f".{number}"))
        if options.results:
            options.results.write_text(json.dumps([attrs.asdict(each) for each in found], indent=1))
    lines = table(found)
    print("\n".join(lines))
    if options.write:
        with_part(PART, lines)
    return 0 if all(sum(each.is_inside(name) for each in found) >= 0.85 * len(found) for name in FIGURES) else 1


if __name__ == "__main__":
    raise SystemExit(main())
