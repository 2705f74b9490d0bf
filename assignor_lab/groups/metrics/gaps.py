"""Gaps: the avoidable part of an answer, goal by goal (:mod:`assignment_api.optimum`).

They are computed on request alone, since a gap may take a search. The goals are the default ones of the kind of group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from assignment_api.optimum import DEFAULT_GOALS, Goal, goals_of
from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.metrics.definition import OfView

if TYPE_CHECKING:
    from assignment_api.optimum import Gap, Problem

__all__ = ["GAPS", "gap_measures", "gap_metrics", "gaps_by_kind", "gaps_of_goals", "has_solver", "name_of"]

#: Name of all gaps of a kind, and the heading of these metrics.
GAPS = "gaps"
_TEXTS = {
    "ready": ("tasks", "Tasks on a process that is not caught up, though another one is"),
    "balance": ("tasks/thread", "Largest number of tasks of a process for each of its threads"),
    "fill": ("tasks/thread", "Shortfall of the emptiest process from the average tasks for each thread"),
    "moves": ("tasks", "Tasks that leave a process which ran them and is still there"),
    "racks": ("partitions", "Source partitions that are read from another rack"),
    "spread": ("copies", "Copies of a task that repeat a value of a tag"),
}
#: Weight of Connect's goals on connectors, which are balanced apart from tasks.
CONNECTORS = "connectors"
#: Time of the solver for one answer, in seconds.
_SECONDS = 30.0

Gaps = Mapping[str, "Gap"]

S = TypeVar("S")
A = TypeVar("A")


def gap_metrics(
    kind: Literal["streams", "connect", "streams-group", "consumer", "consumer-group"], view: Callable[..., Gaps | None]
) -> tuple[MetricPlugin, ...]:
    """Two metrics for each goal of a kind: the avoidable part, and its share of the value.

    Args:
        view: The gaps of an answer, keyed by goal; a goal without facts is missing. ``None``: tasks are not placed.
    """
    metrics: list[MetricPlugin] = []
    for goal in goals_of(DEFAULT_GOALS[kind]):
        unit, text = _TEXTS[goal.kind]
        if goal.weight == CONNECTORS:
            unit = unit.replace("tasks", "connectors")
            text = text.replace("tasks", "connectors").replace("Tasks", "Connectors")
        of = name_of(goal)
        for name, shown, summary, figure in (
            (f"gap_{of}", unit, f"{text}: the avoidable part.", _absolute(of)),
            (f"gap_{of}_share", "share", f"{text}: the avoidable share.", _relative(of)),
        ):
            compute = OfView(figure, view)
            metrics.append(MetricPlugin(name, shown, "lower", summary, compute, GAPS, "It is left out.", kind=kind))
    return tuple(metrics)


def gap_measures(
    metrics: Sequence[MetricPlugin], view: Callable[[S, A], Gaps | None]
) -> dict[str, Callable[[S, A], float | None]]:
    """Name of each gap to its figure of a state and an answer; a caller computes the view once for all."""
    return {
        metric.name: OfView(metric.compute.figure, view) for metric in metrics if isinstance(metric.compute, OfView)
    }


def gaps_by_kind(
    problem: Problem, owners: Sequence[int], kind: str, spread: Callable[[], float] | None = None
) -> Gaps | None:
    """The gaps of an answer by the default goals of a kind; ``None`` if a task is not placed.

    Args:
        spread: Returns the value of goal ``spread`` with the answer's standbys.

    Raises:
        SolverMissingError: if the solver is needed and not installed.
    """
    return gaps_of_goals(problem, owners, problem.known(goals_of(DEFAULT_GOALS[kind])), spread)


def gaps_of_goals(
    problem: Problem, owners: Sequence[int], goals: Sequence[Goal], spread: Callable[[], float] | None = None
) -> Gaps | None:
    """The same by ``goals``, whose facts are known."""
    if -1 in owners or not problem.threads:
        return None
    spreads = spread is not None and any(goal.kind == "spread" for goal in goals)
    # The solver's modules are imported with the first search.
    from assignment_api.optimum import gaps

    found = gaps(problem, goals, owners, _SECONDS, spread=spread() if spread is not None and spreads else None)
    return {name_of(gap.goal): gap for gap in found}


def has_solver() -> bool:
    """True if the extra ``optimum`` is installed."""
    return find_spec("highspy") is not None


def name_of(goal: Goal) -> str:
    """Key of a goal among the gaps of an answer."""
    return f"{goal.kind}_{CONNECTORS}" if goal.weight == CONNECTORS else goal.kind


def _absolute(name: str) -> Callable[[Any], float | None]:
    def absolute(found: Gaps | None) -> float | None:
        gap = (found or {}).get(name)
        return None if gap is None else gap.absolute

    return absolute


def _relative(name: str) -> Callable[[Any], float | None]:
    def relative(found: Gaps | None) -> float | None:
        gap = (found or {}).get(name)
        return None if gap is None else gap.relative

    return relative
