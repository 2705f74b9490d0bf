"""An hour of a Streams group on the virtual clock: the processor time of its play.

`python -m benchmarks.hours` plays two groups in both protocols: all start, one instance after the other is restarted,
one is killed and comes back, one is added and one is closed. It prints seconds of the processor.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.formats.plays import document_of
from benchmarks.pages import put_between

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.hours --write: begin -->"
END = "<!-- written by python -m benchmarks.hours --write: end -->"
_HOUR_MS = 3_600_000
_THREADS = 2
#: Records of a task's state, 200 bytes each, and new ones in a second.
_RECORDS, _PER_SECOND = 1_000_000, 50
#: Every fifth task is of the sub-topology without state.
_STATELESS = 5


@attrs.frozen
class _Size:
    instances: int
    tasks: int
    limit_s: float


_SIZES = (_Size(10, 200, 1.0), _Size(100, 5_000, 30.0))
_PROTOCOLS = (("classic", "high_availability"), ("streams", "group_sticky_4_4"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hours", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    options = parser.parse_args()
    lines = [
        "| group | protocol, assignor | events | rebalances | s of the processor | limit |",
        "|---|---|---|---|---|---|",
    ]
    is_over = False
    for size in _SIZES:
        for protocol, assignor in _PROTOCOLS:
            document = hour_document(size.instances, size.tasks, protocol, assignor)
            took, rebalances = _played(document)
            is_over |= took > size.limit_s
            lines.append(
                f"| {size.instances} instances, {size.tasks:,} tasks | {protocol}, `{assignor}` | "
                f"{len(document['events'])} | {rebalances} | {took:.2f} | {size.limit_s:g} |"
            )
            print(lines[-1], flush=True)
    table = "\n".join(lines)
    if options.write:
        put_between(PAGE, BEGIN, table, END)
    return int(is_over)


def hour_document(instances: int, tasks: int, protocol: str, assignor: str) -> dict[str, Any]:
    """An hour of a group with one standby of each task."""
    ids = list(_tasks(tasks))
    return {
        "format": 1, "kind": "streams-episode", "id": f"hour-{instances}-{tasks}",
        "protocol": protocol, "assignor": assignor,
        "initial": {
            "format": 1, "kind": "streams", "id": "hour", "config": {"num.standby.replicas": 1},
            "tasks": [
                {"id": each, "stateful": is_stateful, "logged": is_stateful, "stores": ["s"] if is_stateful else [],
                 "partitions": None}
                for each, is_stateful in ids
            ],
            "clients": [],
        },
        "changelogs": {
            each: {"records": _RECORDS, "bytes_per_record": 200, "records_per_s": _PER_SECOND}
            for each, is_stateful in ids if is_stateful
        },
        "events": list(_events(instances)), "until_ms": _HOUR_MS,
    }  # fmt: skip


def _tasks(tasks: int) -> Iterator[tuple[str, bool]]:
    stateless = tasks // _STATELESS
    yield from ((f"0_{number}", True) for number in range(tasks - stateless))
    yield from ((f"1_{number}", False) for number in range(stateless))


def _events(instances: int) -> Iterator[dict[str, Any]]:
    names = [f"i{number:03}" for number in range(instances)]
    start = {"type": "start", "threads": _THREADS}
    yield from ({"at_ms": 0, "client": name, **start} for name in names)
    # A rolling restart in half an hour, ten minutes after all starts.
    every_ms = _HOUR_MS // 2 // instances
    for number, name in enumerate(names):
        at_ms = 600_000 + number * every_ms
        yield {"at_ms": at_ms, "client": name, "type": "stop"}
        yield {"at_ms": at_ms + every_ms // 2, "client": name, **start}
    yield {"at_ms": 2_500_000, "client": names[0], "type": "crash"}
    yield {"at_ms": 2_600_000, "client": names[0], **start}
    yield {"at_ms": 2_800_000, "client": "added", **start}
    yield {"at_ms": 3_200_000, "client": names[-1], "type": "stop"}


def _played(document: dict[str, Any]) -> tuple[float, int]:
    episode = read_episode(scenario_from_document(document, Place(document["id"])))
    registry, sources = discover(), config_sources(environ={})
    begun = time.process_time()
    assignor, played = play(episode, registry, sources, None, 0, keep_log=False)
    result = document_of(played, assignor)
    return time.process_time() - begun, int(result["totals"]["rebalances"])


if __name__ == "__main__":
    sys.exit(main())
