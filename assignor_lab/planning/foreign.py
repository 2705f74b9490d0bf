"""Intervals for groups of other applications and machines than the recorded ones, by the form of the change.

Changes of other groups are the past of a group without one: the ratios *measured / predicted* of changes of the same
form. ``python -m calibration.accuracy.foreign`` measures them and writes them to ``calibration.json``.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignor_lab.capture.edges.moments import STREAMS
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predicted import Range
from assignor_lab.planning.shipped import shipped_foreign

__all__ = ["ANY", "Ratios", "foreign_form", "foreign_ratios", "of_foreign"]

#: Form of all changes together, for forms that no group has shown.
ANY = "any change"
#: Share by which the ends of the plays move: 10 or 20 plays do not show the rarest ones.
_ENDS = 0.05
#: Absences below half a second do not count, and seconds of inferred moments are rounded.
_PRECISION_S: Mapping[str, float] = {"worst_task_seconds": 0.3, "task_seconds": 1.0}
_ENDING = ("restart", "remove", "kill")
_ROLLS = ("roll", "upgrade")


@attrs.frozen
class Ratios:
    """Least and greatest ratio *measured / predicted* of a form of change.

    Args:
        groups: Groups and recordings behind them.
        spread: Share of the spread of plays around their median that counts, of the worst task and of the sum.
    """

    worst_task_seconds: tuple[float, float]
    task_seconds: tuple[float, float]
    groups: int
    spread: tuple[float, float] = (1.0, 1.0)

    @classmethod
    def from_mapping(cls, entry: Mapping[str, tuple[float, float] | int]) -> Ratios:
        return cls(**entry)  # type: ignore[arg-type]

    def counted(self, figure: Range, name: str) -> Range:
        """The part of the plays' range that counts."""
        share = self.spread[name == "task_seconds"]
        low, high = (figure.median + share * (end - figure.median) for end in (figure.low, figure.high))
        return Range(figure.median, low, high)


def foreign_form(protocol: str, plan: Plan, *, restores: bool) -> str:
    """The form of a change, by what is done: a roll, the loss of a member, or another move of tasks.

    Args:
        protocol: ``classic`` or ``streams``.
        restores: True if restoring is the main cause of the absences.
    """
    if restores:
        return "restoring"
    if plan.name in _ROLLS:
        return f"roll, {protocol} protocol"
    actions = [action for step in plan.steps for action in step.actions]
    ends = any(not each.leave and (each.type in _ENDING or each.event in ("stop", "crash")) for each in actions)
    # A member of the streams protocol that stops leaves its group at once.
    return f"lost member, {protocol} protocol" if ends and protocol != STREAMS else f"moves, {protocol} protocol"


def foreign_ratios(form: str, measured: Mapping[str, Ratios] | None = None) -> Ratios:
    """The ratios of a form; those of all changes if no group has shown it.

    Args:
        measured: Form to its ratios; ``None``: those of the distribution.
    """
    known = shipped_ratios() if measured is None else measured
    return known.get(form, known[ANY])


def shipped_ratios() -> Mapping[str, Ratios]:
    return {form: Ratios.from_mapping(entry) for form, entry in shipped_foreign().items()}


def of_foreign(figure: Range, name: str, ratios: Ratios, later: float = _ENDS) -> Range:
    """A range that holds the errors of other groups, too. Tasks that are never away stay at zero.

    Args:
        name: ``worst_task_seconds`` or ``task_seconds``.
        later: Share by which the upper end of the plays moves.
    """
    if figure.high == 0.0:
        return figure
    least, greatest = getattr(ratios, name)
    by = max(figure.median, 1.0)
    precision = min(_PRECISION_S[name], figure.high)
    plays = ratios.counted(figure, name)
    low = min((1 - _ENDS) * plays.low - precision, figure.median - (1 - least) * by)
    high = max((1 + later) * plays.high + precision, figure.median + (greatest - 1) * by)
    return Range(figure.median, max(0.0, low), high)
