"""Assign calls of `optimal` on large groups, each in a process of its own: `python -m benchmarks.optimum`.

Each client of a group has tasks from before, except 5 % new ones. Sources and clients are in three racks or zones.
Stateful tasks lag equally everywhere, so their previous owner is the best one; clients share the table of lags.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from types import MappingProxyType

from assignment_api import (
    ApplicationMetadata,
    AssignmentConfigs,
    ProcessID,
    StreamsClientState,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
)
from assignment_api.plugins import discover
from benchmarks.memory import own_peak_bytes

__all__ = ["settled_group", "task_info"]

SIZES = ("20000x200", "100000x500", "1000000x2000")
KINDS = (
    "stateless",
    "stateless, racks",
    "stateful",
    "stateful, 1 standby",
    "stateful, 2 standbys",
    "stateful, 1 standby, tags",
)
_RACKS = ("a", "b", "c")
_SUBTOPOLOGIES = 100


def settled_group(tasks: int, clients: int, kind: str) -> ApplicationMetadata:
    """A group with 5 % new clients; ``kind`` is one of :data:`KINDS`."""
    facts = kind.split(", ")
    is_stateful, has_racks, has_tags = "stateful" in facts, "racks" in facts, "tags" in facts
    standbys = next((int(fact.split()[0]) for fact in facts if "standby" in fact), 0)
    ids = [TaskId(number % _SUBTOPOLOGIES, number // _SUBTOPOLOGIES) for number in range(tasks)]
    lags = MappingProxyType(dict.fromkeys(ids, 100_000) if is_stateful else {})
    old = max(clients - clients // 20, 1)
    states = [
        StreamsClientState(
            process_id=ProcessID(uuid.UUID(int=number + 1)),
            num_stream_threads=4,
            consumers=(f"app-{number}-consumer",),
            previous_active_tasks=ids[number::old] if number < old else (),
            lags=lags,
            rack_id=_RACKS[number % len(_RACKS)] if has_racks else None,
            client_tags={"zone": _RACKS[number % len(_RACKS)]} if has_tags else {},
        )
        for number in range(clients)
    ]
    infos = [task_info(task, is_stateful=is_stateful, has_racks=has_racks) for task in ids]
    configs = AssignmentConfigs(num_standby_replicas=standbys, rack_aware_assignment_tags=("zone",) if has_tags else ())
    return ApplicationMetadata(configs, infos, states)


def task_info(task: TaskId, *, is_stateful: bool, has_racks: bool) -> TaskInfo:
    rack = (_RACKS[task.partition % len(_RACKS)],) if has_racks else None
    source = TaskTopicPartition(
        f"in-{task.subtopology}", task.partition, is_source=True, is_changelog=False, rack_ids=rack
    )
    return TaskInfo(
        id=task,
        is_stateful=is_stateful,
        is_logged=is_stateful,
        state_store_names=("store",) if is_stateful else (),
        topic_partitions=(source,),
    )


def measured(assignor: str, tasks: int, clients: int, kind: str) -> dict[str, float | int | str]:
    group = settled_group(tasks, clients, kind)
    called = discover().task_assignor(assignor).create()
    of_input = own_peak_bytes()
    wall, cpu = time.perf_counter(), time.process_time()
    answer = called.assign(group)
    figures: dict[str, float | int | str] = {
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "input_bytes": of_input,
        "peak_bytes": own_peak_bytes(),
        "remarks": "; ".join(answer.remarks),
    }
    before = {
        task: state.process_id
        for state in group.streams_client_states().values()
        for task in state.previous_active_tasks
    }
    figures["moved"] = sum(
        before.get(task) not in (None, placed.process_id)
        for placed in answer.assignments
        for task in placed.active_tasks()
    )
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optimum", description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="tasks x clients (%(default)s)")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--assignor", default="optimal")
    parser.add_argument("--one", action="store_true", help="measure in this process, and print JSON")
    options = parser.parse_args(arguments)
    if not options.one:
        print("| tasks x clients | kind | moved at once | processor | elapsed | memory, and of the input | proved |")
        print("|---|---|---|---|---|---|---|")
    for size in options.sizes:
        tasks, clients = map(int, size.split("x"))
        for kind in options.kinds:
            if options.one:
                print(json.dumps(measured(options.assignor, tasks, clients, kind)))
                continue
            command = [sys.executable, "-m", "benchmarks.optimum", "--one", "--assignor", options.assignor]
            done = subprocess.run(
                [*command, "--sizes", size, "--kinds", kind], check=True, stdout=subprocess.PIPE, text=True
            )
            found = json.loads(done.stdout)
            cells = (
                f"{tasks:,} x {clients:,}",
                kind,
                f"{found['moved']:,}",
                f"{found['cpu_s']:.1f} s",
                f"{found['wall_s']:.1f} s",
                f"{found['peak_bytes'] / 2**20:,.0f} MB ({found['input_bytes'] / 2**20:,.0f})",
                "no" if "not proved" in str(found["remarks"]) else "yes",
            )
            print(f"| {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
