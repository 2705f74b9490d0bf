"""Most resident memory of one call, in a separate process: `python -m benchmarks.memory FILE SCENARIO ASSIGNOR`."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from pathlib import Path

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.runner.timing import Timed, prepared
from assignor_lab.groups.streams.assignor_calls import invoke
from assignor_lab.scenarios import read_scenarios
from benchmarks.large import large_group
from benchmarks.points import Point

__all__ = ["own_peak_bytes", "peak_bytes"]

_STATUS = Path("/proc/self/status")


def peak_bytes(point: Point) -> int:
    command = [sys.executable, "-m", "benchmarks.memory", str(point.file), point.scenario, point.assignor]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    peak: int = json.loads(done.stdout)["peak_bytes"]
    return peak


def main() -> int:
    file, scenario_id, assignor = sys.argv[1:]
    outcome = _outcome(file, scenario_id, assignor)
    if outcome.failure is not None:
        sys.exit(f"{assignor} failed on {scenario_id}: {outcome.failure.message}")
    print(json.dumps({"peak_bytes": own_peak_bytes(), "assign_ns": outcome.assign_ns}))
    return 0


def own_peak_bytes() -> int:
    # On Linux a new process inherits ru_maxrss.
    high_water = re.search(r"VmHWM:\s*(\d+) kB", _STATUS.read_text()) if _STATUS.exists() else None
    if high_water is not None:
        return int(high_water[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


def _outcome(file: str, scenario_id: str, assignor: str) -> Timed:
    registry = discover()
    if file == "large":
        outcome = invoke(registry.task_assignor(assignor), large_group(), {})
        return Timed((outcome.assign_ns,), outcome.failure)
    scenario = next(read for read in read_scenarios(file) if read.id == scenario_id)
    _, _, prepare = prepared(assignor, registry, config_sources(), scenario)
    return prepare()()


if __name__ == "__main__":
    sys.exit(main())
