"""The optimum of a problem, and an answer's distance from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

import attrs

from assignment_api.optimum.classes import TaskClass, classes_of
from assignment_api.optimum.even import best_balance, best_fill, next_balance, next_fill, not_above, not_below
from assignment_api.optimum.goals import LOADS, Goal
from assignment_api.optimum.near import near
from assignment_api.optimum.problem import Problem, rank, rounded_to_steps, value
from assignment_api.optimum.solver import Budget, Model, Solved

__all__ = ["Best", "Gap", "Optimum", "gaps", "optimum"]

_Value = int | float | Fraction


@attrs.frozen
class Best:
    """One goal of the best found placement.

    Args:
        bound: No placement as good in the goals before has a smaller value.
        is_optimal: Proof: value and bound are equal, or within the goal's slack, here and in all goals before.
    """

    goal: Goal
    value: float
    bound: float
    is_optimal: bool


@attrs.frozen
class Optimum:
    """The best found placement.

    Args:
        solver_seconds: Time of the solver, for a budget of several searches.
    """

    goals: tuple[Best, ...]
    owners: list[int]
    solver_seconds: float = attrs.field(default=0.0, eq=False)

    @property
    def is_optimal(self) -> bool:
        """True if proved for each goal."""
        return all(best.is_optimal for best in self.goals)


@attrs.frozen
class Gap:
    """One goal of an answer.

    Args:
        bound: The unavoidable part: no answer as good in the goals before has a smaller value; with a slack, the value
            that the slack allows.
        is_exact: Some answer reaches the bound; else the best is between bound and value.
    """

    goal: Goal
    value: float
    bound: float
    is_exact: bool

    @property
    def absolute(self) -> float:
        """The avoidable part."""
        return max(self.value - self.bound, 0.0)

    @property
    def relative(self) -> float:
        """The avoidable share, 0 to 1."""
        return self.absolute / self.value if self.value > 0 else 0.0


def optimum(problem: Problem, goals: Sequence[Goal], seconds: float | None = None, nodes: int = 2_000) -> Optimum:
    """The best placement by the goals in order; ties have a fixed order.

    Equal ``nodes`` give equal results on every machine, if time is enough. After ``seconds`` of solver time the result
    is the best placement found so far, with its bounds.

    Raises:
        GoalError: if a weight or racks of a goal are unknown.
        NoAnswerError: if there are tasks and no processes.
        SolverMissingError: if the solver is needed and not installed.
    """
    problem.check(goals)
    coarse, steps = rounded_to_steps(problem, goals)
    found = _Search(coarse, goals, Budget(seconds, nodes)).best()
    return attrs.evolve(found, goals=tuple(_in_units(best, steps) for best in found.goals)) if steps else found


def gaps(
    problem: Problem,
    goals: Sequence[Goal],
    owners: Sequence[int],
    seconds: float | None = None,
    nodes: int = 200,
    spread: float | None = None,
) -> tuple[Gap, ...]:
    """Distance of an answer from the best one, goal by goal.

    A bound is over all placements as good as the answer in all goals before, so no gap is negative.

    Args:
        seconds: Solver's time for all goals; ``None``: no limit.
        spread: Goal ``spread`` with the answer's standbys; ``None``: with the best ones.

    Raises:
        GoalError: if a weight or racks of a goal are unknown.
        NoAnswerError: if there are tasks and no processes.
        SolverMissingError: if the solver is needed and not installed.
    """
    problem.check(goals)
    coarse, steps = rounded_to_steps(problem, goals)
    found = _Search(coarse, goals, Budget(seconds, nodes)).gaps(owners, spread)
    return tuple(_in_units(gap, steps) for gap in found) if steps else found


G = TypeVar("G", Best, Gap)


def _in_units(found: G, steps: Mapping[str, float]) -> G:
    """A value in steps of its weight as one in the weight's own unit."""
    step = steps.get(found.goal.weight, 1.0)
    return attrs.evolve(found, value=found.value * step, bound=found.bound * step)


class _Placement:
    """A placement by its tasks, or by the solver's numbers, whose tasks are numbered on first need."""

    def __init__(
        self, problem: Problem, model: Model | None = None, columns: object = None, owners: list[int] | None = None
    ) -> None:
        self._problem, self._model, self._columns, self._owners = problem, model, columns, owners

    @property
    def owners(self) -> list[int]:
        """Process of each task."""
        if self._owners is None:
            assert self._model is not None
            self._owners = self._model.owners(self._columns)
        return self._owners

    def value(self, goal: Goal, floor: float = -math.inf) -> _Value:
        """Value of a goal; ``floor``: no placement has a smaller one."""
        if self._model is not None:
            # Above its best value, a sum of the solver can count a task that a pool returns to its place.
            known = self._model.value(goal, self._columns)
            if known is not None and (goal.kind in LOADS or float(known) <= floor):
                return known
        return value(self._problem, goal, self.owners)

    def is_least(self, goal: Goal, floor: float) -> bool:
        """True if whole weights prove that no placement is better."""
        known = None if self._model is None else self._model.value(goal, self._columns)
        return known is not None and float(known) <= floor


