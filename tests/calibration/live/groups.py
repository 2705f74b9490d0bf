"""Changes of new groups on a real broker, each planned before it is done: a part of ``make accuracy-live``.

Each group has an own shape, and each of its instances an own process that begins after a drawn time. Before each change
the group is captured, and its recording is copied. Both have a plan: one without, one with the group's past. Then the
change is done, and a probe measures the output of each task.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from tests.calibration.live.__main__ import Application, Probe, assignor, captured, with_part
from tests.connect.real_kafka import until

PART = "python -m tests.calibration.live.groups --write"
CAPTURES = Path(__file__).parents[2] / "data" / "captures" / "groups"
#: Rest after a change beyond a session; a killed process is back after the second time.
CALM_S, BACK_S = 12.0, 6.0
FIGURES = ("worst_task_seconds", "task_seconds")
WORDS = {"worst_task_seconds": "worst task", "task_seconds": "all tasks together"}


@attrs.frozen
class Shape:
    """A group to record.

    Args:
        sizes: Topic to its partitions.
        settings: In place of the usual ones.
        starts_s: Bounds of the time before a process of an instance begins.
        busy: Processes that keep the machine busy.
    """

    name: str
    words: str
    instances: int
    sizes: Mapping[str, int]
    settings: Mapping[str, object]
    starts_s: tuple[float, float]
    protocol: str = "classic"
    busy: int = 0


SHAPES = (
    Shape(
        "joined", "8 tasks with a join, no standbys", 3, {"work": 8},
        {"num.standby.replicas": 0, "live.topology": "join"}, (2.0, 6.0),
    ),
    Shape("stateless", "12 tasks without state", 3, {"notes": 12}, {"live.topology": "stateless"}, (6.0, 12.0)),
    Shape(
        "standbys", "6 tasks with state and 3 without, 1 standby, one thread", 4, {"work": 6, "notes": 3},
        {"num.stream.threads": 1}, (2.0, 8.0),
    ),
    Shape(
        "streamed", "streams protocol, 6 tasks with state, 1 standby", 3, {"work": 6, "notes": 2}, {}, (2.0, 8.0),
        "streams",
    ),
    Shape(
        "static", "static members, 6 tasks with state, 1 standby, busy machine", 3, {"work": 6, "notes": 2},
        {"session.timeout.ms": 30_000, "group.instance.id": "NAME"}, (4.0, 10.0), busy=2,
    ),
    Shape(
        "busy", "6 tasks with state and 2 without, no standbys, busy machine", 3, {"work": 6, "notes": 2},
        {"num.standby.replicas": 0}, (8.0, 14.0), busy=2,
    ),
)  # fmt: skip


@attrs.frozen
class Done:
    """A change that was planned and then done.

    Args:
        measured: Figure to its value.
        alone: Figure to low, median and high of the plan without the past.
        with_past: The same with the past; ``None`` if the recording shows no change before.
        starts: The range of starts that the plans have.
    """

    shape: str
    change: str
    measured: Mapping[str, float]
    alone: Mapping[str, Sequence[float]]
    with_past: Mapping[str, Sequence[float]] | None
    starts: str


class ShapedApplication(Application):
    """The application of a shape, and what operators do with it."""

    def __init__(self, directory: Path, shape: Shape) -> None:
        self.shape, self.sizes = shape, shape.sizes
        self.names = tuple(f"g{number + 1}" for number in range(shape.instances))
        self._drawn = random.Random(shape.name)
        self._begun: dict[str, float] = {}
        super().__init__(directory, protocol=shape.protocol)
        self.advised = {f"g{number + 1}": {} for number in range(shape.instances + 1)}

    @property
    def settings(self) -> Mapping[str, object]:
        return {key: held for key, held in {**super().settings, **self.shape.settings}.items() if held != "NAME"}

    @property
    def calm_s(self) -> float:
        """A change is over by then."""
        held = [self.settings, *self.advised.values()]
        return max(float(str(each.get("session.timeout.ms") or 10_000)) for each in held) / 1000 + CALM_S

    def create_topics(self) -> None:
        super().create_topics()
        if self.shape.settings.get("live.topology") == "join":
            from kafka import KafkaAdminClient
            from kafka.admin import NewTopic

            admin = KafkaAdminClient(bootstrap_servers=self.address)
            admin.create_topics([NewTopic("names", self.sizes["work"], 1)])
            admin.close()

    def start(self, name: str) -> None:
        """Starts a process after a drawn time; returns at once."""
        self._states(name).unlink(missing_ok=True)
        static = {"group.instance.id": name} if "group.instance.id" in self.shape.settings else {}
        settings = self.settings_of(name, "live", {**self.settings, **static, **self.advised[name]})
        self._begun[name] = time.time()
        wait_s = self._drawn.uniform(*self.shape.starts_s)
        java = [*self._java("128m"), "AccuracyApplication", str(self._states(name)), *settings]
        self._spawn_command(name, ["sh", "-c", f'sleep {wait_s:.2f}; exec "$@"', "sh", *java])

    def started(self, names: Sequence[str]) -> None:
        """Waits until instances run, and notes their starts."""
        for name in names:
            until(lambda name=name: self._states(name).exists() and "RUNNING" in self._last(name).split(), name, 120)  # type: ignore[misc]
            joined_ms = int(self._states(name).read_text().split()[0])
            self.starts.append(joined_ms / 1000 - self._begun[name])

    def changes(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Each change in words and as words of ``plan``; it is done when the next one is asked for."""
        last, new = self.names[-1], f"g{len(self.names) + 1}"
        yield "roll", ("roll", f"--order={','.join(self.names)}")
        for name in self.names:
            self.stop(name)
            self.start(name)
            self.started([name])
        yield f"kill {last}", ("kill", last, f"--back-after={BACK_S:g}")
        self.kill(last)
        time.sleep(BACK_S)
        self.start(last)
        self.started([last])
        yield f"scale-out {new}", ("scale", "--to", str(len(self.names) + 1))
        self.start(new)
        self.started([new])
        yield f"scale-in {self.names[0]}", ("scale", "--to", str(len(self.names)), "--leaving", self.names[0])
        self.stop(self.names[0])

    @contextlib.contextmanager
    def recorded(self) -> Iterator[Path]:
        """A running recording of the group."""
        folder = self.directory / "past"
        where = ("--bootstrap-server", self.address, "--group", "live", "--follow", "--sample-every", "5s")
        with (self.directory / "record.out").open("ab") as out:
            program = [sys.executable, "-m", "assignor_lab.cli.main", "record", *where, "--out", str(folder)]
            recording = subprocess.Popen(program, stdout=out, stderr=out)
        try:
            until(lambda: folder.is_dir() and any(folder.iterdir()), "the recording")
            yield folder
        finally:
            recording.send_signal(signal.SIGTERM)
            recording.wait(60)


