"""Placement by measured load: a task moves only if its gain outlasts the cost of the move.

Load of a task: its ``weight`` in the workload, else its input in bytes a second, else 1. The gain of a move is a time:
the horizon times the share of an average thread's work that the busier process loses. The cost is the time to restore
the task's state, 0 if the new process is caught up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api import ApplicationMetadata, TaskAssignment, TaskAssignmentError, TaskAssignor
from assignment_api.optimum import Numbered, problem_of
from assignment_api.plugins import Setting
from assignment_api.tracing import RuleStep, Traced
from assignor_optimal.transition import Transition, answer_of, transition

__all__ = ["HORIZON", "LoadAwareTaskAssignor"]

HORIZON = Setting(
    "assignor.load_aware.horizon.seconds",
    type="float",
    default=3_600.0,
    summary="Time for which a gain counts, in seconds.",
    least=0,
)

_RULES = {
    "load": "A task without a process goes to the one with the smallest load for each thread, the heaviest task first.",
    "gain": "A task moves from the busiest process to the idlest one that it relieves, if the gain outlasts the cost.",
    "stay": "A task stays: no move of it gains more than it costs.",
    "warm-up": "A task runs on a caught-up process until its copy at the wanted place is warm (KIP-441).",
}


class LoadAwareTaskAssignor(TaskAssignor):
    """Evens out the load of processes, for each of their threads."""

    def __init__(self) -> None:
        self._horizon: float = HORIZON.value_in({})

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Reads ``assignor.load_aware.horizon.seconds``.

        Raises:
            ConfigError: if it is not a number from 0.
        """
        self._horizon = HORIZON.value_in(configs)

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Places every task.

        Raises:
            TaskAssignmentError: if there are tasks and no clients.
        """
        return self._decided(application)[0]

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        """As ``assign``, with gain and cost of each move."""
        answer, numbered, step, board = self._decided(application)
        return Traced(answer, _steps(numbered, step, board), _RULES)

    def _decided(self, application: ApplicationMetadata) -> tuple[TaskAssignment, Numbered, Transition, _Board]:
        application.compute_task_lags()
        numbered = problem_of(application)
        if numbered.tasks and not numbered.processes:
            raise TaskAssignmentError("no client to run the tasks on")
        board = _Board(numbered, _loads(numbered), _restore_seconds(application, numbered), self._horizon)
        board.place()
        board.even_out()
        step = transition(application, numbered, board.owners)
        moves = list(board.moves.values())
        remarks = []
        if moves:
            gain, cost = sum(move.gain_s for move in moves), sum(move.cost_s for move in moves)
            remarks.append(f"{len(moves)} moves for load: gain {gain:.3g} s of work, cost {cost:.3g} s of restoring")
        return answer_of(application, numbered, step, remarks), numbered, step, board


@attrs.frozen
class _Move:
    """Gain and cost in seconds."""

    giver: int
    taker: int
    gain_s: float
    cost_s: float


@attrs.define(eq=False)
class _Board:
    """The placement so far.

    Args:
        weights: Load of each task.
        restore_s: Seconds to restore each task's state.
        horizon_s: Seconds for which a gain counts.
    """

    numbered: Numbered
    weights: Sequence[float]
    restore_s: Sequence[float]
    horizon_s: float
    owners: list[int] = attrs.field(init=False)
    load: list[float] = attrs.field(init=False)
    moves: dict[int, _Move] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.owners = [-1] * len(self.weights)
        self.load = [0.0] * len(self.numbered.processes)

    def place(self) -> None:
        """Tasks stay; others go to a ready process, or to the least loaded one."""
        problem = self.numbered.problem
        waiting = []
        for task, before in enumerate(problem.before):
            if before:
                self._put(task, before[0])
            else:
                waiting.append(task)
        for task in sorted(waiting, key=lambda each: (-self.weights[each], each)):
            places = problem.ready[task] or range(len(self.load))
            self._put(task, min(places, key=lambda process: (self._rank(process, self.weights[task]), process)))

    def even_out(self) -> None:
        """Move tasks from the busiest process while gain exceeds cost."""
        threads = self.numbered.problem.threads
        average = sum(self.weights) / max(sum(threads), 1)
        of_process: list[set[int]] = [set() for _ in self.load]
        for task, owner in enumerate(self.owners):
            of_process[owner].add(task)
        # A process without a worthwhile move is done: its load only grows.
        done: set[int] = set()
        for _ in range(4 * len(self.owners)):
            givers = [process for process in range(len(threads)) if process not in done]
            if len(threads) < 2 or not givers or average <= 0:
                return
            giver = max(givers, key=lambda process: (self._rank(process), -process))
            taker = min(range(len(threads)), key=lambda process: (self._rank(process), process))
            best = self._best(of_process[giver], giver, taker, average)
            if giver == taker or best is None:
                done.add(giver)
                continue
            task, gain, cost = best
            self.load[giver] -= self.weights[task]
            self._put(task, taker)
            of_process[giver].remove(task)
            of_process[taker].add(task)
            first = self.moves[task].giver if task in self.moves else giver
            self.moves[task] = _Move(first, taker, gain, cost)
            done.discard(taker)
        return

    def _best(self, tasks: set[int], giver: int, taker: int, average: float) -> tuple[int, float, float] | None:
        """Task with the largest gain less cost, and both; ``None`` if no gain outlasts its cost."""
        now = self._rank(giver)
        found: tuple[float, int, float, float] | None = None
        for task in tasks:
            weight = self.weights[task]
            after = max(self._rank(giver, -weight), self._rank(taker, weight))
            gain = (now - after) / average * self.horizon_s
            ready = self.numbered.problem.ready[task]
            cost = 0.0 if not ready or taker in ready else self.restore_s[task]
            if gain > cost and now - after > 1e-9 * now and (found is None or (gain - cost, -task) > found[:2]):
                found = gain - cost, -task, gain, cost
        return None if found is None else (-found[1], found[2], found[3])

    def _rank(self, process: int, more: float = 0.0) -> float:
        return (self.load[process] + more) / self.numbered.problem.threads[process]

    def _put(self, task: int, process: int) -> None:
        self.owners[task] = process
        self.load[process] += self.weights[task]


def _loads(numbered: Numbered) -> Sequence[float]:
    return numbered.problem.weights.get("load") or [1.0] * len(numbered.tasks)


def _restore_seconds(application: ApplicationMetadata, numbered: Numbered) -> Sequence[float]:
    """By task; 0 if sizes or the rate of restoring are unknown."""
    workload = application.workload()
    sizes = numbered.problem.weights.get("bytes")
    if workload is None or not workload.restore_bytes_per_s or sizes is None:
        return [0.0] * len(numbered.tasks)
    return [each / workload.restore_bytes_per_s for each in sizes]


def _steps(numbered: Numbered, step: Transition, board: _Board) -> list[RuleStep]:
    names = [str(process) for process in numbered.processes]
    steps = []
    for number, task in enumerate(numbered.tasks):
        place, move = board.owners[number], board.moves.get(number)
        if move is not None:
            text = f"moves from {{0}} to {{1}}: gain {move.gain_s:.3g} s of work, cost {move.cost_s:.3g} s of restoring"
            steps.append(RuleStep("gain", str(task), text, (names[move.giver], names[move.taker])))
        elif numbered.problem.before[number]:
            steps.append(RuleStep("stay", str(task), "stays on {0}", (names[place],)))
        else:
            steps.append(RuleStep("load", str(task), "goes to {0}, the least loaded process", (names[place],)))
        if step.owners[number] != place:
            text = "runs on {0} until its copy on {1} is caught up"
            steps.append(RuleStep("warm-up", str(task), text, (names[step.owners[number]], names[place])))
    return steps
