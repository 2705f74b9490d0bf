"""The best placement of tasks, and a bound for every goal (extra ``optimum``).

Goals are in order of importance (:mod:`~assignment_api.optimum.goals`). The solver is HiGHS, imported on first need.
"""

from typing import TYPE_CHECKING

from assignment_api.exports import exported

if TYPE_CHECKING:
    from assignment_api.optimum.application import Numbered, owners_of, problem_of, spread_of
    from assignment_api.optimum.best import Best, Gap, Optimum, gaps, optimum
    from assignment_api.optimum.changes import joined, left, settled, with_tasks
    from assignment_api.optimum.errors import GoalError, NoAnswerError, SolverMissingError
    from assignment_api.optimum.goals import DEFAULT_GOALS, Goal, goals_of
    from assignment_api.optimum.problem import Problem

__all__ = [
    "DEFAULT_GOALS",
    "Best",
    "Gap",
    "Goal",
    "GoalError",
    "NoAnswerError",
    "Optimum",
    "Numbered",
    "Problem",
    "SolverMissingError",
    "gaps",
    "goals_of",
    "joined",
    "left",
    "optimum",
    "owners_of",
    "problem_of",
    "settled",
    "spread_of",
    "with_tasks",
]

if not TYPE_CHECKING:
    __getattr__ = exported(__name__, __all__, "errors goals problem application changes best")
