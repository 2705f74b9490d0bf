"""Measures the lab's assignors and official Kafka's side by side, and prints the table."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby

from assignment_api.plugins import Registry, config_sources, discover
from assignor_lab.groups.runner.timing import prepared, timing
from assignor_lab.scenarios import Scenario, read_scenarios
from benchmarks.figures import keep_figures, known_figures
from benchmarks.memory import peak_bytes
from benchmarks.points import TWICE_JAVA, Measurement, Point, points
from benchmarks.table import as_markdown, row, write_readme
from parity.cases import ASSIGNORS
from parity.official import VERSIONS, OfficialKafka, OfficialKafkaError

WARM_UPS, REPEATS = 10, 5
HOT_WARM_UPS, HOT_REPEATS = 200, 50


def main() -> int:
    options = _options()
    registry = discover()
    try:
        for _, group in groupby(points(options.only), key=lambda point: point.file):
            # A JVM for each file: code compiled for one shape must not speed up another.
            with OfficialKafka() as official:
                for measurement in _of_file(list(group), official, registry, options.patience):
                    keep_figures([measurement])
                    print("  ".join(row(measurement)), flush=True)
    except OfficialKafkaError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    table = as_markdown(known_figures(), " and ".join(VERSIONS.values()), list(_large()))
    print(table)
    if options.write:
        write_readme(table)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only", default="", help="only files with this in their names; the table keeps the other figures"
    )
    parser.add_argument(
        "--patience", type=int, default=60, help="seconds of calls after which Java is not called again (%(default)s)"
    )
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    return parser.parse_args()


def _of_file(
    group: Sequence[Point], official: OfficialKafka, registry: Registry, patience_s: int
) -> Iterator[Measurement]:
    wanted = {point.scenario for point in group}
    scenarios = {read.id: read for read in read_scenarios(group[0].file) if read.id in wanted}
    for is_hot in (False, True) if group[0].family in TWICE_JAVA else (False,):
        for point in group:
            yield _measured(point, scenarios[point.scenario], official, registry, patience_s, is_hot=is_hot)


def _measured(
    point: Point, scenario: Scenario, official: OfficialKafka, registry: Registry, patience_s: int, *, is_hot: bool
) -> Measurement:
    warm_ups, repeats = (HOT_WARM_UPS, HOT_REPEATS) if is_hot else (WARM_UPS, REPEATS)
    theirs = official.measured(
        scenario.document, point.assignor, warmup=warm_ups, repeat=repeats, patience_ms=patience_s * 1000
    )
    _, (tasks, clients), prepare = prepared(point.assignor, registry, config_sources(), scenario)
    ours = timing(prepare(), warmup=warm_ups, repeat=repeats)
    if ours.failure is not None:
        raise SystemExit(f"{point.assignor} failed on {point.scenario}: {ours.failure.message}")
    return Measurement(
        point,
        tasks,
        clients,
        theirs["times_ns"],
        ours.durations_ns,
        theirs["peak_heap_bytes"],
        peak_bytes(point),
        official.version,
        is_hot,
    )


def _large() -> Iterator[str]:
    for assignor in ASSIGNORS:
        command = [sys.executable, "-m", "benchmarks.memory", "large", "large", assignor]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            yield done.stderr.strip().splitlines()[-1]
        else:
            figures = json.loads(done.stdout)
            yield (
                f"{assignor}: {figures['assign_ns'] / 1e9:.1f} s, {figures['peak_bytes'] / 2**20:,.0f} MB "
                "with the input"
            )


if __name__ == "__main__":
    sys.exit(main())
