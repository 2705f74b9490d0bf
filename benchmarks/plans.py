"""`assignor plan` on large groups: a rolling restart of 10 instances with 200 tasks, and of 100 with 5,000.

`python -m benchmarks.plans` writes captures of made-up groups, plans a roll of each, and prints the duration of the
whole command: wall time, processor time and the greatest memory of a process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import attrs

from assignor_lab.documents.durable import write_durably
from assignor_lab.scenarios import Place, scenario_from_document
from benchmarks.pages import put_between
from builtin_assignors.high_availability import HighAvailabilityTaskAssignor

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.plans --write: begin -->"
END = "<!-- written by python -m benchmarks.plans --write: end -->"
_STATE_BYTES, _RECORDS = 100_000_000, 400_000
#: Four variants beside the plan as it is.
_VARIANTS = (
    "session 10 s=high_availability,session.timeout.ms=10000",
    "session 20 s=high_availability,session.timeout.ms=20000",
    "sticky=sticky",
    "acceptable lag=high_availability,acceptable.recovery.lag=100",
)


@attrs.frozen
class _Case:
    instances: int
    tasks: int
    plays: int
    variants: tuple[str, ...]
    goal_s: int


_CASES = (_Case(10, 200, 20, _VARIANTS, 10), _Case(100, 5_000, 5, (), 120))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plans", description=__doc__)
    parser.add_argument("--small", action="store_true", help="the small group alone")
    parser.add_argument("--write", action="store_true", help="put the figures into benchmarks/README.md")
    options = parser.parse_args()
    lines = [
        "| group | plan | wall, s | goal on two idle cores, s | processors, s | memory of a process |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(prefix="assignor-bench-") as folder:
        for case in _CASES[:1] if options.small else _CASES:
            file = Path(folder) / f"{case.instances}.jsonl"
            write_durably(file, f"{json.dumps(captured_group(case.instances, case.tasks))}\n".encode())
            command = [sys.executable, "-m", "assignor_lab.cli.main", "plan", str(file), "roll", "--json"]
            command += ["--plays", str(case.plays), "--processes", "2", "--start-seconds", "5"]
            command += [word for each in case.variants for word in ("--variant", each)] or ["--no-variants"]
            before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            wall_s, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode:
                print(done.stderr, file=sys.stderr)
                return done.returncode
            used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            lines.append(
                f"| {case.instances} x {case.tasks:,} | roll, {case.plays} plays, {len(case.variants)} variants | "
                f"{wall_s:.1f} | {case.goal_s} | {used_s:.1f} | {after.ru_maxrss / 1024:,.0f} MiB |"
            )
            print(lines[-1], flush=True)
    text = "\n".join((*lines, "", f"Load of the machine at the end: {os.getloadavg()[0]:.1f}."))
    print(text)
    if options.write:
        put_between(PAGE, BEGIN, text, END)
    return 0


def captured_group(instances: int, tasks: int) -> dict[str, Any]:
    """A classic group at rest: half of the tasks with state, one standby, two threads each."""
    drawn = Random(1)
    processes = [str(UUID(int=drawn.getrandbits(128), version=4)) for _ in range(instances)]
    ids = [f"{sub}_{number}" for sub in (0, 1) for number in range(tasks // 2)]
    stateful = [task for task in ids if task.startswith("0_")]
    clients: list[dict[str, Any]] = [
        {
            "process_id": process, "rack": None, "tags": {}, "host": None, "threads": 2,
            "consumers": [f"i{place}-StreamThread-{number}-consumer" for number in (1, 2)],
            "previous_active": [], "previous_standby": [], "lags": dict.fromkeys(stateful, 0),
            "previous_by_consumer": None,
        }
        for place, process in enumerate(processes, 1)
    ]  # fmt: skip
    document: dict[str, Any] = {
        "format": 1,
        "kind": "streams",
        "id": f"bench-{instances}-{tasks}",
        "config": {
            "num.standby.replicas": 1, "max.warmup.replicas": 2, "acceptable.recovery.lag": 10_000,
            "probing.rebalance.interval.ms": 600_000, "rack.aware.assignment.strategy": "none",
        },
        "tasks": [
            {"id": task, "stateful": task in stateful, "logged": task in stateful, "stores": None, "partitions": None}
            for task in ids
        ],
        "clients": clients,
        "settings": {"session.timeout.ms": 45_000, "heartbeat.interval.ms": 3_000},
        "source": {"time_ms": 1_700_000_000_000, "group": "bench"},
        "workload": {"tasks": {task: {"state_bytes": _STATE_BYTES} for task in stateful}},
    }  # fmt: skip
    held = _placed(document)
    threads = {}
    for client in clients:
        here = held[client["process_id"]]
        client["previous_active"], client["previous_standby"] = here["active"], here["standby"]
        kept = {**dict.fromkeys(here["standby"], 0), **dict.fromkeys(here["active"], -2)}
        client["lags"] = {task: kept.get(task, _RECORDS) for task in stateful}
        for place, consumer in enumerate(client["consumers"]):
            threads[consumer] = {kind: each[place::2] for kind, each in here.items()}
    return {**document, "observed": {"assignment": held, "followup": False, "threads": threads}}


def _placed(document: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    """The tasks of each process with complete copies."""
    scenario = scenario_from_document(document, Place("a made-up group"))
    made = HighAvailabilityTaskAssignor().assign(scenario.application)
    return {
        str(each.process_id): {
            "active": sorted(str(task) for task in each.active_tasks()),
            "standby": sorted(str(task) for task in each.standby_tasks()),
        }
        for each in made.assignments
    }


if __name__ == "__main__":
    raise SystemExit(main())
