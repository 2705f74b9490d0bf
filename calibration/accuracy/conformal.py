"""Relative errors of predictions, and the quantiles that hold the truth in 90 % of new changes.

Each end leaves out 5 %. The steps of one plan are one cluster with the weight of one step. Of n clusters, the quantile
of 0.95 (n + 1) / n counts; the greatest error for fewer than 19. No interval becomes narrower than that of the plays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import attrs

from assignor_lab.planning.intervals import FIGURES, LEAST_SECONDS, Widening, form_of
from assignor_lab.planning.predicted import Range, StepRange
from calibration.accuracy.predicting import Predicted

__all__ = ["HELD", "Cluster", "calibration_of", "errors_of", "quantile", "widening_of_clusters"]

#: Share of new changes on the right side of one end.
HELD = 0.95


def calibration_of(predicted: Sequence[Predicted]) -> dict[str, Widening]:
    forms: dict[str, list[Cluster]] = {}
    for each in predicted:
        by_form: dict[str, Cluster] = {}
        for step, recorded in zip(each.prediction.steps, each.change.steps, strict=True):
            form = form_of(each.change.protocol, each.change.plan.name, step)
            by_form.setdefault(form, Cluster(each.change.recording)).add(step, recorded)
        for form, cluster in by_form.items():
            forms.setdefault(form, []).append(cluster)
    return {form: widening_of_clusters(clusters) for form, clusters in sorted(forms.items())}


def _scale(figure: Range) -> float:
    return max(figure.median, LEAST_SECONDS)


class Recorded(Protocol):
    """The truth of a step."""

    @property
    def task_seconds(self) -> float: ...

    @property
    def worst_task_seconds(self) -> float: ...


@attrs.define
class Cluster:
    """The steps of one plan that are of one form."""

    recording: str
    longest: float = 0.0
    errors: dict[str, list[tuple[float, float]]] = attrs.field(factory=dict)

    def add(self, step: StepRange, recorded: Recorded, scale: Callable[[Range], float] = _scale) -> None:
        self.longest = max(self.longest, recorded.worst_task_seconds)
        for name in FIGURES:
            figure = getattr(step, name)
            self.errors.setdefault(name, []).append(errors_of(figure, getattr(recorded, name), scale(figure)))


def errors_of(figure: Range, truth: float, scale: float | None = None) -> tuple[float, float]:
    """Distances of the truth below and above an interval, as shares of its median or of another scale."""
    share = _scale(figure) if scale is None else scale
    return max(0.0, figure.low - truth) / share, max(0.0, truth - figure.high) / share


def quantile(clusters: Sequence[Sequence[float]], held: float = HELD) -> float:
    """The error that holds the truth in this share of new clusters; the greatest one of few."""
    weighed = sorted((error, 1 / len(cluster)) for cluster in clusters for error in cluster)
    needed, passed = held * (len(clusters) + 1), 0.0
    for error, weight in weighed:
        passed += weight
        if passed >= needed - 1e-9:
            return error
    return weighed[-1][0]


def widening_of_clusters(clusters: Sequence[Cluster]) -> Widening:
    """The widening that holds the truth in 90 % of new changes of one form."""

    def end(name: str, place: int) -> float:
        return round(quantile([[each[place] for each in cluster.errors[name]] for cluster in clusters]), 4)

    return Widening(
        {name: (end(name, 0), end(name, 1)) for name in FIGURES},
        round(max(cluster.longest for cluster in clusters), 3),
        len({cluster.recording for cluster in clusters}),
        sum(len(cluster.errors[FIGURES[0]]) for cluster in clusters),
    )
