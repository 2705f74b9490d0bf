"""Placement by measured load: a task moves only if its gain outlasts the cost of the move.

Load of a task: its ``weight`` in the workload, else its input in bytes a second, else 1. The gain of a move is a time:
the horizon times the share of an average thread's work that the busier process loses. The cost is a fixed time for the
interruption, and the time to restore the task's state unless the new process is caught up.

Measured loads are noisy. So tasks move only if all moves together narrow the gap between the busiest and the idlest
thread by more than a dead band. Without measured loads, or with equal ones, there is no noise and no dead band.

An assignor has no memory of earlier rebalances. So a limit of moves an hour names the tasks that may move for load in
each hour of the clock (UTC): so many, in the order of their ids, and the next ones in the next hour.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api import ApplicationMetadata, TaskAssignment, TaskAssignmentError, TaskAssignor
from assignment_api.optimum import Numbered, problem_of
from assignment_api.plugins import Setting
from assignment_api.tracing import RuleStep, Traced
from assignor_optimal.transition import Transition, answer_of, transition

__all__ = ["SETTINGS", "LoadAwareTaskAssignor"]

HORIZON = Setting(
    "assignor.load_aware.horizon.seconds",
    type="float",
    default=3_600.0,
    summary="Time for which a gain counts, in seconds.",
    least=0,
)
DEAD_BAND = Setting(
    "assignor.load_aware.dead.band",
    type="float",
    default=0.2,
    summary="Tasks move only if the gap between busiest and idlest thread narrows by this share of the mean load.",
    least=0,
)
MOVE = Setting(
    "assignor.load_aware.move.seconds",
    type="float",
    default=5.0,
    summary="Cost of each move, in seconds, beside restoring.",
    least=0,
)
UNKNOWN_RESTORE = Setting(
    "assignor.load_aware.unknown.restore.seconds",
    type="float",
    default=300.0,
    summary="Time to restore a task's state if its size or the rate of restoring is unknown, in seconds.",
    least=0,
)
PER_HOUR = Setting(
    "assignor.load_aware.moves.per.hour",
    type="int",
    default=0,
    summary="Most tasks that move for load in an hour of the clock (UTC), the same at each rebalance; 0: no limit.",
    least=0,
)
SETTINGS = (HORIZON, DEAD_BAND, MOVE, UNKNOWN_RESTORE, PER_HOUR)

_RULES = {
    "load": "A task without a process goes to the one with the smallest load for each thread, the heaviest task first.",
    "gain": "A task leaves the busiest process, or changes places with another, if the gain outlasts the cost.",
    "stay": "A task stays: no move of it gains more than it costs, or all gains together are within the dead band.",
    "warm-up": "A task runs on a caught-up process until its copy at the wanted place is warm (KIP-441).",
}


class LoadAwareTaskAssignor(TaskAssignor):
    """Evens out the load of processes, for each of their threads."""

    def __init__(self) -> None:
        self.configure({})

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Reads :data:`SETTINGS`.

        Raises:
            ConfigError: if one is not a number from 0.
        """
        self._horizon: float = HORIZON.value_in(configs)
        self._dead_band: float = DEAD_BAND.value_in(configs)
        self._move: float = MOVE.value_in(configs)
        self._unknown_restore: float = UNKNOWN_RESTORE.value_in(configs)
        self._per_hour: int = PER_HOUR.value_in(configs)

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
        loads = _loads(numbered)
        # Equal loads are counts of tasks: without noise, and evened out whenever a copy is ready.
        is_measured = len(set(loads)) > 1
        restore = _restore_seconds(application, numbered, self._unknown_restore if is_measured else 0.0)
        movable = _movable(numbered, self._per_hour, application.current_time_ms())
        board = _Board(numbered, loads, restore, self._horizon, self._move if is_measured else 0.0, movable)
        board.place()
        placed = board.copied()
        board.even_out()
        if is_measured and board.moves and placed.gap() - board.gap() <= self._dead_band:
            board = placed
        step = transition(application, numbered, board.owners)
        moves = list(board.moves.values())
        remarks = []
        if moves:
            gain, cost = sum(move.gain_s for move in moves), sum(move.cost_s for move in moves)
            remarks.append(f"{len(moves)} moves for load: gain {gain:.3g} s of work, cost {cost:.3g} s")
        return answer_of(application, numbered, step, remarks), numbered, step, board


