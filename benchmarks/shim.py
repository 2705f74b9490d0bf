"""A Java application's decision by a Python assignor: milliseconds, from the state to the checked answer.

`python -m benchmarks.shim` starts `assignor serve-assignor` beside a JVM with the shim, passes states of four clients
and forty tasks to the shim, and reads the shim's durations from the log of decisions. There is no broker: Kafka's
classes are those of the class path. The first decision is that of a cold JVM and a cold assignor.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from assignment_api import ApplicationMetadata
from assignment_api.plugins import PluginLoadError
from assignor_lab.runtime.java.assignor import JavaFactory
from assignor_lab.runtime.java.class_path import jars_in
from assignor_lab.runtime.java.jvm import JavaPlace, jvm_of
from assignor_lab.runtime.java.settings import JavaSettings
from assignor_lab.scenarios import read_scenarios
from assignor_lab.serving.shim import ASSIGNOR_CLASS, shim_jar
from benchmarks.pages import put_between
from benchmarks.points import SCALE

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.shim --write: begin -->"
END = "<!-- written by python -m benchmarks.shim --write: end -->"
_KAFKA = Path(__file__).resolve().parents[1] / "build" / "official" / "kafka-4.3" / "lib" / "*"
#: Decisions excluded from median and percentile.
_WARM_UPS = 50
_START_SECONDS, _STOP_SECONDS = 60, 60


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shim", description=__doc__)
    parser.add_argument("--kafka", default=str(_KAFKA), help="class path of Kafka (build/official)")
    parser.add_argument("--assignor", default="high_availability", help="name of the assignor (%(default)s)")
    parser.add_argument("--decisions", type=int, default=500, help="measured decisions (%(default)s)")
    parser.add_argument("--isolate", action="store_true", help="in a process of its own, like untrusted code")
    parser.add_argument("--write", action="store_true", help="put the figures into benchmarks/README.md")
    options = parser.parse_args()
    states = [scenario.application for scenario in read_scenarios(SCALE / "small-4x40.jsonl.gz")]
    chosen = list(islice(cycle(states), 1 + _WARM_UPS + options.decisions))
    with TemporaryDirectory() as folder:
        try:
            took = _decided(Path(folder), options.assignor, chosen, options.kafka, is_isolated=options.isolate)
        except PluginLoadError as error:
            print(f"shim: {error}", file=sys.stderr)
            return 2
    warm = sorted(took[1 + _WARM_UPS :])
    text = (
        f"Four clients, forty tasks, `{options.assignor}`: the first decision takes {took[0]:,.0f} ms, the median of "
        f"{len(warm)} after {_WARM_UPS} more {statistics.median(warm):.1f} ms, and 95 % take at most "
        f"{statistics.quantiles(warm, n=20)[-1]:.1f} ms."
    )
    print(text)
    if options.write:
        put_between(PAGE, BEGIN, text, END)
    return 0


def _decided(
    folder: Path, assignor: str, states: list[ApplicationMetadata], kafka: str, *, is_isolated: bool
) -> list[float]:
    """Milliseconds of each decision."""
    port, log, jar = folder / "port", folder / "log", folder / "shim.jar"
    jar.write_bytes(shim_jar())
    configs = {"application.id": "bench", "assignor.lab.port.file": str(port)}
    jars = jars_in(kafka, "the shim")
    place = JavaPlace(
        "the shim", ASSIGNOR_CLASS, (str(jar),), jars, JavaSettings().program("the shim"), (*configs.items(),)
    )
    command = [sys.executable, "-m", "assignor_lab.cli.main", "serve-assignor", assignor]
    command += ["--port-file", str(port), "--log", str(log), *(["--isolate", "all"] if is_isolated else [])]
    with subprocess.Popen(command) as served:
        try:
            _wait_for(port, served)
            # The shim logs a decision with the next one.
            for state in (*states, states[0]):
                JavaFactory(place)().assign(state)
        finally:
            jvm_of(place).close()
            served.send_signal(signal.SIGTERM)
            served.wait(_STOP_SECONDS)
    decisions = [json.loads(line) for part in sorted(log.glob("decisions-*.jsonl")) for line in part.open()]
    decisions = sorted(decisions, key=lambda each: int(each["id"].rpartition("-")[2]))[: len(states)]
    by_others = [str(each["message"]) for each in decisions if each["by"] != "assignor"]
    if by_others or len(decisions) != len(states):
        raise SystemExit(f"shim: {len(decisions)} of {len(states)} decisions are logged; by others: {by_others[:1]}")
    return [each["ms"] for each in decisions]


def _wait_for(port: Path, served: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while not port.exists():
        if served.poll() is not None or time.monotonic() > end:
            raise SystemExit("shim: the assignor is not served")
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
