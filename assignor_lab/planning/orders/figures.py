"""The figures of a played order, and the part of them that is certain for each order that begins with its steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median

import attrs

from assignor_lab.model.objective import Objective, by_name
from assignor_lab.planning.measured import AWAY_MS, PlayedPlan

__all__ = ["FIGURES", "OrderTrial", "medians", "trial_of"]


#: The figures of an order by name.
FIGURES: Mapping[str, Objective] = by_name(
    Objective("duration_seconds", "s", "duration"),
    Objective("worst_task_seconds", "s", "worst task"),
    Objective("task_seconds", "task-seconds", "task-seconds"),
    Objective("tasks_at_once", "tasks", "tasks away at once"),
    Objective("rebalances", "rebalances", "rebalances"),
    Objective("restored_bytes", "bytes", "restored bytes"),
)


@attrs.frozen
class OrderTrial:
    """One play of an order, or of its first steps.

    Args:
        figures: Infinite if a step was not over in time, or if the figure is unknown.
        certain: Lower bounds of the figures for each order that begins with the same steps.
        step_seconds: Duration of each step.
        keeps_owners: Each instance has as many tasks afterwards as before.
    """

    figures: Mapping[str, float]
    certain: Mapping[str, float]
    step_seconds: tuple[float, ...]
    keeps_owners: bool


def trial_of(play: PlayedPlan, *, keeps_owners: bool) -> OrderTrial:
    done = play.duration_seconds
    absences = [each for of_task in play.absences.values() for each in of_task]
    ended = [(begin, min(end, done)) for begin, end in absences if begin < done]
    ended = [(begin, end) for begin, end in ended if end - begin >= AWAY_MS / 1000]
    total, before = play.total, play.steps[:-1]
    unknown = float("inf")
    figures = {
        "duration_seconds": done,
        "worst_task_seconds": total.worst_task_seconds,
        "task_seconds": total.task_seconds,
        "tasks_at_once": float(_at_once(absences)),
        "rebalances": float(total.rebalances),
        "restored_bytes": unknown if total.restored_bytes is None else total.restored_bytes,
    }
    certain = {
        "duration_seconds": done,
        "worst_task_seconds": max((end - begin for begin, end in ended), default=0.0),
        "task_seconds": sum(end - begin for begin, end in ended),
        "tasks_at_once": float(_at_once(ended)),
        "rebalances": float(sum(step.rebalances for step in before)),
        "restored_bytes": sum(step.restored_bytes or 0.0 for step in before),
    }
    if play.failed is not None:
        figures = dict.fromkeys(figures, unknown)
    steps = [until - since for since, until in pairwise([*play.at_seconds, done])]
    return OrderTrial(figures, certain, tuple(steps), keeps_owners)


def _at_once(absences: Iterable[tuple[float, float]]) -> int:
    """Most tasks that are away at one time; a task is away after some time without output."""
    away = [(begin + AWAY_MS / 1000, end) for begin, end in absences]
    changes = sorted([(begin, 1) for begin, _ in away] + [(end, -1) for _, end in away])
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def medians(of: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The middle play by figure."""
    return {name: median(each[name] for each in of) for name in FIGURES}
