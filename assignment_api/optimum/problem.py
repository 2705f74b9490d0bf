"""The input of the search: tasks and processes, numbered from 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import attrs

from assignment_api.optimum.errors import GoalError, NoAnswerError
from assignment_api.optimum.goals import LOADS, Goal

__all__ = ["STEPS", "Problem", "loads", "rank", "rounded_to_steps", "value", "value_of_loads"]

#: Steps of a rounded weight in the mean of all weights above 0.
STEPS = 20


@attrs.frozen(eq=False)
class Problem:
    """Tasks to place on processes.

    Args:
        threads: Of each process, at least 1.
        before: For each task, present processes that ran it.
        ready: For each task, processes that can take it over at once; empty: all are equal.
        weights: Weight to that of each task, from 0; ``tasks`` may be left out.
        rack: Number of each process's rack, or ``None``.
        far: Weight of goal ``racks`` to each task's cost in each rack (states with equal rows may share them), ``tags``
            to that in each zone (goal ``spread``).
        zone: Number of each process's tag values, or ``None``.
    """

    threads: Sequence[int]
    before: Sequence[Sequence[int]]
    ready: Sequence[Sequence[int]]
    weights: Mapping[str, Sequence[float]] = attrs.field(factory=dict)
    rack: Sequence[int] | None = None
    far: Mapping[str, Sequence[tuple[float, ...]]] = attrs.field(factory=dict)
    zone: Sequence[int] | None = None

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return len(self.before)

    def weight(self, goal: Goal) -> Sequence[float] | None:
        """Weights of all tasks; ``None``: each is 1."""
        return None if goal.weight == "tasks" else self.weights[goal.weight]

    def places(self, goal: Goal) -> Sequence[int] | None:
        """Each process's place in rows of ``far``: rack, or zone for goal ``spread``."""
        return self.zone if goal.kind == "spread" else self.rack

    def check(self, goals: Sequence[Goal]) -> None:
        """Check that goals have their facts.

        Raises:
            GoalError: if a weight is unknown or negative, or racks or tags are unknown.
            NoAnswerError: if there are tasks and no processes.
        """
        if self.before and not self.threads:
            raise NoAnswerError(f"{len(self.before)} tasks and no process to run them on")
        for goal in goals:
            if goal.kind == "racks":
                if self.rack is None or goal.weight not in self.far:
                    raise GoalError(
                        f"goal {goal} needs the rack of every process and the racks of every source partition"
                        f"{', and the input of every task' * (goal.weight == 'traffic')}: give them, or leave it out"
                    )
            elif goal.kind == "spread":
                if self.zone is None or goal.weight not in self.far:
                    raise GoalError(
                        f"goal {goal} needs rack.aware.assignment.tags, standbys and few combinations of tag values: "
                        "give them, or leave it out"
                    )
            elif goal.weight != "tasks":
                weights = self.weights.get(goal.weight)
                if weights is None:
                    raise GoalError(f"goal {goal} needs weight {goal.weight!r} of every task: give a workload")
                worst = min(weights, default=0)
                if not worst >= 0:
                    raise GoalError(f"goal {goal}: weight {worst} is not a number from 0")

    def known(self, goals: Sequence[Goal]) -> tuple[Goal, ...]:
        """The goals with known facts."""
        kept: list[Goal] = []
        for goal in goals:
            try:
                self.check([goal])
            except GoalError:
                continue
            kept.append(goal)
        return tuple(kept)


def rounded_to_steps(problem: Problem, goals: Sequence[Goal]) -> tuple[Problem, dict[str, float]]:
    """The problem with weights of loads with a slack in whole steps, and the size of a step of each.

    Equal weights make classes of equal tasks, and whole ones proofs.
    """
    steps: dict[str, float] = {}
    weights = dict(problem.weights)
    for goal in goals:
        known = weights.get(goal.weight, ())
        positive = [each for each in known if each > 0]
        if not goal.slack or goal.kind not in LOADS or goal.weight in steps or not positive:
            continue
        if all(float(each).is_integer() for each in known) and max(positive) <= STEPS:
            continue
        step = sum(positive) / len(positive) / STEPS
        steps[goal.weight] = step
        weights[goal.weight] = [round(each / step) for each in known]
    return (attrs.evolve(problem, weights=weights), steps) if steps else (problem, steps)


def loads(problem: Problem, goal: Goal, owners: Sequence[int]) -> list[float]:
    """Sum of weights on each process."""
    weights = problem.weight(goal)
    if weights is None:
        counted = Counter(owners)
        return [counted[process] for process in range(len(problem.threads))]
    load: list[float] = [0] * len(problem.threads)
    for owner, weight in zip(owners, weights, strict=True):
        load[owner] += weight
    return load


def rank(load: float, threads: int) -> float | Fraction:
    """Load per thread, exact if whole."""
    whole = int(load)
    return Fraction(whole, threads) if whole == load else load / threads


def value_of_loads(problem: Problem, goal: Goal, load: Sequence[float]) -> float | Fraction:
    """``balance`` or ``fill`` for loads of processes."""
    if not load:
        return 0
    # Thousands of processes have a few loads.
    ranks = [rank(each, threads) for each, threads in dict.fromkeys(zip(load, problem.threads, strict=True))]
    if goal.kind == "balance":
        return max(ranks)
    return rank(sum(load), sum(problem.threads)) - min(ranks)


def value(problem: Problem, goal: Goal, owners: Sequence[int]) -> float | Fraction:
    """Value of a goal for each task's process; less is better."""
    if goal.kind in ("balance", "fill"):
        return value_of_loads(problem, goal, loads(problem, goal, owners))
    if goal.kind in ("racks", "spread"):
        rack = problem.places(goal)
        assert rack is not None
        return sum([row[rack[owner]] for row, owner in zip(problem.far[goal.weight], owners, strict=True)])
    places = problem.ready if goal.kind == "ready" else problem.before
    weights = problem.weight(goal)
    missed = [task for task, (owner, good) in enumerate(zip(owners, places, strict=True)) if good and owner not in good]
    return len(missed) if weights is None else sum([weights[task] for task in missed])
