"""Rounds of the public sticky assignor until a group that grows is stable, by release of Kafka.

``python -m benchmarks.rounds_until_stable [--write]`` prints the table of ``docs/reference/releases.md``. One
sub-topology of one topic and one store, no standbys. The answer to a round makes the next one, until a round moves
nothing; that round is counted. KAFKA-20198 publishes such counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.runner.result_lines import Answerer, AnswerOptions, answerer
from assignor_lab.scenarios import Place, scenario_from_document
from benchmarks.pages import put_between

__all__ = ["LEVELS", "MOST_ROUNDS", "SHAPES", "STEPS", "ScaleOut", "moves_per_round"]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "releases.md"
BEGIN = "<!-- written by python -m benchmarks.rounds_until_stable --write: begin -->"
END = "<!-- written by python -m benchmarks.rounds_until_stable --write: end -->"
MOST_ROUNDS = 25
RELEASES = ("4.3", "4.4")
SHAPES = ((450, 10), (100, 4), (200, 8), (1000, 16), (500, 12), (400, 10))
STEPS = ((1, 2), (2, 3), (2, 4))
Level = Literal["process", "consumer", "disk"]
LEVELS: tuple[Level, ...] = ("process", "consumer", "disk")
#: Process and thread of a task; ``None``: nobody's.
Owner = tuple[int, int] | None
_BEHIND = 100_000
_RUNNING = -2


@attrs.frozen
class ScaleOut:
    """A group that grows.

    Args:
        threads: Of each process.
        level: A task that changes its owner is nobody's in the next round. Owners are processes (``process``) or
            threads (``consumer``); with ``disk`` the old process keeps the state, too.
    """

    tasks: int
    threads: int
    before: int
    after: int
    level: Level


def moves_per_round(growth: ScaleOut, release: str) -> list[int]:
    """The tasks that each round takes from their owners; the last is 0 unless the group was never stable."""
    call = answerer(f"sticky@{release}", discover(), AnswerOptions(config_sources(environ={}), threads=True))
    owner: dict[int, Owner] = dict.fromkeys(range(growth.tasks))
    _rounds_of(attrs.evolve(growth, after=growth.before), call, owner, {})
    disks = {task: {held[0]} for task, held in owner.items() if held is not None and growth.level == "disk"}
    return _rounds_of(growth, call, owner, disks)


def _rounds_of(growth: ScaleOut, call: Answerer, owner: dict[int, Owner], disks: dict[int, set[int]]) -> list[int]:
    """Plays rounds until one takes nothing from an owner."""
    moves: list[int] = []
    while len(moves) < MOST_ROUNDS and (not moves or moves[-1]):
        given = _given(growth, call(_scenario(_document(growth, owner, disks))))
        taken = [task for task, held in owner.items() if held not in (None, given[task])]
        moves.append(len(taken))
        owner.update(given)
        owner.update(dict.fromkeys(taken))
        for task, places in disks.items():
            held = owner[task]
            if held is not None:
                places.add(held[0])
    return moves


def _given(growth: ScaleOut, row: Mapping[str, Any]) -> dict[int, Owner]:
    if growth.level == "process":
        held_by = {(int(process[-12:]) - 1, 0): held for process, held in row["assignment"].items()}
    else:
        parts = {consumer: consumer.split("-") for consumer in row["threads"]}
        held_by = {(int(parts[name][1]), int(parts[name][2])): held for name, held in row["threads"].items()}
    return {int(task.partition("_")[2]): place for place, held in held_by.items() for task in held["active"]}


def _scenario(document: Mapping[str, Any]) -> Any:
    return scenario_from_document(dict(document), Place("growth", 1))


def _document(growth: ScaleOut, owner: Mapping[int, Owner], disks: Mapping[int, set[int]]) -> dict[str, Any]:
    clients = []
    for process in range(growth.after):
        active = [task for task, held in owner.items() if held is not None and held[0] == process]
        kept = [task for task, places in disks.items() if process in places and task not in set(active)]
        lags = dict.fromkeys(range(growth.tasks), _BEHIND) | dict.fromkeys(kept, 0) | dict.fromkeys(active, _RUNNING)
        reported = {
            f"consumer-{process}-{thread}": [f"0_{task}" for task in active if owner[task] == (process, thread)]
            for thread in range(growth.threads)
        }
        # The first thread that asks reports what is on the disk.
        reported[f"consumer-{process}-0"] += [f"0_{task}" for task in kept]
        clients.append({
            "process_id": f"00000000-0000-0000-0000-{process + 1:012}", "rack": None, "tags": {}, "host": None,
            "threads": growth.threads, "consumers": list(reported),
            "previous_active": [f"0_{task}" for task in active],
            "previous_standby": [f"0_{task}" for task in kept],
            "lags": {f"0_{task}": lag for task, lag in lags.items()},
            "previous_by_consumer": None if growth.level == "process" else reported,
        })  # fmt: skip
    return {
        "format": 1, "kind": "streams", "id": "growth", "config": {"num.standby.replicas": 0},
        "tasks": [_task(number) for number in range(growth.tasks)], "clients": clients,
    }  # fmt: skip


def _task(number: int) -> dict[str, Any]:
    topics = (("input", True), ("app-store-changelog", False))
    return {
        "id": f"0_{number}", "stateful": True, "logged": True, "stores": ["store"],
        "partitions": [
            {"topic": topic, "partition": number, "source": source, "changelog": not source, "racks": None}
            for topic, source in topics
        ],
    }  # fmt: skip


def _table(shapes: Sequence[tuple[int, int]]) -> str:
    heads = [f"{before} to {after}" for before, after in STEPS]
    lines = [f"| tasks / threads of each process | {' | '.join(heads)} processes |", f"|{'---|' * (1 + len(STEPS))}"]
    for tasks, threads in shapes:
        cells = []
        for before, after in STEPS:
            found = []
            for level in LEVELS:
                counts = [
                    moves_per_round(ScaleOut(tasks, threads, before, after, level), release) for release in RELEASES
                ]
                found.append(" -> ".join(_rounds(each) for each in counts))
            cells.append(", ".join(found))
        lines.append(f"| {tasks} / {threads} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _rounds(moves: Sequence[int]) -> str:
    return f"> {MOST_ROUNDS}" if moves[-1] else str(len(moves))


def main() -> int:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rounds_until_stable", description=__doc__)
    parser.add_argument("--write", action="store_true", help="into docs/reference/releases.md")
    options = parser.parse_args()
    table = _table(SHAPES)
    if options.write:
        put_between(PAGE, BEGIN, table, END)
    else:
        print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
