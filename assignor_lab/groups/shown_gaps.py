"""Gaps of single answers, for ``compare``, ``explain`` and reports: values, sentences and JSON.

A gap is the avoidable part of an answer, goal by goal (:mod:`assignment_api.optimum`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from assignment_api import AssignorLabError
from assignment_api.optimum import Gap
from assignor_lab.documents.wording import figure
from assignor_lab.groups.kind import GroupKind
from assignor_lab.groups.metrics.gaps import has_solver

__all__ = ["MOST_TASKS", "NO_SOLVER", "gap_cell", "gap_documents", "moves_sentence", "moves_words", "shown_gaps"]

S = TypeVar("S")
A = TypeVar("A")

#: Tasks of the largest shown state: a larger one takes the solver longer than a reader waits.
MOST_TASKS = 5_000
#: Reason of missing gaps without the extra.
NO_SOLVER = "pip install 'assignor-lab[optimum]'"


def shown_gaps(kind: GroupKind[S, A], state: S, answer: A, tasks: int) -> tuple[Gap, ...] | None:
    """The gaps of an answer, in the order of the goals.

    ``None``: the kind has no goals, a task is not placed, the state is too large, or the solver is not installed.
    """
    if tasks > MOST_TASKS or not has_solver():
        return None
    try:
        found = kind.gaps(state, answer)
    except AssignorLabError:
        return None
    return None if found is None else tuple(found.values())


def gap_cell(gap: Gap) -> str:
    """The value of a goal with its avoidable part, as ``7 (5 avoidable)``."""
    avoidable = f" ({'' if gap.is_exact else 'at most '}{figure(gap.absolute)} avoidable)" if gap.absolute else ""
    return f"{figure(gap.value)}{avoidable}"


def moves_sentence(gaps: Sequence[Gap] | None) -> str | None:
    """The unavoidable moves, as ``2 of the 7 moves between processes were unavoidable for this balance``."""
    # Connect's connectors and tasks have their own goals.
    moves = [gap for gap in gaps or () if gap.goal.kind == "moves" and gap.value > 0]
    if not moves:
        return None
    is_exact = all(gap.is_exact for gap in moves)
    return moves_words(sum(gap.bound for gap in moves), sum(gap.value for gap in moves), is_exact=is_exact)


def moves_words(bound: float, value: float, *, is_exact: bool) -> str:
    """The unavoidable moves of some answers in words.

    Args:
        is_exact: True if some answers have no more moves than ``bound``.
    """
    moves = f"{figure(value)} move{'' if value == 1 else 's'} between processes"
    if bound >= value:
        return f"The {moves} {'was' if value == 1 else 'were'} unavoidable for this balance."
    least = "" if is_exact else "At least "
    return f"{least}{figure(bound)} of the {moves} {'was' if bound == 1 else 'were'} unavoidable for this balance."


def gap_documents(gaps: Sequence[Gap] | None) -> list[dict[str, Any]] | None:
    """The gaps as JSON; ``None`` if they are unknown."""
    if gaps is None:
        return None
    return [
        {
            "goal": str(gap.goal),
            "value": gap.value,
            "bound": gap.bound,
            "avoidable": gap.absolute,
            "avoidable_share": gap.relative,
            "exact": gap.is_exact,
        }
        for gap in gaps
    ]
