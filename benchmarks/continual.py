"""The next optimum after one change of a group, beside a cold solve: `python -m benchmarks.continual`.

A join, a leave and a new topic follow one another in a settled group (:mod:`benchmarks.optimum`). *Next* is the change
of the last problem and its optimum. *Cold* describes the changed group anew, and searches; *decision* is a whole call
of the assignor `optimal`. Both searches must have equal values and places. All figures are processor time, the median
of the changes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import uuid
from collections.abc import Sequence
from time import process_time

import attrs

from assignment_api import ApplicationMetadata, ProcessID, StreamsClientState, TaskId
from assignment_api.optimum import (
    DEFAULT_GOALS,
    Goal,
    Problem,
    goals_of,
    joined,
    left,
    optimum,
    problem_of,
    settled,
    with_tasks,
)
from assignment_api.plugins import discover
from benchmarks.optimum import settled_group, task_info

SIZES = ("10000x200", "1000000x2000")
KINDS = ("stateless", "stateful")
CHANGES = ("join", "leave", "topic")
#: Tasks of a new topic.
TOPIC_TASKS = 100


@attrs.define(eq=False)
class ChangingGroup:
    """A group that changes, described anew each time."""

    application: ApplicationMetadata
    is_stateful: bool
    changes: int = 0

    def settle(self, owners: Sequence[int], tasks: Sequence[TaskId], processes: Sequence[ProcessID]) -> None:
        """Each task runs on its owner."""
        held: list[list[TaskId]] = [[] for _ in processes]
        for task, owner in zip(tasks, owners, strict=True):
            held[owner].append(task)
        clients = self.application.streams_client_states()
        self._replace([_client(process, tasks) for process, tasks in zip(processes, held, strict=True)], ())
        assert len(clients) == len(processes)

    def change(self, kind: str, problem: Problem) -> tuple[Problem, float]:
        """The problem after a change of the group, and the processor seconds of that."""
        clients = dict(self.application.streams_client_states())
        processes = sorted(clients)
        self.changes += 1
        if kind == "topic":
            # Its sub-topology is the last one.
            first = 1_000_000 + self.changes
            infos = [
                task_info(TaskId(first, number), is_stateful=self.is_stateful, has_racks=False)
                for number in range(TOPIC_TASKS)
            ]
            self._replace(list(clients.values()), infos)
            start = process_time()
            places = range(problem.tasks, problem.tasks + TOPIC_TASKS)
            after = with_tasks(problem, places, {"stateful": [float(self.is_stateful)] * TOPIC_TASKS})
        elif kind == "join":
            new = ProcessID(uuid.UUID(int=processes[len(processes) // 2].id.int + (self.changes << 64)))
            clients[new] = _client(new, ())
            self._replace(list(clients.values()), ())
            at = sorted(clients).index(new)
            start = process_time()
            after = joined(problem, at, 4)
        else:
            at = len(processes) // 3
            del clients[processes[at]]
            self._replace(list(clients.values()), ())
            start = process_time()
            after = left(problem, at)
        return after, process_time() - start

    def _replace(self, clients: Sequence[StreamsClientState], infos: Sequence[object]) -> None:
        known = [*self.application.task_infos().values(), *infos]
        self.application = ApplicationMetadata(self.application.assignment_configs(), known, clients)  # type: ignore[arg-type]


def _client(process: ProcessID, tasks: Sequence[TaskId]) -> StreamsClientState:
    return StreamsClientState(
        process_id=process, num_stream_threads=4, consumers=("consumer",), previous_active_tasks=tasks
    )


def measured(tasks: int, clients: int, kind: str, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Seconds of each way, by change.

    Raises:
        AssertionError: if the two searches have other values or places.
    """
    group = ChangingGroup(settled_group(tasks, clients, kind), kind == "stateful")
    assignor = discover().task_assignor("optimal").create()
    anew = problem_of(group.application)
    problem = anew.problem
    goals: Sequence[Goal] = problem.known(goals_of(DEFAULT_GOALS["streams"]))
    best = optimum(problem, goals)
    seconds: dict[str, dict[str, list[float]]] = {each: {"next": [], "cold": [], "decision": []} for each in CHANGES}
    for _ in range(rounds):
        for change in CHANGES:
            group.settle(best.owners, anew.tasks, anew.processes)
            start = process_time()
            problem = settled(problem, best.owners, anew.stateful)
            spent = process_time() - start
            problem, changing = group.change(change, problem)
            start = process_time()
            best = optimum(problem, goals)
            seconds[change]["next"].append(spent + changing + process_time() - start)
            start = process_time()
            anew = problem_of(group.application)
            other = optimum(anew.problem, goals)
            seconds[change]["cold"].append(process_time() - start)
            assert (best.goals, best.owners) == (other.goals, other.owners), change
            start = process_time()
            assignor.assign(group.application)
            seconds[change]["decision"].append(process_time() - start)
    return seconds


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.continual", description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="tasks x clients (%(default)s)")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--rounds", type=int, default=3, help="joins, leaves and topics of each size (%(default)s)")
    options = parser.parse_args(arguments)
    print("| tasks x clients | kind | change | next, ms | cold, ms | cold / next | decision, ms |")
    print("|---|---|---|---:|---:|---:|---:|")
    for size in options.sizes:
        tasks, clients = map(int, size.split("x"))
        for kind in options.kinds:
            for change, ways in measured(tasks, clients, kind, options.rounds).items():
                after, cold, whole = (1_000 * statistics.median(each) for each in ways.values())
                cells = f"{tasks:,} x {clients:,} | {kind} | {change} | {after:,.0f} | {cold:,.0f}"
                print(f"| {cells} | {cold / after:.1f} | {whole:,.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
