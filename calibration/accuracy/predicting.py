"""Predictions of recorded changes, each with constants of the other recordings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs

from assignment_api.plugins import Registry, config_sources
from assignor_lab.capture.edges.timelines import read_timeline
from assignor_lab.capture.timelines.constants import derive_constants
from assignor_lab.planning.instances import with_names
from assignor_lab.planning.naive import Naive, naive_estimate
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import Prediction, played_plan, predicted
from assignor_lab.planning.state import PresentState, present_state
from calibration.accuracy.changes import CAPTURES, RecordedChange, changes_of

__all__ = ["Predicted", "constants_without", "predicted_changes"]


@attrs.frozen(eq=False)
class Predicted:
    """A recorded change and its prediction."""

    change: RecordedChange
    prediction: Prediction
    naive: tuple[Naive, ...]


def predicted_changes(registry: Registry, names: Sequence[str], plays: int, seed: int) -> list[Predicted]:
    return [_predicted(change, registry, plays, seed) for name in names for change in changes_of(name)]


def _predicted(change: RecordedChange, registry: Registry, plays: int, seed: int) -> Predicted:
    terms = Terms(registry, config_sources(environ={}), change.settings, constants_without(change.recording))
    state = _state(change, terms)
    played = [played_plan(state, change.plan, registry, terms.sources, f"{seed}-{number}") for number in range(plays)]
    prediction = predicted(played, [step.name for step in change.plan.steps])
    return Predicted(
        change, prediction, tuple(_naive_step(state, change.plan, place) for place in range(len(played[0].steps)))
    )


def _naive_step(state: PresentState, plan: Plan, place: int) -> Naive:
    return naive_estimate(state, attrs.evolve(plan, steps=plan.steps[place : place + 1]))


def _state(change: RecordedChange, terms: Terms) -> PresentState:
    with TemporaryDirectory() as folder:
        workload = None
        if change.workload is not None:
            workload = Path(folder) / "workload.json"
            workload.write_text(json.dumps(change.workload), encoding="utf-8")
        state = present_state(change.state, terms.settings, terms.timings, workload)
    names = list(dict.fromkeys(action.name for step in change.plan.steps for action in step.actions))
    return with_names(state, names)[0]


@cache
def constants_without(name: str) -> dict[str, int]:
    """The constants of the simulation, derived without one recording. The runs of ``plans`` are in none.

    Those of the same application come first. Other applications give missing ones.
    """
    same = [read_timeline(CAPTURES / "downtime" / each / "timeline.json.gz") for each in "ABCDF" if each != name]
    others = [
        read_timeline(file)
        for kind in ("classic", "group")
        for file in sorted((CAPTURES / "timelines").glob(f"*-{kind}*.json.gz"))
    ]
    return {each.name: each.value for timelines in ([*same, *others], same) for each in derive_constants(timelines)}
