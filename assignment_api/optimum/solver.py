"""The problem's model for HiGHS: a network of flows, mostly with whole solutions by the simplex method.

Columns: tasks of a class kept on a named process, or given to a pool; tasks of a signature taken from a pool. Rows:
each class is placed, each pool emptied, loads and earlier goals keep limits. A search for whole numbers is limited by
nodes, not by the machine.

Above ``MOST_TAKES`` columns of processes and signatures, loads leave pools as weight: a bound without a placement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from itertools import chain
from typing import Any

import attrs

from assignment_api.optimum.classes import Classes
from assignment_api.optimum.errors import SolverMissingError
from assignment_api.optimum.even import load_limits
from assignment_api.optimum.goals import LOADS, Goal
from assignment_api.optimum.problem import Problem, value_of_loads
from assignment_api.optimum.program import Program

__all__ = ["MOST_TAKES", "Budget", "Model", "Solved"]

MOST_TAKES = 200_000
_NEAR = 1e-6


class Budget:
    """Time and nodes left for all runs of one search.

    The solver measures time: an assignor reads no clock.

    Args:
        seconds: ``None``: no limit.
        nodes: Of each search for whole numbers.
    """

    def __init__(self, seconds: float | None = None, nodes: int = 2_000) -> None:
        self._left = math.inf if seconds is None else seconds
        self.spent = 0.0
        self.nodes = nodes

    def left(self) -> float:
        """Seconds left, from 0; perhaps infinite."""
        return self._left

    def spend(self, seconds: float) -> None:
        """Take the time of a run."""
        self._left = max(self._left - seconds, 0.0)
        self.spent += seconds


@attrs.frozen(eq=False)
class Solved:
    """Outcome of one minimisation.

    Args:
        feasible: False if no placement keeps the limits; ``None``: budget ended before that was known.
        bound: No placement within the limits has a smaller value.
        columns: Whole numbers; ``None``: no placement found.
    """

    feasible: bool | None
    bound: float
    columns: Any = None


class Model:
    """Columns and rows of one problem.

    Raises:
        SolverMissingError: if the solver is not installed.
    """

    def __init__(self, problem: Problem, classes: Classes) -> None:
        try:
            self._np, self._highs = import_module("numpy"), import_module("highspy")
        except ImportError as error:
            raise SolverMissingError(
                f"the solver HiGHS is not installed ({error}): pip install 'assignor-lab[optimum]'"
            ) from error
        self._problem, self.classes = problem, classes
        processes = len(problem.threads)
        self.is_exact = len(classes.signatures) * processes <= MOST_TAKES or not classes.loads
        #: Columns in order: (class, process), (class, pool), (pool, signature or load, process).
        self.keeps: list[tuple[int, int]] = []
        self.gives: list[tuple[int, int]] = []
        self.takes: list[tuple[int, int, int]] = []
        self._build()

    def _build(self) -> None:
        np, classes, problem = self._np, self.classes, self._problem
        costs: list[tuple[float, ...]] = []
        counts = [len(each.tasks) for each in classes.classes]
        for number, each in enumerate(classes.classes):
            self.keeps += [(number, process) for process in each.named]
            costs += each.named_costs
        for number, each in enumerate(classes.classes):
            self.gives += [(number, pool) for pool in range(len(classes.pools))]
            costs += each.pool_costs
        flows = range(len(classes.signatures) if self.is_exact else len(classes.loads))
        if classes.loads:
            self.takes = [
                (pool, flow, process)
                for pool, members in enumerate(classes.pools)
                for flow in flows
                for process in members
            ]
        kept, given = len(self.keeps), len(self.gives)
        self.columns = kept + given + len(self.takes)
        self._costs = np.zeros((len(classes.linear), self.columns))
        if costs and classes.linear:
            self._costs[:, : kept + given] = np.array(costs, dtype=float).T
        rows: list[int] = [number for number, _ in self.keeps] + [number for number, _ in self.gives]
        columns: list[int] = list(range(kept + given))
        values: list[float] = [1.0] * (kept + given)
        first = len(counts)
        if classes.loads:
            for column, (number, pool) in enumerate(self.gives, kept):
                signature = classes.classes[number].signature
                if self.is_exact:
                    rows.append(first + pool * len(flows) + signature)
                    columns.append(column)
                    values.append(1.0)
                else:
                    for flow, weight in enumerate(classes.signatures[signature]):
                        rows.append(first + pool * len(flows) + flow)
                        columns.append(column)
                        values.append(weight)
            for column, (pool, flow, _) in enumerate(self.takes, kept + given):
                rows.append(first + pool * len(flows) + flow)
                columns.append(column)
                values.append(-1.0)
        self._rows, self._cols, self._values = np.array(rows), np.array(columns), np.array(values)
        self._sides = np.array(
            [*map(float, counts), *[0.0] * (len(classes.pools) * len(flows) if classes.loads else 0)]
        )
        upper = [float(counts[number]) for number, _ in (*self.keeps, *self.gives)]
        self._upper = np.array([*upper, *[np.inf] * len(self.takes)])
        self._loads = [self._load_rows(number) for number in range(len(classes.loads))]
        self._processes = len(problem.threads)

    def _load_rows(self, load: int) -> tuple[Any, Any, Any]:
        np, classes = self._np, self.classes
        kept, given = len(self.keeps), len(self.gives)
        process = [process for _, process in self.keeps] + [process for _, _, process in self.takes]
        column = [*range(kept), *range(kept + given, self.columns)]
        weight: list[float] = [classes.signatures[classes.classes[number].signature][load] for number, _ in self.keeps]
        if self.is_exact:
            weight += [classes.signatures[flow][load] for _, flow, _ in self.takes]
        else:
            weight += [float(flow == load) for _, flow, _ in self.takes]
        return np.array(process, dtype=int), np.array(column, dtype=int), np.array(weight, dtype=float)

    def minimise(self, goal: Goal | None, limits: Mapping[Goal, float | Fraction], budget: Budget) -> Solved:
        """Run: the smallest value of ``goal`` within ``limits``; without a goal, only feasibility.

        Limits: largest load per thread for ``balance``, smallest for ``fill``, whose value is negative.
        """
        np = self._np
        program = self._within(limits)
        cost, extra = np.zeros(self.columns), 0
        if goal is not None and goal.kind in LOADS:
            extra = 1
            program.add_load(self._loads[self._number(goal)], np.array(self._problem.threads, float), goal.kind)
            cost = np.append(cost, 1.0 if goal.kind == "balance" else -1.0)
        elif goal is not None:
            cost = self._costs[self.classes.linear.index(goal)]
        solver = self._passed(program, cost, extra)
        return self._solve(solver, budget)

    def minimise_in_turn(
        self, goals: Sequence[Goal], limits: Mapping[Goal, float | Fraction], budget: Budget
    ) -> tuple[list[float], Any]:
        """Smallest sums over tasks, each among the best placements of those before.

        After each goal, columns and rows with a price other than 0 are fixed: that keeps the best placements of a
        linear program. So the model stays a network, and the next run starts from the last one.

        Returns:
            Values, and whole columns; none and ``None`` if a run has no whole result within the budget.
        """
        np = self._np
        program = self._within(limits)
        solver = self._passed(program, np.zeros(self.columns), 0)
        low, high = np.concatenate(program.low), np.concatenate(program.high)
        lower, upper = np.zeros(self.columns), program.upper
        every, rows = np.arange(self.columns, dtype=np.int32), np.arange(len(low), dtype=np.int32)
        values: list[float] = []
        whole = None
        for goal in goals or (None,):
            if goal is not None:
                solver.changeColsCost(self.columns, every, self._costs[self.classes.linear.index(goal)])
            if not self._run(solver, budget):
                return [], None
            solution = solver.getSolution()
            found = np.array(solution.col_value)
            whole = np.rint(found)
            if np.abs(found - whole).max(initial=0.0) > _NEAR:
                return [], None
            values.append(solver.getInfo().objective_function_value)
            price, row_price = np.array(solution.col_dual), np.array(solution.row_dual)
            fixed, tight = np.abs(price) > _NEAR, np.abs(row_price) > _NEAR
            lower, upper = np.where(fixed, whole, lower), np.where(fixed, whole, upper)
            side = np.rint(np.array(solution.row_value))
            low, high = np.where(tight, side, low), np.where(tight, side, high)
            solver.changeColsBounds(self.columns, every, lower, upper)
            solver.changeRowsBounds(len(rows), rows, low, high)
        return values, None if whole is None else whole.astype(np.int64)

    def _within(self, limits: Mapping[Goal, float | Fraction]) -> Program:
        np = self._np
        program = Program(np, self._processes, self._upper.copy(), self.columns)
        program.add(self._rows, self._cols, self._values, self._sides, self._sides)
        for limited, limit in limits.items():
            if limited.kind in LOADS:
                process, column, weight = self._loads[self._number(limited)]
                sides = np.array(
                    load_limits(self._problem.threads, limit, limited.kind, is_whole=self._is_whole(limited))
                )
                unlimited = np.full(self._processes, np.inf)
                is_top = limited.kind == "balance"
                program.add(process, column, weight, -unlimited if is_top else sides, sides if is_top else unlimited)
                continue
            costs = self._costs[self.classes.linear.index(limited)]
            if limit == 0:
                program.upper[costs > 0] = 0.0
                continue
            used = np.nonzero(costs)[0]
            top = float(limit) + _NEAR * max(1.0, abs(float(limit)) * 1e-3)
            if (costs == np.rint(costs)).all():
                # Slack would lower later bounds below their best value.
                top = math.floor(top)
            program.add(np.zeros(len(used), int), used, costs[used], np.array([-np.inf]), np.array([top]))
        return program

    def _number(self, goal: Goal) -> int:
        return next(number for number, each in enumerate(self.classes.loads) if each.weight == goal.weight)

    def _is_whole(self, goal: Goal) -> bool:
        number = self._number(goal)
        return all(float(signature[number]).is_integer() for signature in self.classes.signatures)

    def _passed(self, program: Program, cost: Any, extra: int) -> Any:
        np, highs = self._np, self._highs
        total = self.columns + extra
        rows, cols, values = (np.concatenate(each) for each in (program.rows, program.cols, program.values))
        order = np.argsort(cols, kind="stable")
        made = highs.HighsLp()
        made.row_lower_, made.row_upper_ = np.concatenate(program.low), np.concatenate(program.high)
        made.num_col_, made.num_row_ = total, len(made.row_lower_)
        made.col_cost_, made.col_lower_, made.col_upper_ = cost, np.zeros(total), program.upper
        made.a_matrix_.format_ = highs.MatrixFormat.kColwise
        made.a_matrix_.start_ = np.concatenate(([0], np.cumsum(np.bincount(cols, minlength=total)))).astype(np.int32)
        made.a_matrix_.index_ = rows[order].astype(np.int32)
        made.a_matrix_.value_ = values[order]
        # The public class prints a banner.
        solver = highs._Highs()
        for option, setting in (("output_flag", False), ("threads", 1), ("random_seed", 0)):
            solver.setOptionValue(option, setting)
        solver.passModel(made)
        return solver

    def _run(self, solver: Any, budget: Budget) -> bool | None:
        """True: solution; False: none exists; ``None``: budget ended."""
        left = budget.left()
        if left <= 0:
            return None
        before = solver.getRunTime()
        solver.setOptionValue("time_limit", before + left)
        solver.run()
        budget.spend(solver.getRunTime() - before)
        status, known = solver.getModelStatus(), self._highs.HighsModelStatus
        if status == known.kInfeasible:
            return False
        return True if status == known.kOptimal else None

    def _solve(self, solver: Any, budget: Budget) -> Solved:
        np, highs = self._np, self._highs
        ran = self._run(solver, budget)
        if not ran:
            return Solved(ran, math.inf if ran is False else -math.inf)
        bound = solver.getInfo().objective_function_value
        found = np.array(solver.getSolution().col_value)[: self.columns]
        whole = np.rint(found)
        if not self.is_exact:
            return Solved(None, bound)
        if np.abs(found - whole).max(initial=0.0) < _NEAR:
            return Solved(True, bound, whole.astype(np.int64))
        options = (
            ("mip_max_nodes", budget.nodes),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 1e-6),
            ("mip_feasibility_tolerance", 1e-9),
            ("primal_feasibility_tolerance", 1e-9),
        )
        for option, setting in options:
            solver.setOptionValue(option, setting)
        kinds = np.array([highs.HighsVarType.kInteger] * self.columns)
        solver.changeColsIntegrality(self.columns, np.arange(self.columns, dtype=np.int32), kinds)
        ran = self._run(solver, budget)
        if ran is False:
            return Solved(False, math.inf)
        info = solver.getInfo()
        if math.isfinite(info.mip_dual_bound):
            bound = max(bound, info.mip_dual_bound)
        if info.primal_solution_status != highs.kSolutionStatusFeasible:
            return Solved(None, bound)
        found = np.rint(np.array(solver.getSolution().col_value))[: self.columns].astype(np.int64)
        return Solved(True, bound, found)

    def value(self, goal: Goal, columns: Any) -> float | Fraction | None:
        """Value of a goal for a placement, without its tasks; ``None`` if weights are not whole (sums would differ)."""
        np, problem = self._np, self._problem
        if goal.kind in LOADS:
            if not self._is_whole(goal):
                return None
            process, column, weight = self._loads[self._number(goal)]
            sums = np.bincount(process, weights=weight * columns[column], minlength=self._processes)
            return value_of_loads(problem, goal, sums.astype(np.int64).tolist())
        costs = self._costs[self.classes.linear.index(goal)]
        return int(costs @ columns) if (costs == np.rint(costs)).all() else None

    def owners(self, columns: Any) -> list[int]:
        """Process of each task: named ones, then pools, all ascending."""
        np, classes = self._np, self.classes
        kept, given = len(self.keeps), len(self.gives)
        pools, signatures = len(classes.pools), len(classes.signatures)
        tasks = np.fromiter(chain.from_iterable(each.tasks for each in classes.classes), int, self._problem.tasks)
        number = np.array([number for number, _ in (*self.keeps, *self.gives)], dtype=int)
        # A process, or below 0 a pool and a signature.
        where = [process for _, process in self.keeps]
        where += [pool * signatures + classes.classes[each].signature - pools * signatures for each, pool in self.gives]
        order = np.argsort(number, kind="stable")
        found = np.repeat(np.array(where, dtype=int)[order], columns[: kept + given][order])
        pooled = np.nonzero(found < 0)[0]
        pooled = pooled[np.lexsort((tasks[pooled], found[pooled]))]
        if classes.loads:
            takers = np.array([process for _, _, process in self.takes], dtype=int)
            found[pooled] = np.repeat(takers, columns[kept + given : self.columns])
        else:
            for pool, members in enumerate(classes.pools):
                first = (pool - pools) * signatures
                for flow in range(first, first + signatures):
                    same = pooled[found[pooled] == flow]
                    found[same] = np.resize(np.array(members, dtype=int), len(same))
        owners = np.empty(len(tasks), dtype=int)
        owners[tasks] = found
        placed: list[int] = owners.tolist()
        return placed
