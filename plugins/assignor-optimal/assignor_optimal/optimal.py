"""The best placement by a list of goals (:mod:`assignment_api.optimum`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api import ApplicationMetadata, TaskAssignment, TaskAssignmentError, TaskAssignor
from assignment_api.optimum import DEFAULT_GOALS, Goal, Numbered, Optimum, goals_of, optimum, problem_of, spread_of
from assignment_api.plugins import Setting
from assignment_api.tracing import Traced
from assignor_optimal.reasons import RULES, steps_of
from assignor_optimal.transition import Transition, answer_of, transition

__all__ = ["GOALS", "MOST_TASKS", "NODES", "SECONDS", "OptimalTaskAssignor"]

GOALS = Setting(
    "assignor.optimal.goals",
    type="list",
    default=tuple(DEFAULT_GOALS["streams"].split(", ")),
    summary="The goals, the most important first.",
)
SECONDS = Setting(
    "assignor.optimal.seconds",
    type="float",
    default=10.0,
    summary="Time of the solver for one decision; then the best placement found counts.",
    least=0,
)
NODES = Setting(
    "assignor.optimal.nodes",
    type="int",
    default=500,
    summary="Nodes of each search for whole numbers.",
    least=0,
)
#: Beyond this size waiting tasks simply stay.
MOST_TASKS = 20_000


class OptimalTaskAssignor(TaskAssignor):
    """Places active tasks by goals; of equal placements the one with the fewest moves, then a fixed one.

    If the budget of seconds ends the search, the answer is no function of the state; a remark has the gap.
    """

    def __init__(self) -> None:
        self.configure({})

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Reads ``assignor.optimal.goals``, ``.seconds`` and ``.nodes``.

        Raises:
            ConfigError: if a value is invalid.
        """
        self._goals = goals_of(", ".join(GOALS.value_in(configs)))
        self._seconds: float = SECONDS.value_in(configs)
        self._nodes: int = NODES.value_in(configs)

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Places every task.

        Raises:
            TaskAssignmentError: if there are tasks and no clients.
            SolverMissingError: if the solver is not installed.
        """
        return self._decided(application)[0]

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        """As ``assign``, with the deciding goal of each task."""
        answer, numbered, step, best = self._decided(application)
        return Traced(answer, steps_of(numbered, step, best), RULES)

    def _decided(self, application: ApplicationMetadata) -> tuple[TaskAssignment, Numbered, Transition, Optimum]:
        # Without lags only previous owners count as ready.
        application.compute_task_lags()
        numbered = problem_of(application)
        if numbered.tasks and not numbered.processes:
            raise TaskAssignmentError("no client to run the tasks on")
        problem = numbered.problem
        known = problem.known(self._goals)
        remarks = [f"goal {goal} is left out: the state lacks its facts" for goal in self._goals if goal not in known]
        # Copies that are being built count: otherwise each rebalance might prefer another task.
        building = [
            tuple(sorted({*ready, *before, *copies})) if ready else ()
            for ready, before, copies in zip(problem.ready, problem.before, numbered.copies, strict=True)
        ]
        best = optimum(attrs.evolve(problem, ready=building), _final(known), self._seconds, self._nodes)
        remarks += [
            f"goal {each.goal}: {each.value:g}, not proved to be optimal (bound {each.bound:g})"
            for each in best.goals
            if not each.is_optimal
        ]
        now = (*known, Goal("moves"))

        def until_warm() -> list[int]:
            left = max(self._seconds - best.solver_seconds, 0.0)
            return optimum(problem, tuple(dict.fromkeys(now)), left, self._nodes).owners

        is_small = problem.tasks <= MOST_TASKS and known[:1] == (Goal("ready"),)
        step = transition(application, numbered, best.owners, until_warm if is_small else None)
        answer = answer_of(application, numbered, step, remarks)
        doubt = _doubt_of_standbys(numbered, step, spread_of(numbered, answer))
        if doubt is not None:
            answer = attrs.evolve(answer, remarks=(*answer.remarks, doubt))
        return answer, numbered, step, best


def _doubt_of_standbys(numbered: Numbered, step: Transition, reached: float) -> str | None:
    """A remark on standbys that repeat tags without a proof that they must; ``None`` with one, or without tags."""
    if not numbered.tags or not numbered.standbys or True not in numbered.stateful:
        return None
    problem = numbered.problem
    rows, zone = problem.far.get("tags"), problem.zone
    if rows is None or zone is None:
        return f"standbys repeat {reached:g} values of tags; their places are too many for a proof of the fewest"
    # Each task's standbys at their best places, whatever else runs there.
    bound = sum([row[zone[owner]] for row, owner in zip(rows, step.owners, strict=True)])
    if reached <= bound:
        return None
    return f"standbys repeat {reached:g} values of tags, not proved to be the fewest (bound {bound:g})"


def _final(goals: Sequence[Goal]) -> tuple[Goal, ...]:
    """Goals for warm copies: ``ready`` only chooses among equal loads, and fewest moves end a tie."""
    ready = [goal for goal in goals if goal.kind == "ready"]
    others = [goal for goal in goals if goal.kind != "ready"]
    last_load = max((number for number, goal in enumerate(others, 1) if goal.kind in {"balance", "fill"}), default=0)
    tie = Goal("moves")
    return (*others[:last_load], *ready, *others[last_load:], *([] if tie in others else [tie]))
