"""90 % intervals of a prediction: those of the plays, widened by the errors of recorded changes.

Groups of other applications and machines have those of :mod:`assignor_lab.planning.foreign`.

A play draws the facts that a state leaves open. Its rules and constants have errors of their own. Recorded changes show
those (split conformal prediction). ``make accuracy`` measures the errors and writes them to ``calibration.json``. Each
error is relative to the predicted figure. Errors of one form of change stay together, and each end has its own
(asymmetric conformalized quantile regression).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import attrs

from assignor_lab.capture.edges.moments import STREAMS
from assignor_lab.planning.foreign import Ratios, foreign_form, foreign_ratios, of_foreign
from assignor_lab.planning.past_record import PastRecord
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predicted import Prediction, Range, StepRange
from assignor_lab.planning.shipped import shipped_forms

__all__ = [
    "FIGURES",
    "LEAST_SECONDS",
    "Widening",
    "adjusted_by_past",
    "calibrated",
    "form_of",
    "form_of_change",
    "shipped_calibration",
    "widening_of",
    "widenings_in",
]

#: The figures with a measured error.
FIGURES = ("worst_task_seconds", "task_seconds")
#: Lower bound of the figure that an error is relative to.
LEAST_SECONDS = 1.0
#: A prediction may exceed the longest recorded absence of its form by this factor.
_BEYOND = 5
#: The plans that were recorded.
_RECORDED = ("roll", "upgrade", "scale", "kill")
#: Plans that are rolling restarts.
_ROLLS = ("roll", "upgrade")
#: Errors of durations of groups of other machines: least and greatest share of the prediction, and further seconds of
#: each step.
_FOREIGN_DURATION = (0.85, 1.15, 1.5)
_RESTORING = "restoring"
#: Share of the task-seconds from which restoring counts as their cause, and the same for a session timeout.
_RESTORING_SHARE, _SESSION_SHARE = 0.25, 0.5
#: To open a complete copy takes less than this for each task, and counts as restoring, too.
_RESTORING_SECONDS = 1.0


@attrs.frozen
class Widening:
    """Measured errors of one form of change.

    Args:
        errors: Figure to the shares of it by which an interval grows: at its lower end, and at its upper one.
        longest_seconds: The longest recorded absence of a task.
    """

    errors: Mapping[str, tuple[float, float]]
    longest_seconds: float
    recordings: int
    steps: int


def form_of(protocol: str, plan: str, step: StepRange) -> str:
    """The form of a change: the main cause of its absences.

    Args:
        protocol: ``classic`` or ``streams``.
    """
    spent_on = step.spent_on
    total, restoring = sum(spent_on.values()), spent_on.get("restoring", 0.0)
    # In a roll under the streams protocol the broker moves tasks away and back: restoring is a part of that.
    is_moved = protocol == STREAMS and plan in _ROLLS
    restores = restoring >= _RESTORING_SHARE * total and restoring > _RESTORING_SECONDS * step.tasks.median
    if restores and not is_moved:
        return _RESTORING
    waited = spent_on.get("session timeout", 0.0) + spent_on.get("process restart", 0.0)
    if total and waited >= _SESSION_SHARE * total:
        return "restart in place" if plan in _ROLLS else "lost member"
    return f"moves, {protocol} protocol"


def form_of_change(protocol: str, plan: Plan, step: StepRange) -> str:
    """The form of a change among those of other groups, and of the group's own past."""
    return foreign_form(protocol, plan, restores=form_of(protocol, plan.name, step) == _RESTORING)


def calibrated(
    prediction: Prediction,
    protocol: str,
    plan: Plan,
    calibration: Mapping[str, Widening] | None = None,
    past: PastRecord | None = None,
    foreign: Mapping[str, Ratios] | None = None,
) -> Prediction:
    """The prediction with intervals that hold the truth in 90 % of recorded changes.

    Args:
        calibration: Form of change to its errors on the recordings' own machine; ``None``: the group is another one.
        past: The group's own past changes, which widen or narrow the intervals.
        foreign: Form of change to the ratios of other groups; ``None``: those of the distribution.
    """

    def of_step(step: StepRange) -> StepRange:
        form = form_of(protocol, plan.name, step)
        plays = {name: getattr(step, name) for name in FIGURES}
        if calibration is not None:
            known = calibration.get(form)
            errors = {} if known is None else known.errors
            widened = {name: widening_of(plays[name], *errors.get(name, (0.0, 0.0))) for name in FIGURES}
        else:
            known = shipped_calibration().get(form)
            ratios = foreign_ratios(form_of_change(protocol, plan, step), foreign)
            widened = {name: of_foreign(plays[name], name, ratios) for name in FIGURES}
            plays = {name: ratios.counted(figure, name) for name, figure in plays.items()}
        if past is not None:
            of = form_of_change(protocol, plan, step)
            widened = {name: past.adjusted(name, plan.name, plays[name], usual, of) for name, usual in widened.items()}
        return _step(step, form, plan, known, widened, past)

    return attrs.evolve(
        prediction,
        steps=tuple(map(of_step, prediction.steps)),
        total=of_step(prediction.total),
        duration_seconds=_duration(prediction, plan) if calibration is None else prediction.duration_seconds,
    )


