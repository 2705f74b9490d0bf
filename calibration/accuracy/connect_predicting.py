"""Predictions of recorded changes of Connect groups, each beside its truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import attrs

from assignment_api.plugins import Registry, config_sources
from assignor_lab.planning.connect_intervals import connect_calibrated, connect_form, connect_scale
from assignor_lab.planning.connect_machine import ConnectMachine
from assignor_lab.planning.connect_plan import ConnectContender, connect_plan, played_connect_plan
from assignor_lab.planning.connect_state import connect_state
from assignor_lab.planning.intervals import FIGURES, Widening
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import Prediction, predicted
from calibration.accuracy.conformal import Cluster, widening_of_clusters
from calibration.accuracy.connect_recordings import ConnectChange, connect_changes, machine_without, start_ms_before
from calibration.accuracy.rows import Figure

__all__ = [
    "HELD", "ConnectRow", "PredictedConnect", "connect_widenings", "covered", "machine_of", "predicted_connect",
    "rows_of_connect",
]  # fmt: skip

#: Required share of steps inside their intervals.
HELD = 0.8
#: The recorded workers' own settings; REST does not show them.
_SETTINGS: Mapping[str, int] = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 1_000}


@attrs.frozen(eq=False)
class PredictedConnect:
    """A recorded change and its predictions.

    Args:
        prediction: From the state alone, without widened intervals.
        known: The same with the first leader known; ``None``: the change is no roll.
    """

    change: ConnectChange
    prediction: Prediction
    known: Prediction | None


@attrs.frozen
class ConnectRow:
    """A recorded step, or all steps of a change.

    Args:
        step: Number of the step, or ``all``.
        figures: Worst task and all tasks together.
        rebalances: Recorded generations, and predicted ones.
        known: The figures if the first leader is known; ``None``: the change is no roll.
    """

    recording: str
    change: str
    step: str
    form: str
    figures: Mapping[str, Figure]
    rebalances: tuple[int, float]
    known: Mapping[str, Figure] | None

    @property
    def is_step(self) -> bool:
        return self.step != "all"


def predicted_connect(
    registry: Registry, folders: Sequence[Path], plays: int = 40, seed: int = 0
) -> list[PredictedConnect]:
    """Each change with the durations of the other recordings."""
    changes = [change for folder in folders for change in connect_changes(folder)]
    return [
        _predicted(
            change, registry, start_ms_before(changes, change), machine_without(changes, change.recording),
            plays, seed,
        )
        for change in changes
    ]  # fmt: skip


def machine_of(predicted_changes: Sequence[PredictedConnect]) -> ConnectMachine:
    """The durations of all recordings."""
    return machine_without([each.change for each in predicted_changes], None)


def connect_widenings(changes: Sequence[PredictedConnect], without: str | None = None) -> dict[str, Widening]:
    """Form of change to the errors of all recordings but one."""
    forms: dict[str, list[Cluster]] = {}
    for each in changes:
        if each.change.recording == without:
            continue
        by_form: dict[str, Cluster] = {}
        for step, recorded in zip(each.prediction.steps, each.change.steps, strict=True):
            cluster = by_form.setdefault(connect_form(step), Cluster(each.change.recording))
            cluster.add(step, recorded, partial(connect_scale, step))
        for form, cluster in by_form.items():
            forms.setdefault(form, []).append(cluster)
    return {form: widening_of_clusters(clusters) for form, clusters in sorted(forms.items())}


def rows_of_connect(changes: Sequence[PredictedConnect]) -> list[ConnectRow]:
    """A row for each step, and for all steps of a roll, with intervals of the other recordings."""
    return [row for each in changes for row in _rows(each, connect_widenings(changes, each.change.recording))]


def covered(rows: Sequence[ConnectRow], figure: str) -> tuple[int, int]:
    """Steps with a true value inside their intervals, and all steps."""
    steps = [row for row in rows if row.is_step]
    return sum(row.figures[figure].is_covered for row in steps), len(steps)


def _predicted(
    change: ConnectChange, registry: Registry, start_ms: int, machine: ConnectMachine, plays: int, seed: int
) -> PredictedConnect:
    terms = Terms(registry, config_sources(environ={}), _SETTINGS)
    options = attrs.evolve(change.options, start_ms=start_ms)
    state = connect_state(change.state, terms, options)
    plan = connect_plan(change.plan, change.subject, state, options)
    contender = ConnectContender("as it is", state, plan, terms, machine=machine)
    place = next((place for place in ("first", "last") if f"leader {place}" in change.name), "")
    known = _prediction(attrs.evolve(contender, leader=place), plays, seed) if place else None
    return PredictedConnect(change, _prediction(contender, plays, seed), known)


def _prediction(contender: ConnectContender, plays: int, seed: int) -> Prediction:
    played = [played_connect_plan(contender, f"{seed}-{number}") for number in range(plays)]
    return predicted(played, [step.name for step in contender.plan.steps])


def _rows(each: PredictedConnect, errors: Mapping[str, Widening]) -> Iterator[ConnectRow]:
    made = connect_calibrated(each.prediction, errors)
    known = None if each.known is None else connect_calibrated(each.known, errors)
    change = each.change
    for number, step in enumerate(change.steps):
        truth = {name: getattr(step, name) for name in FIGURES}
        yield ConnectRow(
            change.recording, change.name, f"{number + 1}", connect_form(made.steps[number]),
            _figures(truth, made, number), (step.rebalances, made.steps[number].rebalances.median),
            None if known is None else _figures(truth, known, number),
        )  # fmt: skip
    if len(change.steps) > 1:
        truth = {
            "worst_task_seconds": max(step.worst_task_seconds for step in change.steps),
            "task_seconds": sum(step.task_seconds for step in change.steps),
        }
        rebalances = sum(step.rebalances for step in change.steps), made.total.rebalances.median
        yield ConnectRow(
            change.recording, change.name, "all", connect_form(made.total), _figures(truth, made, None), rebalances,
            None if known is None else _figures(truth, known, None),
        )  # fmt: skip


def _figures(truth: Mapping[str, float], made: Prediction, number: int | None) -> dict[str, Figure]:
    step = made.total if number is None else made.steps[number]
    return {name: Figure(truth[name], getattr(step, name), None) for name in FIGURES}
