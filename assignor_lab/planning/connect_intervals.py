"""90 % intervals of plans of Connect groups: those of the plays, widened by the errors of recorded changes.

The method is that of :mod:`assignor_lab.planning.intervals`. The form of a change is the main cause of its absences.
Errors are shares of the time that is no delay: a delay itself is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import attrs

from assignor_lab.planning.intervals import FIGURES, LEAST_SECONDS, Widening, widenings_in
from assignor_lab.planning.predicted import Prediction, Range, StepRange
from assignor_lab.planning.shipped import shipped_connect_forms
from assignor_lab.simulation.connect.played_history import DELAY, SESSION

__all__ = ["MOVES", "WAITS", "connect_calibrated", "connect_form", "connect_scale", "shipped_connect_widenings"]

#: Forms of changes; a session timeout is the third one.
WAITS, MOVES = "jobs wait out the delay", "jobs move at once"
#: Share of the task-seconds from which a cause is the main one.
_MAIN = 0.4


def connect_form(step: StepRange) -> str:
    total = sum(step.spent_on.values())
    if total and step.spent_on.get(SESSION, 0.0) >= _MAIN * total:
        return SESSION
    return WAITS if total and step.spent_on.get(DELAY, 0.0) >= _MAIN * total else MOVES


def connect_scale(step: StepRange, figure: Range) -> float:
    """Seconds that the errors of a figure are shares of."""
    total = sum(step.spent_on.values())
    waited = step.spent_on.get(DELAY, 0.0) / total if total else 0.0
    return max(figure.median * (1 - waited), LEAST_SECONDS)


def connect_calibrated(prediction: Prediction, errors: Mapping[str, Widening] | None = None) -> Prediction:
    """The prediction with intervals that hold the truth in 90 % of recorded changes.

    Args:
        errors: Form of change to its errors; ``None``: those of the distribution.
    """
    known = shipped_connect_widenings() if errors is None else errors
    return attrs.evolve(
        prediction,
        steps=tuple(_step(each, known) for each in prediction.steps),
        total=_step(prediction.total, known),
    )


def _step(step: StepRange, errors: Mapping[str, Widening]) -> StepRange:
    form = connect_form(step)
    known = errors.get(form)
    if known is None:
        return attrs.evolve(step, poorly_known=(f"no recorded change is of this form: {form}",))
    worst, every = (_widened(step, getattr(step, name), *known.errors[name]) for name in FIGURES)
    return attrs.evolve(step, worst_task_seconds=worst, task_seconds=every)


def _widened(step: StepRange, figure: Range, below: float, above: float) -> Range:
    by = connect_scale(step, figure)
    return Range(figure.median, max(0.0, figure.low - below * by), figure.high + above * by)


@cache
def shipped_connect_widenings() -> Mapping[str, Widening]:
    return widenings_in(shipped_connect_forms())
