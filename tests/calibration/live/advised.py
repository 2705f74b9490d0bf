"""Takes the advice for groups on a real broker, and rolls them: a part of ``make accuracy-live``.

Each group has an own shape and another setting that the advice may change. A roll under the present settings shows the
starts. Then the group is captured, its advice is followed, and the next rolls are compared with the promise for one.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from tests.calibration.live.__main__ import MIX, Probe, assignor, captured, with_part
from tests.calibration.live.groups import SHAPES, ShapedApplication, busy_machine

PART = "python -m tests.calibration.live.advised --write"
#: Required share of rolls inside the promised interval.
HELD = 0.8
_STATIC, _CLOSE, _SESSION, _BATCH = "group.instance.id", "CloseOptions", "session.timeout.ms", "instances at once"


@attrs.frozen
class AdvisedShape:
    """A group, and the settings that its advice may change.

    Args:
        group: Name of a shape of ``tests.calibration.live.groups``.
        within: Setting to the values that it may have; the others stay.
        rolls: Rolls under the advice.
    """

    group: str
    within: Mapping[str, Sequence[object]]
    rolls: int


ADVISED = (
    AdvisedShape("joined", {_STATIC: ["none", "one for each instance"], _SESSION: [10_000, 30_000]}, 4),
    AdvisedShape("stateless", {_CLOSE: ["default", "LEAVE_GROUP"], _SESSION: [10_000, 20_000]}, 3),
    AdvisedShape("standbys", {_SESSION: [6_000, 10_000, 20_000], _BATCH: [1, 2]}, 3),
)


@attrs.frozen
class AdvisedRoll:
    """A roll under the advice.

    Args:
        advice: The changed settings in words.
        before: Task-seconds of the roll under the settings before.
        low: Lower end of the promise, in task-seconds.
        starts: The range of starts that the advice has.
    """

    group: str
    number: int
    advice: str
    before: float
    measured: float
    promised: float
    low: float
    high: float
    starts: str

    @property
    def is_inside(self) -> bool:
        return self.low <= self.measured <= self.high


def advice_of(application: ShapedApplication, within: Mapping[str, Sequence[object]]) -> Any:
    """The advice for a deployment a day, from a capture of the group."""
    capture, config = captured(application)
    mix, values = application.directory / "mix.toml", application.directory / "within.toml"
    mix.write_text(MIX)
    values.write_text("".join(f"{json.dumps(key)} = {json.dumps(list(of))}\n" for key, of in within.items()))
    words = ("--config", config, "--mix", str(mix), "--within", str(values), "--release", "4.3")
    starts = ("--start-seconds", application.start_seconds)
    space = json.loads(assignor("advise", capture, *words[:4], *words[6:], *starts, "--json", *_QUICK))["space"]
    settings = (each["key"] for each in space)
    fixed = [word for key in settings if key not in within for word in ("--fix", key)]
    return json.loads(assignor("advise", capture, *words, *starts, *fixed, "--json"))


#: A race that only lists the settings.
_QUICK = ("--configurations", "2", "--days", "2")


def follow(application: ShapedApplication, advice: Any) -> int:
    """Takes the advised settings; returns the number of instances that restart at once."""
    change = advice["change"]
    leaves = {"live.close": "LEAVE_GROUP"} if change["code"] else {}
    application.advised = {
        name: {**change["properties"], **change["instances"].get(name, {}), **leaves} for name in application.names
    }
    for name in application.names:
        application.stop(name)
    for name in application.names:
        application.start(name)
    application.started(application.names)
    time.sleep(application.calm_s)
    return int(advice["changes"].get(_BATCH, 1))


def rolled(application: ShapedApplication, probe: Probe, at_once: int) -> float:
    """Task-seconds of a roll."""
    begin = time.time()
    names = application.names
    for batch in (names[place : place + at_once] for place in range(0, len(names), at_once)):
        for name in batch:
            application.processes[name].send_signal(signal.SIGTERM)
        for name in batch:
            application.stop(name)
            application.start(name)
        application.started(batch)
    time.sleep(application.calm_s)
    return sum(probe.absences(begin))


def rolls_of(advised: AdvisedShape) -> Iterator[AdvisedRoll]:
    shape = next(each for each in SHAPES if each.name == advised.group)
    with tempfile.TemporaryDirectory() as temporary, busy_machine(shape.busy):
        application = ShapedApplication(Path(temporary), shape)
        try:
            application.start_broker()
            application.create_topics()
            probe = Probe(application.address, application.sizes)
            for name in application.names:
                application.start(name)
            application.started(application.names)
            time.sleep(application.calm_s)
            before = rolled(application, probe, 1)
            starts = application.start_seconds
            advice = advice_of(application, advised.within)
            sys.stdout.write(f"{shape.name}: {advice['sentence']}\n")
            at_once = follow(application, advice)
            promise = advice["events"]["roll"]
            changes = ", ".join(f"{key}={value}" for key, value in advice["changes"].items()) or "keep"
            for number in range(1, advised.rolls + 1):
                measured = rolled(application, probe, at_once)
                yield AdvisedRoll(
                    shape.name, number, changes, before, measured, promise["advised_task_seconds"],
                    promise["advised_low"], promise["advised_high"], starts,
                )  # fmt: skip
            probe.close()
        finally:
            application.close()


def table(found: Sequence[AdvisedRoll]) -> list[str]:
    inside = sum(each.is_inside for each in found)
    heads = ("group", "advice", "starts, s", "roll", "before", "measured", "promised", "90 % interval", "holds it")
    lines = [
        f"{inside} of {len(found)} rolls are inside the promised interval (goal 8 of 10).",
        "",
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
    ]
    for each in found:
        cells = (
            each.group, each.advice, each.starts.replace("..", " to "), str(each.number), f"{each.before:.1f}",
            f"{each.measured:.1f}", f"{each.promised:.1f}", f"{each.low:.1f} to {each.high:.1f}",
            "yes" if each.is_inside else "**no**",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> int:
    """Returns 1 if too few rolls are inside the promised interval."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.live.advised", description=__doc__)
    names = ",".join(each.group for each in ADVISED)
    parser.add_argument("--groups", default=names, help="names of groups (%(default)s)")
    parser.add_argument("--results", type=Path, help="JSON of the rolls: groups that are not rolled now stay in it")
    parser.add_argument("--write", action="store_true", help="the table into docs/reference/accuracy.md")
    options = parser.parse_args()
    wanted = options.groups.split(",")
    earlier = json.loads(options.results.read_text()) if options.results and options.results.is_file() else []
    found = [AdvisedRoll(**each) for each in earlier if each["group"] not in wanted]
    for advised in (each for each in ADVISED if each.group in wanted):
        for roll in rolls_of(advised):
            sys.stdout.write(f"{roll}\n")
            sys.stdout.flush()
            found.append(roll)
            if options.results is not None:
                options.results.write_text(json.dumps([attrs.asdict(each) for each in found], indent=1))
    sys.stdout.write("\n".join(table(found)) + "\n")
    if options.write:
        with_part(PART, table(found))
    return 0 if sum(each.is_inside for each in found) >= HELD * len(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
