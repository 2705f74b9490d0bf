"""A Java assignor asked from Python: states a second, the whole way there and back.

`python -m benchmarks.java` asks Kafka's public sticky assignor about the states of four clients and forty tasks, as a
run asks it: in a process of its own, with its JVM below. What is timed begins with a state of the lab and ends with an
answer that was checked and validated here; what our own sticky assignor takes in such a process is beside it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

from assignment_api import ApplicationMetadata
from assignment_api.plugins import PluginLoadError
from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.streams.asking import ASKING
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scenarios import read_scenarios
from benchmarks.pages import put_between
from benchmarks.points import SCALE

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.java --write: begin -->"
END = "<!-- written by python -m benchmarks.java --write: end -->"
_STICKY = "java:org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor"
_KAFKA = Path(__file__).resolve().parents[1] / "build" / "official" / "kafka-4.3" / "lib" / "*"
#: Times that the states are asked about at a time.
_ROUNDS = 100


def main() -> int:
    """Measures and prints; exit code 2 where Kafka's classes are not there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.java", description=__doc__)
    parser.add_argument("--kafka", default=str(_KAFKA), help="version or class path of Kafka (build/official)")
    parser.add_argument("--warmup", type=int, default=2_000, help="states before the measured ones (%(default)s)")
    parser.add_argument("--states", type=int, default=4_000, help="measured states (%(default)s)")
    parser.add_argument("--write", action="store_true", help="put the figures into benchmarks/README.md")
    options = parser.parse_args()
    states = [scenario.application for scenario in read_scenarios(SCALE / "small-4x40.jsonl.gz")]
    try:
        java = _rate(_STICKY, states, options.kafka, options.warmup, options.states)
    except PluginLoadError as error:
        print(f"java: {error}", file=sys.stderr)
        return 2
    own = _rate("sticky", states, options.kafka, options.warmup, options.states)
    told = (
        f"Four clients, forty tasks, after {options.warmup:,} states: Kafka's public `StickyTaskAssignor` answers "
        f"{java:,.0f} states a second in Java, our `sticky` {own:,.0f} in a process of its own."
    )
    print(told)
    if options.write:
        put_between(PAGE, BEGIN, told, END)
    return 0


def _rate(name: str, states: list[ApplicationMetadata], kafka: str, warmup: int, count: int) -> float:
    """States a second: the median over the parts of a measurement."""
    config = config_sources(None, [f"assignor.java.kafka={kafka}"], environ={}).effective()
    plugins = discovered(config)
    found = plugins.registry.task_assignor(name, may_run_code=True)
    asked = plugins.isolation.assignor(ASKING, found, config.values_for(found.name))
    rates = []
    for number in range((warmup + count) // (_ROUNDS * len(states))):
        begun = time.perf_counter()
        for _ in range(_ROUNDS):
            for state in states:
                failure = asked.ask(state).failure
                if failure is not None:
                    raise SystemExit(f"{name} failed: {failure.message}")
        if number * _ROUNDS * len(states) >= warmup:
            rates.append(_ROUNDS * len(states) / (time.perf_counter() - begun))
    plugins.isolation.close()
    return statistics.median(rates)


if __name__ == "__main__":
    sys.exit(main())