@attrs.frozen
class _Move:
    """Gain and cost in seconds."""

    giver: int
    taker: int
    gain_s: float
    cost_s: float


@attrs.frozen
class _Candidate:
    """Moves that are made together: task, giver and taker of each."""

    steps: tuple[tuple[int, int, int], ...]
    gain_s: float
    cost_s: float

    @property
    def net_s(self) -> float:
        return self.gain_s - self.cost_s


@attrs.define(eq=False)
class _Board:
    """The placement so far.

    Args:
        weights: Load of each task.
        restore_s: Seconds to restore each task's state.
        horizon_s: Seconds for which a gain counts.
        move_s: Seconds that each move costs beside restoring.
        movable: Tasks that may move for load.
    """

    numbered: Numbered
    weights: Sequence[float]
    restore_s: Sequence[float]
    horizon_s: float
    move_s: float
    movable: frozenset[int] | range
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

    def copied(self) -> _Board:
        """A board with the same placement."""
        other = attrs.evolve(self)
        other.owners, other.load, other.moves = list(self.owners), list(self.load), dict(self.moves)
        return other

    def gap(self) -> float:
        """Load per thread of the busiest process less that of the idlest one, as a share of the mean."""
        ranks = [self._rank(process) for process in range(len(self.load))]
        mean = self._mean()
        return (max(ranks) - min(ranks)) / mean if mean > 0 else 0.0

    def even_out(self) -> None:
        """Move or exchange tasks of the busiest process while gain exceeds cost."""
        threads, mean = self.numbered.problem.threads, self._mean()
        if len(threads) < 2 or mean <= 0:
            return
        of_process: list[set[int]] = [set() for _ in self.load]
        for task, owner in enumerate(self.owners):
            if task in self.movable:
                of_process[owner].add(task)
        # A process without a worthwhile move is done until it gets another task.
        done: set[int] = set()
        for _ in range(4 * len(self.owners)):
            givers = [process for process in range(len(threads)) if process not in done]
            if not givers:
                return
            giver = max(givers, key=lambda process: (self._rank(process), -process))
            best = self._best_move(of_process[giver], giver, mean) or self._best_exchange(of_process, giver, mean)
            if best is None:
                done.add(giver)
                continue
            for task, origin, taker in best.steps:
                self.load[origin] -= self.weights[task]
                self._put(task, taker)
                of_process[origin].remove(task)
                of_process[taker].add(task)
                first = self.moves[task].giver if task in self.moves else origin
                share = len(best.steps)
                self.moves[task] = _Move(first, taker, best.gain_s / share, best.cost_s / share)
                done.discard(taker)

    def _best_move(self, tasks: set[int], giver: int, mean: float) -> _Candidate | None:
        """Task and taker with the largest gain less cost; ``None`` if no gain outlasts its cost."""
        now, found = self._rank(giver), None
        for taker in range(len(self.load)):
            # A light task fits if any does.
            if taker == giver or self._rank(taker) >= now:
                continue
            for task in tasks:
                weight = self.weights[task]
                after = max(self._rank(giver, -weight), self._rank(taker, weight))
                found = self._better(found, now - after, mean, now, ((task, giver, taker),))
        return found

    def _best_exchange(self, of_process: Sequence[set[int]], giver: int, mean: float) -> _Candidate | None:
        """The same for two tasks that change places. Of each task, only the partner of the most fitting weight."""
        threads, now, found = self.numbered.problem.threads, self._rank(giver), None
        for taker in range(len(self.load)):
            if taker == giver or self._rank(taker) >= now:
                continue
            partners = sorted((self.weights[task], task) for task in of_process[taker])
            both = threads[giver] + threads[taker]
            wanted = (self.load[giver] * threads[taker] - self.load[taker] * threads[giver]) / both
            for task in of_process[giver]:
                weight = self.weights[task]
                at = bisect_left(partners, (weight - wanted, -1))
                for less, partner in partners[max(at - 1, 0) : at + 1]:
                    more = weight - less
                    after = max(self._rank(giver, -more), self._rank(taker, more))
                    steps = ((task, giver, taker), (partner, taker, giver))
                    found = self._better(found, now - after, mean, now, steps)
        return found

    def _better(
        self, best: _Candidate | None, relief: float, mean: float, now: float, steps: tuple[tuple[int, int, int], ...]
    ) -> _Candidate | None:
        """The candidate with the larger gain less cost; equal ones in the order of tasks and takers."""
        gain = relief / mean * self.horizon_s
        if relief <= 1e-9 * now or (best is not None and gain - self.move_s * len(steps) < best.net_s):
            return best
        cost = sum([self._cost(task, taker) for task, _, taker in steps])
        if gain <= cost:
            return best
        made = _Candidate(steps, gain, cost)
        is_better = best is None or (-made.net_s, made.steps) < (-best.net_s, best.steps)
        return made if is_better else best

    def _cost(self, task: int, taker: int) -> float:
        ready = self.numbered.problem.ready[task]
        return self.move_s + (0.0 if not ready or taker in ready else self.restore_s[task])

    def _mean(self) -> float:
        return sum(self.weights) / max(sum(self.numbered.problem.threads), 1)

    def _rank(self, process: int, more: float = 0.0) -> float:
        return (self.load[process] + more) / self.numbered.problem.threads[process]

    def _put(self, task: int, process: int) -> None:
        self.owners[task] = process
        self.load[process] += self.weights[task]