@contextlib.contextmanager
def busy_machine(number: int) -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for each in processes:
            each.kill()
            each.wait()


@attrs.frozen
class _Before:
    """The state before a change, with copies of its files."""

    change: str
    words: Sequence[str]
    state: Path
    past: Path
    config: str
    starts: str


def changes_of(shape: Shape, kept: Path) -> list[Done]:
    """Starts a group and changes it; its recording is kept."""
    with tempfile.TemporaryDirectory() as temporary, busy_machine(shape.busy):
        application = ShapedApplication(Path(temporary), shape)
        found: list[tuple[_Before, dict[str, float]]] = []
        try:
            application.start_broker()
            application.create_topics()
            probe = Probe(application.address, application.sizes)
            for name in application.names:
                application.start(name)
            application.started(application.names)
            with application.recorded() as folder:
                time.sleep(application.calm_s)
                before: _Before | None = None
                begin = time.time()
                for number, (change, words) in enumerate(application.changes()):
                    if before is not None:
                        found.append((before, _measured(application, probe, begin)))
                    before = _noted(application, folder, number, change, words)
                    begin = time.time()
                if before is not None:
                    found.append((before, _measured(application, probe, begin)))
            probe.close()
            _keep(folder, kept / shape.name, application)
        finally:
            application.close()
        return [_planned(shape, before, measured) for before, measured in found]


def _noted(application: ShapedApplication, folder: Path, number: int, change: str, words: Sequence[str]) -> _Before:
    state, config = captured(application)
    copy, past = (application.directory / f"{kind}-{number}" for kind in ("state", "past"))
    shutil.copy(state, copy)
    shutil.copytree(folder, past)
    return _Before(change, words, copy, past, config, application.start_seconds)


def _measured(application: ShapedApplication, probe: Probe, begin: float) -> dict[str, float]:
    time.sleep(application.calm_s)
    lengths = probe.absences(begin)
    return {"worst_task_seconds": max(lengths, default=0.0), "task_seconds": sum(lengths)}