class _Search:
    def __init__(self, problem: Problem, goals: Sequence[Goal], budget: Budget) -> None:
        self._problem, self._goals, self._budget = problem, tuple(goals), budget
        self._classes = classes_of(problem, goals)
        self._model: Model | None = None
        self._heuristic: _Placement | None = None
        self._bounds: dict[Goal, _Value] = {}
        self._sums = {
            each.weight: sum(
                len(tasks.tasks) * self._classes.signatures[tasks.signature][number] for tasks in self._classes.classes
            )
            for number, each in enumerate(self._classes.loads)
        }

    # --- the best placement -------------------------------------------------------------------------

    def best(self) -> Optimum:
        problem = self._problem
        if not problem.tasks:
            return Optimum(tuple([Best(goal, 0.0, 0.0, True) for goal in self._goals]), [])
        found = self._assumed() or self._one_by_one()
        return attrs.evolve(found, solver_seconds=self._budget.spent)

    def _assumed(self) -> Optimum | None:
        """Goals in turn on one network, if arithmetical bounds of the loads can be met together."""
        limits: dict[Goal, _Value] = {}
        number = 0
        for goal in self._goals:
            if goal.kind in LOADS and self._is_unit(goal):
                limits[goal] = self._limit(goal, _allowed(goal, self._arithmetic(goal)))
            elif goal.kind == "ready" and not limits:
                limits[goal] = 0
            else:
                break
            number += 1
        sums = self._goals[number:]
        # In turn, each sum is fixed at its best value: that leaves no slack.
        if any(goal.kind in LOADS or goal.slack for goal in sums) or not self._solver().is_exact:
            return None
        bounds, columns = self._solver().minimise_in_turn(sums, limits, self._budget)
        if columns is None:
            return None
        found = _Placement(self._problem, self._solver(), columns)
        goals = [self._judged(goal, found, self._arithmetic(goal)) for goal in limits]
        goals += [self._judged(goal, found, bound) for goal, bound in zip(sums, bounds, strict=False)]
        return Optimum(tuple(goals), found.owners) if all(best.is_optimal for best in goals) else None

    def _one_by_one(self) -> Optimum:
        goals: list[Best] = []
        limits: dict[Goal, _Value] = {}
        last: _Placement | None = None
        for goal in self._goals:
            bound: _Value = self._arithmetic(goal)
            found = None
            if not goal.slack or goals or self._near().value(goal) > _allowed(goal, bound):
                bound, found = self._smallest(goal, limits)
            floor = self._rounded(goal, float(bound))
            if found is None or not found.is_least(goal, floor):
                last = self._near() if last is None else last
                last = found if found is not None and found.value(goal) <= last.value(goal) else last
            else:
                last = found
            goals.append(self._judged(goal, last, bound))
            limits[goal] = self._limit(goal, max(last.value(goal, floor), _allowed(goal, bound)))
        proved = True
        shown: list[Best] = []
        assert last is not None
        for best in goals:
            if best.goal.slack:
                # Later goals have used some of it.
                best = self._judged(best.goal, last, best.bound)
            proved = proved and best.is_optimal
            shown.append(attrs.evolve(best, is_optimal=proved))
        return Optimum(tuple(shown), last.owners)

    def _near(self) -> _Placement:
        """A heuristic's placement, for goals without a proved one."""
        if self._heuristic is None:
            self._heuristic = _Placement(self._problem, owners=near(self._problem, self._goals))
        return self._heuristic

    def _judged(self, goal: Goal, found: _Placement, bound: _Value) -> Best:
        floor = self._rounded(goal, float(bound))
        reached = float(found.value(goal, floor))
        return Best(goal, reached, floor, reached - float(_allowed(goal, floor)) <= 1e-6 * max(1.0, abs(reached)))

    # --- gaps of an answer --------------------------------------------------------------------------

    def gaps(self, owners: Sequence[int], spread: float | None) -> tuple[Gap, ...]:
        found: list[Gap] = []
        limits: dict[Goal, _Value] = {}
        for goal in self._goals:
            reached = value(self._problem, goal, owners)
            if goal.kind == "spread" and spread is not None:
                reached = max(reached, spread)
            bound: _Value = self._arithmetic(goal)
            is_exact = reached <= _allowed(goal, bound) + 1e-9
            if not is_exact:
                searched, other = self._smallest(goal, limits)
                bound = max(bound, self._rounded(goal, float(searched)))
                best = reached if other is None else min(other.value(goal), reached)
                is_exact = float(best) - float(_allowed(goal, bound)) <= 1e-6 * max(1.0, abs(float(best)))
            # With a slack, all that it allows is unavoidable.
            shown = min(reached, _allowed(goal, bound)) if goal.slack else bound
            found.append(Gap(goal, float(reached), float(shown), is_exact))
            limits[goal] = self._limit(goal, max(reached, _allowed(goal, bound)))
        return tuple(found)

    # --- one goal -----------------------------------------------------------------------------------

    def _smallest(self, goal: Goal, limits: dict[Goal, _Value]) -> tuple[_Value, _Placement | None]:
        solver, budget = self._solver(), self._budget
        if goal.kind in LOADS and self._is_unit(goal):
            return self._smallest_load(goal, limits)
        solved = solver.minimise(goal, limits, budget)
        bound: _Value = solved.bound
        if goal.kind == "fill":
            bound = float(self._average(goal)) + solved.bound
        return max(bound, self._arithmetic(goal)), self._placement(solved)

    def _placement(self, solved: Solved) -> _Placement | None:
        return None if solved.columns is None else _Placement(self._problem, self._solver(), solved.columns)

    def _smallest_load(self, goal: Goal, limits: dict[Goal, _Value]) -> tuple[_Value, _Placement | None]:
        solver, threads, is_fill = self._solver(), self._problem.threads, goal.kind == "fill"
        limit = self._limit(goal, self._arithmetic(goal))
        assert isinstance(limit, Fraction)
        solved = solver.minimise(None, {**limits, goal: limit}, self._budget)
        if solved.feasible is False:
            relaxed = solver.minimise(goal, limits, self._budget)
            if math.isfinite(relaxed.bound):
                bound = not_above(threads, -relaxed.bound) if is_fill else not_below(threads, relaxed.bound)
                limit = min(limit, bound) if is_fill else max(limit, bound)
            solved = self._first_fit(goal, limits, limit)
            limit = self._tried
        shown: _Value = self._average(goal) - limit if is_fill else limit
        return shown, self._placement(solved)

    def _first_fit(self, goal: Goal, limits: dict[Goal, _Value], limit: Fraction) -> Solved:
        step = next_fill if goal.kind == "fill" else next_balance
        while True:
            self._tried = limit
            solved = self._solver().minimise(None, {**limits, goal: limit}, self._budget)
            if solved.feasible is not False or (goal.kind == "fill" and limit <= 0):
                return solved
            limit = step(self._problem.threads, limit)

    def _arithmetic(self, goal: Goal) -> _Value:
        """Without a search."""
        if goal not in self._bounds:
            self._bounds[goal] = self._calculated(goal)
        return self._bounds[goal]

    def _calculated(self, goal: Goal) -> _Value:
        problem = self._problem
        if goal.kind in ("racks", "spread"):
            number = self._classes.linear.index(goal)
            return sum([min(_costs(each, number)) * len(each.tasks) for each in self._classes.classes])
        if goal.kind not in LOADS:
            return 0
        total = self._sums[goal.weight]
        if self._is_unit(goal):
            if goal.kind == "balance":
                return best_balance(problem.threads, int(total))
            return self._average(goal) - best_fill(problem.threads, int(total))
        if goal.kind == "fill":
            return 0
        weights = problem.weight(goal) or (1,)
        return max(rank(total, sum(problem.threads)), rank(max(weights), max(problem.threads)))

    def _rounded(self, goal: Goal, bound: float) -> float:
        """To the next possible value if all weights are whole."""
        if not math.isfinite(bound):
            return float(self._arithmetic(goal))
        problem = self._problem
        if goal.kind == "balance":
            return float(not_below(problem.threads, bound)) if self._is_whole(goal) else bound
        if goal.kind == "fill":
            if not self._is_whole(goal):
                return max(bound, 0.0)
            average = self._average(goal)
            return max(float(average - not_above(problem.threads, float(average) - bound)), 0.0)
        number = self._classes.linear.index(goal)
        whole = all(float(cost).is_integer() for each in self._classes.classes for cost in _costs(each, number))
        return float(math.ceil(bound - 1e-6 * max(1.0, abs(bound) * 1e-3))) if whole else max(bound, 0.0)

    def _limit(self, goal: Goal, reached: _Value) -> _Value:
        return self._average(goal) - reached if goal.kind == "fill" else reached

    def _average(self, goal: Goal) -> _Value:
        return rank(self._sums[goal.weight], sum(self._problem.threads))

    def _is_unit(self, goal: Goal) -> bool:
        number = next(number for number, each in enumerate(self._classes.loads) if each.weight == goal.weight)
        return all(signature[number] in (0, 1) for signature in self._classes.signatures)

    def _is_whole(self, goal: Goal) -> bool:
        number = next(number for number, each in enumerate(self._classes.loads) if each.weight == goal.weight)
        return all(float(signature[number]).is_integer() for signature in self._classes.signatures)

    def _solver(self) -> Model:
        if self._model is None:
            self._model = Model(self._problem, self._classes)
        return self._model


def _allowed(goal: Goal, bound: _Value) -> _Value:
    """Largest value within the goal's slack."""
    return bound * (1 + goal.slack) if goal.slack and math.isfinite(bound) else bound


def _costs(each: TaskClass, number: int) -> list[float]:
    return [cost[number] for cost in (*each.named_costs, *each.pool_costs)]