_HOUR_MS = 3_600_000


def _movable(numbered: Numbered, per_hour: int, now_ms: int) -> frozenset[int] | range:
    """The tasks that may move for load in this hour; those with a warm-up of an earlier hour may still."""
    tasks = len(numbered.tasks)
    if not 0 < per_hour < tasks:
        return range(tasks)
    first = now_ms // _HOUR_MS * per_hour
    begun = (task for task, copies in enumerate(numbered.copies) if len(copies) > numbered.standbys)
    return frozenset([*((first + step) % tasks for step in range(per_hour)), *begun])


def _loads(numbered: Numbered) -> Sequence[float]:
    return numbered.problem.weights.get("load") or [1.0] * len(numbered.tasks)


def _restore_seconds(application: ApplicationMetadata, numbered: Numbered, unknown: float) -> Sequence[float]:
    """By task; ``unknown`` for a task with state if its size or the rate of restoring is unknown."""
    workload = application.workload()
    rate = workload.restore_bytes_per_s if workload is not None else None
    seconds = []
    for task, stateful in zip(numbered.tasks, numbered.stateful, strict=True):
        size = workload.of(task).state_bytes if workload is not None else None
        seconds.append(0.0 if not stateful else unknown if size is None or not rate else size / rate)
    return seconds


def _steps(numbered: Numbered, step: Transition, board: _Board) -> list[RuleStep]:
    names = [str(process) for process in numbered.processes]
    steps = []
    for number, task in enumerate(numbered.tasks):
        place, move = board.owners[number], board.moves.get(number)
        if move is not None:
            text = f"moves from {{0}} to {{1}}: gain {move.gain_s:.3g} s of work, cost {move.cost_s:.3g} s"
            steps.append(RuleStep("gain", str(task), text, (names[move.giver], names[move.taker])))
        elif numbered.problem.before[number]:
            steps.append(RuleStep("stay", str(task), "stays on {0}", (names[place],)))
        else:
            steps.append(RuleStep("load", str(task), "goes to {0}, the least loaded process", (names[place],)))
        if step.owners[number] != place:
            text = "runs on {0} until its copy on {1} is caught up"
            steps.append(RuleStep("warm-up", str(task), text, (names[step.owners[number]], names[place])))
    return steps