def _planned(shape: Shape, before: _Before, measured: Mapping[str, float]) -> Done:
    """The plans of a change: nothing in them is later than its begin."""
    options = ("--config", before.config, "--start-seconds", before.starts, "--json", "--no-variants")
    alone = json.loads(assignor("plan", str(before.state), *before.words, *options))
    with_past: Any = json.loads(assignor("plan", str(before.past), *before.words, *options))
    # A first change has no past.
    has_past = bool((with_past.get("past_changes") or {}).get("changes"))
    done = Done(
        shape.name, before.change, measured, _figures(alone), _figures(with_past) if has_past else None, before.starts
    )
    print(done, flush=True)
    return done


def _figures(answer: Any) -> dict[str, list[float]]:
    return {name: [answer["total"][name][key] for key in ("low", "median", "high")] for name in FIGURES}


def _keep(folder: Path, kept: Path, application: ShapedApplication) -> None:
    """Copies a recording into the test data, compressed."""
    kept.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.name in ("records.jsonl", "samples.jsonl"):
            (kept / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
        elif file.name == "brokers.json":
            shutil.copy(file, kept)
    lines = [f"{key}={value}\n" for key, value in application.settings.items() if not key.startswith("live.")]
    (kept / "application.properties").write_text("".join(lines))


# --- the table ----------------------------------------------------------------------------------------------


def is_inside(done: Done, name: str, planned: Mapping[str, Sequence[float]]) -> bool:
    low, _, high = planned[name]
    return low <= done.measured[name] <= high


def table(found: Sequence[Done]) -> list[str]:
    """The goals and the rows of the page."""
    lines = ["|  | goal | worst task | all tasks together |", "|---|---|---|---|"]
    of_past = [(each, each.with_past) for each in found if each.with_past is not None]
    for words, of, goal in (
        ("without a past", [(each, each.alone) for each in found], "70 %"),
        ("with the recorded past", of_past, "45 %"),
    ):
        if not of:
            continue
        inside = [sum(is_inside(each, name, planned) for each, planned in of) for name in FIGURES]
        lines.append(
            f"| inside, {words} | 80 % | {' | '.join(f'{n} of {len(of)} ({n / len(of):.0%})' for n in inside)} |"
        )
        widths = [statistics.median(_width(planned[name]) for _, planned in of) for name in FIGURES]
        lines.append(f"| median width, {words} | at most {goal} | {' | '.join(f'{each:.0%}' for each in widths)} |")
    heads = ("group", "change", "starts, s", "figure", "measured", "planned", "interval", "with its past")
    lines += ["", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for each in found:
        for name in FIGURES:
            own = "-" if each.with_past is None else _interval(each, name, each.with_past)
            lines.append(
                f"| {each.shape} | {each.change} | {each.starts.replace('..', ' to ')} | {WORDS[name]} | "
                f"{each.measured[name]:.1f} | {each.alone[name][1]:.1f} | {_interval(each, name, each.alone)} | {own} |"
            )
    return lines


def _interval(done: Done, name: str, planned: Mapping[str, Sequence[float]]) -> str:
    low, _, high = planned[name]
    return f"{low:.1f} to {high:.1f}{'' if is_inside(done, name, planned) else ' **no**'}"


def _width(planned: Sequence[float]) -> float:
    low, median, high = planned
    return (high - low) / max(median, 0.5)


def main() -> int:
    """Returns 1 if too few changes are inside their intervals."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.live.groups", description=__doc__)
    parser.add_argument(
        "--shapes", default=",".join(each.name for each in SHAPES), help="names of groups (%(default)s)"
    )
    parser.add_argument("--keep", type=Path, default=CAPTURES, help="folder of the recordings (%(default)s)")
    parser.add_argument("--results", type=Path, help="JSON of the changes: groups that are not recorded now stay in it")
    parser.add_argument("--write", action="store_true", help="the table into docs/reference/accuracy.md")
    options = parser.parse_args()
    names = options.shapes.split(",")
    earlier = json.loads(options.results.read_text()) if options.results and options.results.is_file() else []
    found = [Done(**each) for each in earlier if each["shape"] not in names]
    for shape in SHAPES:
        if shape.name in names:
            found += changes_of(shape, options.keep)
            if options.results is not None:
                options.results.write_text(json.dumps([attrs.asdict(each) for each in found], indent=1))
    print("\n".join(table(found)))
    if options.write:
        with_part(PART, table(found))
    held = [sum(is_inside(each, name, each.alone) for each in found) for name in FIGURES]
    return 0 if all(count >= 0.8 * len(found) for count in held) else 1


if __name__ == "__main__":
    raise SystemExit(main())
