"""A Java assignor called from Python: states per second, including both directions of the transport.

`python -m benchmarks.java` calls Kafka's public sticky assignor for states of four clients and forty tasks, as a run
does: in its own process, with a JVM as its child. A time begins with a state of the lab and ends with an answer that
was checked and validated here. The time of the lab's own sticky assignor in such a process is beside it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import attrs

from assignment_api import ApplicationMetadata
from assignment_api.plugins import PluginLoadError
from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.streams.assignor_calls import ASKING
from assignor_lab.runtime.discovery import discovered
from assignor_lab.runtime.isolation.descendants import descendants_of
from assignor_lab.runtime.isolation.rest import fields_of, processor_time
from assignor_lab.scenarios import read_scenarios
from benchmarks.pages import put_between
from benchmarks.points import SCALE

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.java --write: begin -->"
END = "<!-- written by python -m benchmarks.java --write: end -->"
_STICKY = "java:org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor"
_KAFKA = Path(__file__).resolve().parents[1] / "build" / "official" / "kafka-4.3" / "lib" / "*"


def main() -> int:
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
    text = (
        f"Four clients, forty tasks, after {options.warmup:,} states: Kafka's public `StickyTaskAssignor` in Java "
        f"answers {java.of_processor:,.0f} states in a second of the processor, our `sticky` in a process of its own "
        f"{own.of_processor:,.0f}."
    )
    print(f"{text} By the clock: {java.by_clock:,.0f} and {own.by_clock:,.0f}.")
    if options.write:
        put_between(PAGE, BEGIN, text, END)
    return 0


@attrs.frozen
class Rate:
    """States in a second.

    Args:
        of_processor: By processor time of all processes, which work in turn: other load affects it little.
    """

    of_processor: float
    by_clock: float


def _rate(name: str, states: list[ApplicationMetadata], kafka: str, warmup: int, count: int) -> Rate:
    config = config_sources(None, [f"assignor.java.kafka={kafka}"], environ={}).effective()
    plugins = discovered(config)
    found = plugins.registry.task_assignor(name, may_run_code=True)
    assignor = plugins.isolation.assignor(ASKING, found, config.values_of(found))

    def ask_all(times: int) -> None:
        for _ in range(times):
            for state in states:
                failure = assignor.ask(state).failure
                if failure is not None:
                    raise SystemExit(f"{name} failed: {failure.message}")

    ask_all(warmup // len(states))
    used, begun = _processor_seconds(), time.perf_counter()
    ask_all(count // len(states))
    passed, worked = time.perf_counter() - begun, _processor_seconds() - used
    plugins.isolation.close()
    return Rate(count / worked, count / passed)


def _processor_seconds() -> float:
    below = sum(processor_time(fields) for pid in descendants_of(os.getpid()) if (fields := fields_of(pid)))
    return time.process_time() + below


if __name__ == "__main__":
    sys.exit(main())
