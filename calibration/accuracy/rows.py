"""Rows of the accuracy table: each recorded step beside its prediction, with intervals of the other recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import median

import attrs

from assignor_lab.planning.intervals import FIGURES, calibrated, form_of
from assignor_lab.planning.predicted import Range
from calibration.accuracy.conformal import calibration_of
from calibration.accuracy.predicting import Predicted

__all__ = ["ChangePair", "Figure", "StepRow", "choices", "rows_of", "summary"]

#: Least difference of two recorded changes that counts: in seconds, and as a share of the greater one.
_NOISE: Mapping[str, float] = {"worst_task_seconds": 3.0, "task_seconds": 12.0}
_NOISE_SHARE = 0.25
#: A prediction is far off beyond both this share of the truth and these seconds.
_FAR_SHARE, _FAR_SECONDS = 0.5, 3.0
_GOOD_SECONDS = 1.0


@attrs.frozen
class Figure:
    """One figure of one step.

    Args:
        naive: The naive estimate; ``None`` without sizes.
    """

    truth: float
    predicted: Range
    naive: float | None

    @property
    def error(self) -> float:
        return (self.predicted.median - self.truth) / self.truth if self.truth else 0.0

    @property
    def is_covered(self) -> bool:
        return self.predicted.low <= self.truth <= self.predicted.high

    @property
    def is_far(self) -> bool:
        off = abs(self.predicted.median - self.truth)
        return off > _FAR_SHARE * self.truth and off > _FAR_SECONDS

    @property
    def width(self) -> float:
        """As a share of the prediction."""
        return (self.predicted.high - self.predicted.low) / max(self.predicted.median, 0.001)

    @property
    def beats_naive(self) -> bool:
        """Closer than the naive estimate, or within a second of the truth."""
        off = abs(self.predicted.median - self.truth)
        return self.naive is None or off <= _GOOD_SECONDS or off <= abs(self.naive - self.truth)


@attrs.frozen
class StepRow:
    """One recorded step.

    Args:
        figures: Worst task and all tasks together.
        poorly_known: Reasons why the prediction is uncertain.
    """

    recording: str
    kind: str
    words: str
    phase: str
    form: str
    figures: Mapping[str, Figure]
    poorly_known: tuple[str, ...]

    @property
    def worst(self) -> Figure:
        return self.figures["worst_task_seconds"]

    @property
    def all_tasks(self) -> Figure:
        return self.figures["task_seconds"]


def rows_of(predicted: Sequence[Predicted]) -> list[StepRow]:
    found = []
    for each in predicted:
        change = each.change
        others = calibration_of([other for other in predicted if other.change.recording != change.recording])
        prediction = calibrated(each.prediction, change.protocol, change.plan, others)
        for step, recorded, naive in zip(prediction.steps, change.steps, each.naive, strict=True):
            figures = {
                name: Figure(getattr(recorded, name), getattr(step, name), getattr(naive, name)) for name in FIGURES
            }
            form = form_of(change.protocol, change.plan.name, step)
            found.append(
                StepRow(change.recording, change.kind, change.words, recorded.phase, form, figures, step.poorly_known)
            )
    return found


def summary(rows: Sequence[StepRow], name: str) -> dict[str, float]:
    """Measured goals of one figure: counts, and medians as shares."""
    figures = [row.figures[name] for row in rows]
    return {
        "steps": len(rows),
        "median_error": median(abs(each.error) for each in figures),
        "covered": sum(each.is_covered for each in figures),
        "median_width": median(each.width for each in figures),
        "median_width_known": median(row.figures[name].width for row in rows if not row.poorly_known),
        "beats_naive": sum(each.beats_naive for each in figures) / len(figures),
        "far": sum(each.is_far for each in figures),
        "far_unmarked": sum(row.figures[name].is_far and not row.poorly_known for row in rows),
    }


@attrs.frozen
class ChangePair:
    """Two recorded changes of one kind that differ beyond noise.

    Args:
        one: A recording, its truth and its prediction.
    """

    kind: str
    figure: str
    one: tuple[str, float, float]
    other: tuple[str, float, float]

    @property
    def is_right(self) -> bool:
        return (self.one[1] < self.other[1]) == (self.one[2] < self.other[2])


def choices(rows: Sequence[StepRow]) -> list[ChangePair]:
    """Pairs of recordings of one series that differ beyond noise in a kind of change."""
    found = []
    for name in FIGURES:
        sums: dict[tuple[bool, str, str], dict[str, tuple[float, float]]] = {}
        for row in rows:
            figure = row.figures[name]
            # The steps of a roll are one choice.
            kind = "rolling restart" if row.kind == "roll" else row.phase.partition(" of ")[0]
            of_kind = sums.setdefault((row.recording.startswith("P"), kind, name), {})
            truth, predicted = of_kind.get(row.recording, (0.0, 0.0))
            joined = max if name == "worst_task_seconds" else _plus
            of_kind[row.recording] = joined(truth, figure.truth), joined(predicted, figure.predicted.median)
        for (_, kind, figure_name), by_recording in sums.items():
            for one, other in combinations(by_recording.items(), 2):
                if _differ(one[1][0], other[1][0], figure_name):
                    found.append(ChangePair(kind, figure_name, (one[0], *one[1]), (other[0], *other[1])))
    return found


def _plus(one: float, other: float) -> float:
    return one + other


def _differ(one: float, other: float, name: str) -> bool:
    return abs(one - other) > max(_NOISE[name], _NOISE_SHARE * max(one, other))
