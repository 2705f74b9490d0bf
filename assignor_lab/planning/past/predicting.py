"""Predictions of past changes, each from the state before it, and their common record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import attrs

from assignment_api import AssignorLabError
from assignor_lab.documents.wording import plural
from assignor_lab.planning.in_processes import in_processes
from assignor_lab.planning.intervals import calibrated, form_of_change
from assignor_lab.planning.measured import GRACE_MS, PlayedPlan, cost_of
from assignor_lab.planning.past.changes import PastChange
from assignor_lab.planning.past_record import PastRecord, PredictedAway, PredictedChange
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import Prediction, RestlessGroupError, play_plan, predicted, range_of
from assignor_lab.planning.state import PresentState, present_state, under_configuration
from assignor_lab.simulation.streams.processing import RESTORING
from assignor_lab.verification.verified import Verification

__all__ = [
    "MOST_CHANGES", "PLAYS", "played_change", "predicted_change", "predicted_past", "prepared_change", "refused_past",
    "state_before", "without_contradicted",
]  # fmt: skip

#: Plays of a past change.
PLAYS = 10
#: Most changes that are predicted.
MOST_CHANGES = 8
#: Tasks of all plays together: of a large group, fewer changes are predicted.
_MOST = 60_000


@attrs.frozen
class _Away:
    """One play: its cost, and its time without an owner as the recording would show it, in seconds."""

    cost: PlayedPlan
    worst_task_seconds: float
    task_seconds: float


def refused_past(verification: Verification) -> PastRecord | None:
    """The record of a past whose decisions contradict the assignor; ``None`` if they do not.

    Decisions that only unknown lags explain refuse no past (:func:`without_contradicted`).
    """
    refused = [each for each in verification.refused if each.contradicted_ms is None]
    if not refused:
        return None
    group = refused[0]
    differ = group.checked - group.reproduced
    decisions = plural(group.checked, "decision")
    return PastRecord(refused=f"{differ} of {decisions} contradict the assignor, so its changes cannot be predicted")


def without_contradicted(
    changes: Sequence[PastChange], verification: Verification
) -> tuple[list[PastChange], list[str]]:
    """The changes before and after the decisions that only unknown lags explain, and a reason for each other one."""
    times = [at_ms for each in verification.refused for at_ms in each.contradicted_ms or ()]
    kept: list[PastChange] = []
    reasons: list[str] = []
    for each in changes:
        since_ms = (each.state.source or {}).get("time_ms", each.at_ms)
        if any(since_ms <= at_ms <= each.at_ms + each.window_ms for at_ms in times):
            reasons.append("only with current copies the assignor makes one of its decisions: its lags are unknown")
        else:
            kept.append(each)
    return kept, reasons


def predicted_past(
    changes: Sequence[PastChange],
    reasons: Sequence[str],
    prepared: Callable[[PastChange], tuple[int, Callable[[], PredictedChange]]],
    known: Mapping[int, PredictedChange],
    on_change: Callable[[], None] = lambda: None,
) -> PastRecord:
    """The record of a past: its changes with a prediction from the state before each.

    Args:
        changes: In any order.
        reasons: Of changes that no plan can have.
        prepared: Reads the state before a change: its number of tasks, and the prediction.
        known: Time of a change to its prediction in the ledger.
    """
    found: list[PredictedChange] = []
    failed = list(reasons)
    left, older = _MOST, 0
    for place, each in enumerate(sorted(changes, key=lambda each: -each.at_ms)):
        if (kept := known.get(each.at_ms)) is not None:
            found.append(kept)
            continue
        if place >= MOST_CHANGES:
            older += 1
            continue
        try:
            tasks, predict = prepared(each)
        except AssignorLabError as error:
            failed.append(str(error))
            continue
        left -= PLAYS * tasks
        if left < 0:
            older += 1
            continue
        try:
            found.append(predict())
        except AssignorLabError as error:
            failed.append(str(error))
        on_change()
    return PastRecord(tuple(found), older, tuple(failed))


def prepared_change(
    change: PastChange, terms: Terms, processes: int = 1, seed: int = 0
) -> tuple[int, Callable[[], PredictedChange]]:
    """The number of tasks before a change of a Streams group, and its prediction."""
    state = state_before(change, terms)
    return len(state.episode.tasks), partial(predicted_change, change, state, terms, processes, seed)


def state_before(change: PastChange, terms: Terms) -> PresentState:
    state = present_state(change.state, terms.settings, terms.timings, terms.workload)
    return under_configuration(state, terms.sources)


def predicted_change(
    change: PastChange,
    state: PresentState,
    terms: Terms,
    processes: int = 1,
    seed: int = 0,
) -> PredictedChange:
    """A past change with the prediction from the state before it.

    Raises:
        RestlessGroupError: if the state does not allow the change.
    """
    made = played_change(change, state, terms, processes, seed)
    protocol = state.episode.protocol
    total = calibrated(made, protocol, change.plan).total
    away = PredictedAway(total.worst_task_seconds, total.task_seconds)
    form = form_of_change(protocol, change.plan, made.total)
    return PredictedChange(change.at_ms, change.kind, change.instances, away, change.away, form)


def played_change(
    change: PastChange, state: PresentState, terms: Terms, processes: int = 1, seed: int = 0
) -> Prediction:
    """The figures of the plays of a past change, as its recording would show them.

    Raises:
        RestlessGroupError: if the state does not allow the change.
    """
    missing = [
        action.name
        for step in change.plan.steps
        for action in step.actions
        if action.type in ("restart", "remove", "kill") and action.name not in state.names
    ]
    started = {action.name for step in change.plan.steps for action in step.actions if action.type == "add"}
    if gone := [name for name in missing if name not in started]:
        raise RestlessGroupError(f"{change.state.place}: {gone[0]!r:.80} is no instance of the state before the change")
    plays = list(in_processes(partial(_play, change, state, terms, seed), PLAYS, processes))
    made = predicted([each.cost for each in plays], [step.name for step in change.plan.steps])
    total = attrs.evolve(
        made.total,
        worst_task_seconds=range_of([each.worst_task_seconds for each in plays]),
        task_seconds=range_of([each.task_seconds for each in plays]),
    )
    return attrs.evolve(made, total=total)


def _play(change: PastChange, state: PresentState, terms: Terms, seed: int, number: int) -> _Away:
    drawn = f"{seed}-{number}-past"
    played, conduct = play_plan(state, change.drawn_plan(drawn), terms.registry, terms.sources, drawn, terms.assignor)
    begin_ms = played.world.begin_ms + conduct.marks[0].at_ms
    left_out = "" if change.shows_restoring else RESTORING
    lengths = [
        sum(wait.length_ms for wait in interruption if wait.cause != left_out) / 1000
        for course in played.history.courses.values()
        for interruption in course.interruptions
        if begin_ms - GRACE_MS <= interruption[0].begin_ms < begin_ms + change.window_ms
    ]
    return _Away(cost_of(played, conduct), max(lengths, default=0.0), sum(lengths))