def adjusted_by_past(of_plays: Prediction, usual: Prediction, plan: Plan, past: PastRecord | None) -> Prediction:
    """The prediction of a group of workers or consumers with intervals that its own past widens or narrows.

    Args:
        of_plays: With the intervals of the plays.
        usual: With those of a group without a past.
    """
    if past is None:
        return usual

    def of_step(played: StepRange, step: StepRange) -> StepRange:
        worst, every = (past.adjusted(name, plan.name, getattr(played, name), getattr(step, name)) for name in FIGURES)
        reasons = (*step.poorly_known, *past.doubts)
        return attrs.evolve(step, worst_task_seconds=worst, task_seconds=every, poorly_known=reasons)

    steps = tuple(map(of_step, of_plays.steps, usual.steps))
    return attrs.evolve(usual, steps=steps, total=of_step(of_plays.total, usual.total))


def _duration(prediction: Prediction, plan: Plan) -> Range:
    """The duration with the errors of foreign groups: a busy machine is late in each step."""
    of = prediction.duration_seconds
    least, greatest, more_s = _FOREIGN_DURATION
    high = greatest * of.median + more_s * len(plan.steps)
    return Range(of.median, min(of.low, least * of.median), max(of.high, high))


def _step(
    step: StepRange,
    form: str,
    plan: Plan,
    known: Widening | None,
    widened: Mapping[str, Range],
    past: PastRecord | None,
) -> StepRange:
    unrecorded = _unrecorded(plan)
    unrecorded += () if past is None else past.doubts
    if known is None:
        reasons: tuple[str, ...] = (f"no recorded change is of this form: {form}", *unrecorded)
    else:
        reasons = (*_doubts(step, form, known, widened), *unrecorded)
    return attrs.evolve(
        step,
        worst_task_seconds=widened["worst_task_seconds"],
        task_seconds=widened["task_seconds"],
        poorly_known=reasons,
    )


def widening_of(figure: Range, below: float, above: float) -> Range:
    """A range that grows by shares of its median at its lower and its upper end, and not below zero."""
    by = max(figure.median, LEAST_SECONDS)
    return Range(figure.median, max(0.0, figure.low - below * by), figure.high + above * by)


def _unrecorded(plan: Plan) -> tuple[str, ...]:
    actions = [action for step in plan.steps for action in step.actions]
    if plan.name not in _RECORDED:
        return (f"no recorded change is of this kind: {plan.name}",)
    if any(action.type == "surge" for action in actions):
        return ("no recorded change starts successors first",)
    if any(action.is_stuck for action in actions):
        return ("no recorded change has a step that never becomes ready",)
    if plan.name in _ROLLS and any(action.type == "kill" for action in actions):
        return ("no recorded rolling restart has a crash",)
    if plan.name in _ROLLS and any(action.replace for action in actions):
        return ("no recorded rolling restart has processes without their state",)
    return ()


def _doubts(step: StepRange, form: str, known: Widening, widened: Mapping[str, Range]) -> list[str]:
    worst = widened["worst_task_seconds"]
    doubts = []
    if step.restored_bytes is None:
        doubts.append("sizes of the restored state are unknown: give them with --workload")
    if worst.high - worst.low > max(worst.median, LEAST_SECONDS):
        doubts.append(
            f"the interval is wider than the prediction: recorded changes of this form ({form}, {known.steps} steps) "
            "differ much from their predictions"
        )
    if worst.median > _BEYOND * known.longest_seconds:
        doubts.append(
            f"the worst task is away for {worst.median:.1f} s, and no recorded one of this form ({form}) for more than "
            f"{known.longest_seconds:.1f} s"
        )
    return doubts


@cache
def shipped_calibration() -> Mapping[str, Widening]:
    return widenings_in(shipped_forms())


def widenings_in(forms: Mapping[str, Mapping[str, Any]]) -> dict[str, Widening]:
    """Form of change to its errors, from the document of the distribution."""
    return {
        form: Widening(
            {name: (below, above) for name, (below, above) in entry["errors"].items()},
            entry["longest_seconds"],
            entry["recordings"],
            entry["steps"],
        )
        for form, entry in forms.items()
    }
