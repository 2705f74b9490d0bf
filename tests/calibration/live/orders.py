"""Restarts real applications in their best order, by its exported script: a part of ``make accuracy-live``.

Each roll captures the group, runs ``assignor plan roll --best --form script``, and does what the script does. The same
script with one instance a step follows. Each instance is a process of its own; with ``--one-process`` all are in one,
and a start takes a drawn time, as on machines of their own, and not that of busy cores. The seconds of ``assignor
check`` between the steps are shown apart, because no plan contains them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from tests.calibration.live.__main__ import Application, Probe, assignor, captured, with_part
from tests.connect.real_kafka import until

#: Required gain over one by one, and the rolls that have it or lie inside their intervals, as shares.
GAIN, HELD = 0.4, 0.8
#: Bounds of the time that a process needs before its instance starts, if all instances are in one process.
STARTS_S = (4.0, 8.0)
#: Rest between two rolls.
CALM_S = 15.0
PART = "python -m tests.calibration.live.orders --write"
PART_OF_ONE = "python -m tests.calibration.live.orders --one-process --write"

_RESTART = """\
#!/bin/sh
# NAME: closes the instance, and starts the next one after the time that its process needs.
set -eu
cd {directory}
echo "close {directory}/$1.states" > commands
until tail -n 1 "$1.states" | grep -q ' NOT_RUNNING$'; do sleep 0.1; done
sh "start-$1" &
"""
#: The same for an instance with a process of its own.
_RESTART_OWN = """\
#!/bin/sh
# NAME: closes the instance, and starts its process again.
set -eu
cd {directory}
process=$(cat "$1.pid")
kill "$process"
while kill -0 "$process" 2>/dev/null; do sleep 0.1; done
sh "start-$1"
"""
_READY = """\
#!/bin/sh
tail -n 1 {directory}/"$1.states" 2>/dev/null | grep -q ' RUNNING$'
"""
#: Notes the begin and the end of each check.
_CHECK = """\
#!/bin/sh
date +%s.%N >> {directory}/checks
{python} -m assignor_lab.cli.main "$@"
code=$?
date +%s.%N >> {directory}/checks
exit $code
"""


@attrs.frozen
class Shape:
    """An application to restart.

    Args:
        settings: Settings in place of the usual ones.
    """

    name: str
    instances: int
    protocol: str
    settings: Mapping[str, object]


SHAPES = (
    Shape("four instances, a standby of each task", 4, "classic", {"num.standby.replicas": 1}),
    Shape("six instances, no standbys", 6, "classic", {"num.standby.replicas": 0, "num.stream.threads": 1}),
    Shape("four instances, streams protocol", 4, "streams", {}),
)


@attrs.frozen
class OrderedRoll:
    """A roll in the best order, and one by one.

    Args:
        recorded: Figure to its value in the best order; ``single``: one by one.
        planned: Figure to low, median and high; ``planned_single``: one by one.
        check_s: Seconds of the checks, in the best order and one by one.
    """

    shape: str
    number: int
    order: str
    recorded: Mapping[str, float]
    single: Mapping[str, float]
    planned: Mapping[str, Sequence[float]]
    planned_single: Mapping[str, Sequence[float]]
    check_s: tuple[float, float]

    @property
    def gain(self) -> float:
        """The larger gain of duration and task-seconds."""
        return max(1 - self.recorded[name] / self.single[name] for name in ("duration_seconds", "task_seconds"))

    @property
    def is_inside(self) -> bool:
        low, _, high = self.planned["duration_seconds"]
        return low <= self.recorded["duration_seconds"] <= high


class StoppedError(Exception):
    """The script stopped before its end."""


class ScriptedApplication(Application):
    """An application whose instances shell commands restart."""

    def __init__(self, directory: Path, shape: Shape, *, is_one_process: bool) -> None:
        self.sizes = {"work": 8, "notes": 4}
        self.names = tuple(f"d{number + 1}" for number in range(shape.instances))
        self.shape, self._random = shape, random.Random(shape.name)
        self.is_one_process = is_one_process
        super().__init__(directory, protocol=shape.protocol)

    @property
    def settings(self) -> Mapping[str, object]:
        return {**super().settings, **self.shape.settings}

    def write_commands(self) -> None:
        here = shlex.quote(str(self.directory))
        restart = _RESTART if self.is_one_process else _RESTART_OWN
        for name, text in (("restart", restart), ("ready", _READY), ("assignor", _CHECK)):
            path = self.directory / name
            path.write_text(text.format(directory=here, python=shlex.quote(sys.executable)))
            path.chmod(0o755)
        for name in self.names:
            (self.directory / f"start-{name}").write_text(self._start_command(name))
        if not self.is_one_process:
            return
        commands = self.directory / "commands"
        os.mkfifo(commands)
        with commands.open("r+b", buffering=0) as lines, (self.directory / "instances.out").open("ab") as out:
            program = [*self._java("512m"), "AccuracyApplication"]
            self.processes["instances"] = subprocess.Popen(program, stdin=lines, stdout=out, stderr=out)

    def _start_command(self, name: str) -> str:
        words = [str(self._states(name)), *self.settings_of(name, "live", self.settings)]
        begin = f"rm -f {name}.states\ndate +%s.%N > {name}.begun\n"
        if self.is_one_process:
            return f"{begin}sleep $(cat {name}.init)\necho {shlex.quote(shlex.join(['start', *words]))} > commands\n"
        program = shlex.join([*self._java("128m"), "AccuracyApplication", *words])
        return f"{begin}{program} >> {name}.out 2>&1 < /dev/null &\necho $! > {name}.pid\n"

    def close(self) -> None:
        for file in self.directory.glob("*.pid"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(file.read_text()), signal.SIGKILL)
        super().close()

    def draw_starts(self) -> None:
        """Draws the time that each process needs before its instance starts."""
        for name in self.names:
            (self.directory / f"{name}.init").write_text(f"{self._random.uniform(*STARTS_S):.1f}")

    def start(self, name: str) -> None:
        subprocess.run(["sh", f"start-{name}"], cwd=self.directory, check=True)

    def start_all(self) -> None:
        for name in self.names:
            (self.directory / f"{name}.init").write_text("0")
        super().start_all()

    def note_starts(self, names: Sequence[str] = ()) -> None:
        """Learns the starts of instances; without names, of all."""
        for name in names or self.names:
            joined_ms = int(self._states(name).read_text().split()[0])
            self.starts.append(joined_ms / 1000 - float((self.directory / f"{name}.begun").read_text()))

    def learn_starts(self) -> None:
        """Restarts half of the instances together, and one alone: the starts of both show the usual ones."""
        half = self.names[: len(self.names) // 2]
        for names in (half, self.names[-1:]):
            self.draw_starts()
            with ThreadPoolExecutor(len(names)) as pool:
                list(pool.map(self._restart, names))
            for name in names:
                self.wait_until_running(name)
            self.note_starts(names)
            time.sleep(CALM_S)

    def _restart(self, name: str) -> None:
        subprocess.run([self.directory / "restart", name], check=True)

    @contextlib.contextmanager
    def recorded(self) -> Iterator[Path]:
        """A running recording of the group."""
        folder = self.directory / f"past-{time.monotonic_ns()}"
        where = ("--bootstrap-server", self.address, "--group", "live", "--follow", "--out", str(folder))
        with (self.directory / "record.out").open("ab") as out:
            program = [sys.executable, "-m", "assignor_lab.cli.main", "record", *where]
            recording = subprocess.Popen(program, stdout=out, stderr=out)
        try:
            until(lambda: folder.is_dir() and any(folder.iterdir()), "the recording")
            time.sleep(3)
            yield folder
        finally:
            recording.send_signal(signal.SIGTERM)
            recording.wait(60)

    def rolled(self, probe: Probe, script: str) -> tuple[dict[str, float], float]:
        """The figures of a roll by a script, and the seconds of its checks between the steps."""
        checks = self.directory / "checks"
        checks.unlink(missing_ok=True)
        file = self.directory / "roll.sh"
        file.write_text(script)
        self.draw_starts()
        with self.recorded() as folder:
            surroundings = {
                **os.environ,
                "PATH": f"{self.directory}:{os.environ['PATH']}",
                "RESTART": str(self.directory / "restart"),
                "READY": str(self.directory / "ready"),
                "RECORDED": str(folder),
                "PLANNED": str(self.directory / "restarts"),
            }
            done = subprocess.run(["sh", str(file)], env=surroundings, capture_output=True, text=True, timeout=600)
            if done.returncode:
                raise StoppedError(f"{done.stdout}{done.stderr}")
            moments = [float(line) for line in checks.read_text().split()]
            time.sleep(CALM_S)
        # The first check is before the roll, and the last one after it.
        begin, end, check_s = (
            moments[1],
            moments[-2],
            sum(after - before for before, after in zip(moments[2:-2:2], moments[3:-2:2], strict=True)),
        )
        lengths = probe.absences(begin)
        figures = {
            "duration_seconds": end - begin - check_s,
            "task_seconds": sum(lengths),
            "worst_task_seconds": max(lengths, default=0.0),
        }
        self.note_starts()
        return figures, check_s


def one_by_one(script: str, names: Sequence[str]) -> str:
    """The script with one instance a step."""
    head = script[: script.index("# Step 1 ")]
    return head + "".join(f"plan_restart 180 {name}\nplan_check\n" for name in names)


def roll_of(application: ScriptedApplication, probe: Probe, number: int) -> OrderedRoll:
    state, config = captured(application)
    words = ("plan", state, "roll", "--best", "--config", config, "--start-seconds", application.start_seconds)
    answer: Any = json.loads(assignor(*words, "--json"))
    script = assignor(*words, "--form", "script")
    recorded, check_s = application.rolled(probe, script)
    single, single_check_s = application.rolled(probe, one_by_one(script, application.names))
    return OrderedRoll(
        application.shape.name, number, answer["sentence"].partition(":")[0].removeprefix("Restart "),
        recorded, single, _planned(answer), _planned(answer["one_by_one"]) or _planned(answer),
        (check_s, single_check_s),
    )  # fmt: skip


def rolls_of(shape: Shape, number: int, *, is_one_process: bool) -> list[OrderedRoll]:
    """Starts an application of a shape and restarts it so often, in the best order and one by one."""
    found: list[OrderedRoll] = []
    with tempfile.TemporaryDirectory() as folder:
        application = ScriptedApplication(Path(folder), shape, is_one_process=is_one_process)
        try:
            application.start_broker()
            application.create_topics()
            application.write_commands()
            probe = Probe(application.address, application.sizes)
            application.start_all()
            application.learn_starts()
            for roll in range(1, number + 1):
                try:
                    found.append(roll_of(application, probe, roll))
                except StoppedError as error:
                    print(f"{shape.name}, roll {roll}: {error}", flush=True)
                    continue
                print("\n".join(table(found[-1:])[2:]), attrs.asdict(found[-1]), flush=True)
            probe.close()
        finally:
            application.close()
    return found


def _planned(answer: Mapping[str, Any]) -> dict[str, list[float]]:
    if "total" not in answer:
        return {}
    return {
        name: [answer["total"][name][key] for key in ("low", "median", "high")]
        for name in ("duration_seconds", "task_seconds", "worst_task_seconds")
    }


def table(rolls: Sequence[OrderedRoll]) -> list[str]:
    """The rows of the page."""
    heads = ("application", "order", "recorded, s", "planned", "holds it", "one by one, s", "planned", "less time")
    lines = [f"| {' | '.join((*heads, 'less task-seconds', 'checks, s'))} |", "|" + "---|" * (len(heads) + 2)]
    for each in rolls:
        low, median, high = each.planned["duration_seconds"]
        less, less_away = (
            f"{1 - each.recorded[name] / each.single[name]:.0%}" for name in ("duration_seconds", "task_seconds")
        )
        lines.append(
            f"| {each.shape} | {each.order} | {each.recorded['duration_seconds']:.1f} | {median:.1f} ({low:.1f} to "
            f"{high:.1f}) | {'yes' if each.is_inside else '**no**'} | {each.single['duration_seconds']:.1f} | "
            f"{each.planned_single['duration_seconds'][1]:.1f} | {less} | {less_away} | "
            f"{each.check_s[0]:.1f} and {each.check_s[1]:.1f} |"
        )
    return lines


def main() -> int:
    """Prints a line for each roll; returns 1 if too few have the gain or lie inside their intervals."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.live.orders", description=__doc__)
    parser.add_argument("--rolls", type=int, default=5, help="rolls of a shape, each also one by one (%(default)s)")
    parser.add_argument("--shapes", default="0,1", help="numbers of the shapes, from 0 on (%(default)s)")
    parser.add_argument("--at-once", type=int, default=1, help="applications beside each other (%(default)s)")
    parser.add_argument("--one-process", action="store_true", help="all instances in one process, with drawn starts")
    parser.add_argument("--write", action="store_true", help="the table into docs/reference/accuracy.md")
    options = parser.parse_args()
    shapes = [SHAPES[int(number)] for number in options.shapes.split(",")]
    run = partial(rolls_of, number=options.rolls, is_one_process=options.one_process)
    with ThreadPoolExecutor(options.at_once) as pool:
        found = [each for rolls in pool.map(run, shapes) for each in rolls]
    held = [each.is_inside for each in found]
    gained = [each.gain >= GAIN for each in found]
    median = statistics.median(each.gain for each in found)
    figures = ("worst_task_seconds", "task_seconds")
    away = {
        name: [
            low <= of[name] <= high
            for each in found
            for of, planned in ((each.recorded, each.planned), (each.single, each.planned_single))
            for low, _, high in [planned[name]]
        ]
        for name in figures
    }
    rolls, (worst, sums) = len(found), (away[name] for name in figures)
    sentences = [
        f"{sum(gained)} of {rolls} rolls have at least {GAIN:.0%} less time or task-seconds (median {median:.0%}).",
        f"{sum(held)} of {rolls} durations are inside their intervals.",
        f"Of both orders, {sum(worst)} of {len(worst)} worst tasks and {sum(sums)} of {len(sums)} sums of task-seconds "
        "are inside.",
    ]
    print(*sentences, sep="\n")
    if options.write:
        with_part(PART_OF_ONE if options.one_process else PART, [*sentences, "", *table(found)])
    return 0 if sum(held) >= HELD * len(found) and sum(gained) >= HELD * len(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
