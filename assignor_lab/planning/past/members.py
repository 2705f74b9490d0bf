"""Past changes of workers and consumers: recorded downtime by decisions, and plays that are measured alike.

A task is without an owner from the departure of its instance, or from the decision that takes it away, until the next
decision that gives it to an instance. Neither starts nor polls count, because records do not show them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Generic, TypeVar

import attrs

from assignment_api import AssignorLabError
from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.model.events import (
    GroupEvent,
    InstanceCrashed,
    InstanceRestarted,
    InstanceRestartedInSession,
    InstanceStarted,
)
from assignor_lab.model.history import GroupHistory
from assignor_lab.model.streams_episodes import EpisodePast, StreamsEvent
from assignor_lab.model.unowned import DEPARTURES, departure_bounds, unowned_between_decisions
from assignor_lab.planning.connect_intervals import connect_calibrated
from assignor_lab.planning.connect_plan import ConnectContender, cost_of_workers, play_connect_plan
from assignor_lab.planning.connect_state import ConnectState, connect_state, is_connect_state
from assignor_lab.planning.consumer_plan import ConsumerContender, cost_of_consumers, play_consumer_plan
from assignor_lab.planning.consumer_state import ConsumerState, consumer_state, is_consumer_state
from assignor_lab.planning.in_processes import in_processes
from assignor_lab.planning.making import Options
from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.past.changes import PastChange, past_changes
from assignor_lab.planning.past.predicting import PLAYS, predicted_past, refused_past
from assignor_lab.planning.past_record import LEAST_OF_ROUND, PastRecord, PredictedAway, PredictedChange
from assignor_lab.planning.plans import Action, Plan
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import Prediction, RestlessGroupError, predicted, range_of
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.verification.verified import Verification

__all__ = ["is_member_state", "record_of_members"]

#: Recorded bounds that differ by more than this share of the upper one show too little.
_TOO_WIDE = 0.5
S = TypeVar("S", ConnectState, ConsumerState)


def is_member_state(scenario: Scenario) -> bool:
    """True for a state of workers or consumers, whose members keep no state."""
    return is_connect_state(scenario) or is_consumer_state(scenario)


def record_of_members(
    decisions: Sequence[Scenario],
    verification: Verification,
    terms: Terms,
    options: Options | None = None,
    known: Mapping[int, PredictedChange] | None = None,
    processes: int = 1,
    seed: int = 0,
    *,
    only_over: bool = False,
) -> PastRecord | None:
    """The past changes of a group of workers or consumers with their predictions; ``None`` if there is none.

    Args:
        decisions: States of one group.
        known: Time of a change to its prediction in a ledger.
        only_over: Leaves out a last change after which a task still has no owner.
    """
    given = (decisions, verification, terms, options or Options(), known or {}, processes, seed, only_over)
    return _record(_WORKERS, *given) if is_connect_state(decisions[0]) else _record(_CONSUMERS, *given)


def _record(
    kind: _Kind[S],
    decisions: Sequence[Scenario],
    verification: Verification,
    terms: Terms,
    options: Options,
    known: Mapping[int, PredictedChange],
    processes: int,
    seed: int,
    only_over: bool,  # noqa: FBT001 - passed on
) -> PastRecord | None:
    complete = [each for each in decisions if each.observed is not None]
    states = [state for each in complete for state in kind.states(each)]
    histories = [each for each in group_histories(complete) if each.decisions]
    if len(histories) != 1 or not states:
        return None
    (history,) = histories
    try:
        session_ms = kind.session_ms(kind.read(states[-1], terms, options))
    except AssignorLabError:
        # Such a group has no plans: in a share group, partitions need no owner.
        return None
    found, reasons = past_changes(_past(history, session_ms), states, options.start_ms, options.starts)
    found = [each for each in found if each.is_over or not only_over]
    if not found and not reasons:
        return None
    if (refused := refused_past(verification)) is not None:
        return refused
    shown = [each for each in found if not _is_vague(each)]
    if len(shown) < len(found):
        reasons.append("the recording does not show when an instance went away")

    def prepared(change: PastChange) -> tuple[int, Callable[[], PredictedChange]]:
        state = kind.read(change.state, terms, options)
        change = _of_members(change, history, state.names)
        return len(history.decisions[-1].tasks or ()), partial(_predicted, kind, change, state, terms, processes, seed)

    return predicted_past(shown, reasons, prepared, known)


def _of_members(change: PastChange, history: GroupHistory, names: Sequence[str]) -> PastChange:
    """The change with the names of the state: those of static members, and member ids if the source has no others."""
    before = [each for each in history.decisions if each.at.latest_ms < change.at_ms]
    shares = before[-1].shares if before else {}
    members = {name: member for name, share in shares.items() for member in share.members if member in names}
    members |= {
        each.name: each.instance_id for each in history.instances if each.instance_id and each.instance_id in names
    }

    def renamed(action: Action) -> Action:
        return action if action.name in names else attrs.evolve(action, name=members.get(action.name, action.name))

    steps = [attrs.evolve(step, actions=tuple(map(renamed, step.actions))) for step in change.plan.steps]
    return attrs.evolve(change, plan=attrs.evolve(change.plan, steps=tuple(steps)))


def _is_vague(change: PastChange) -> bool:
    """True if nearly each prediction would lie inside the recorded bounds."""
    bounds = change.away.task_seconds
    return bounds.high - bounds.low > max(LEAST_OF_ROUND["task_seconds"], _TOO_WIDE * bounds.high)


# --- the recorded past --------------------------------------------------------------------------------------


def _past(history: GroupHistory, session_ms: int) -> EpisodePast:
    begin_ms = history.decisions[0].at.latest_ms
    until_ms = max(each.at.latest_ms for each in history.entries) + 1
    found = unowned_between_decisions(history, session_ms)
    away: dict[str, list[tuple[int, int]]] = {}
    for each in found:
        end_ms = until_ms if each.end_ms is None else each.end_ms
        away.setdefault(each.task, []).append((each.begin_ms - begin_ms, end_ms - begin_ms))
    events = [event for each in history.events for event in _events(each, begin_ms, session_ms)]
    events.sort(key=attrgetter("at_ms"))
    is_settled = all(each.end_ms is not None for each in found)
    return EpisodePast(begin_ms, until_ms - begin_ms, events, away, shows_restoring=False, is_settled=is_settled)


def _events(event: GroupEvent, begin_ms: int, session_ms: int) -> Iterator[StreamsEvent]:
    if isinstance(event, InstanceStarted):
        yield StreamsEvent(event.at.latest_ms - begin_ms, "start", event.instance)
    elif isinstance(event, DEPARTURES):
        since, until = (each - begin_ms for each in departure_bounds(event, session_ms))
        ended = "crash" if isinstance(event, InstanceCrashed) else "stop"
        if isinstance(event, InstanceRestartedInSession) and event.at.earliest_ms < event.at.latest_ms:
            yield StreamsEvent(since, ended, event.instance)
        else:
            yield StreamsEvent(until, ended, event.instance, within_ms=(since, until))
        if isinstance(event, InstanceRestarted | InstanceRestartedInSession):
            yield StreamsEvent(until, "start", event.instance)


# --- predictions --------------------------------------------------------------------------------------------


@attrs.frozen
class _Kind(Generic[S]):
    """The plays of workers, or of consumers.

    Args:
        states: A scenario as one state for each of its decisions.
        owners: Task to its instance, as a play begins; empty if the play decides first.
        play: The history of a play, the begin of its first step, and its cost.
    """

    states: Callable[[Scenario], Iterable[Scenario]]
    read: Callable[[Scenario, Terms, Options], S]
    session_ms: Callable[[S], int]
    owners: Callable[[S], Mapping[str, str]]
    play: Callable[[S, Plan, Terms, str], tuple[GroupHistory, int, PlayedPlan]]
    calibrated: Callable[[Prediction], Prediction]


def _predicted(
    kind: _Kind[S], change: PastChange, state: S, terms: Terms, processes: int, seed: int
) -> PredictedChange:
    started = {action.name for step in change.plan.steps for action in step.actions if action.type == "add"}
    for step in change.plan.steps:
        for action in step.actions:
            if action.name not in state.names and action.name not in started and action.type != "event":
                raise RestlessGroupError(
                    f"{change.state.place}: {action.name!r:.80} is no instance of the state before the change"
                )
    plays = list(in_processes(partial(_play, kind, change, state, terms, seed), PLAYS, processes))
    made = predicted([cost for cost, _ in plays], [step.name for step in change.plan.steps])
    lengths = [seconds for _, seconds in plays]
    total = attrs.evolve(
        made.total,
        worst_task_seconds=range_of([max(each, default=0.0) for each in lengths]),
        task_seconds=range_of([sum(each) for each in lengths]),
    )
    total = kind.calibrated(attrs.evolve(made, total=total)).total
    away = PredictedAway(total.worst_task_seconds, total.task_seconds)
    return PredictedChange(change.at_ms, change.kind, change.instances, away, change.away)


def _play(
    kind: _Kind[S], change: PastChange, state: S, terms: Terms, seed: int, number: int
) -> tuple[PlayedPlan, list[float]]:
    """The cost of a play, and the lengths of times without an owner in seconds."""
    drawn = f"{seed}-{number}-past"
    history, first_ms, cost = kind.play(state, change.drawn_plan(drawn), terms, drawn)
    found = unowned_between_decisions(history, kind.session_ms(state), kind.owners(state))
    until_ms = history.until_ms or first_ms
    return cost, [
        ((until_ms if each.end_ms is None else each.end_ms) - each.begin_ms) / 1000
        for each in found
        if first_ms <= each.begin_ms < first_ms + change.window_ms
    ]


def _as_rounds(scenario: Scenario) -> Iterator[Scenario]:
    """A Connect history cut after each of its decided rounds."""
    known, observed, history = scenario.document["rounds"], scenario.observed or {}, scenario.connect_history
    for place, (round_, recorded) in enumerate(zip(history.rounds, history.recorded, strict=False), 1):
        if recorded.answer is not None:
            source = {**(scenario.source or {}), "time_ms": round_.time_ms}
            answers = {**observed, "rounds": observed["rounds"][:place]}
            cut = {**scenario.document, "rounds": known[:place], "observed": answers, "source": source}
            yield scenario_from_document(cut, scenario.place)


def _played_workers(state: ConnectState, plan: Plan, terms: Terms, seed: str) -> tuple[GroupHistory, int, PlayedPlan]:
    contender = ConnectContender("past", state, plan, terms)
    cluster, marks, done_ms, rest_ms, failed = play_connect_plan(contender, seed)
    cost = cost_of_workers(cluster, marks, done_ms, rest_ms, failed)
    return cluster.history("", cluster.start_ms, cluster.now), marks[0], cost


def _played_consumers(
    state: ConsumerState, plan: Plan, terms: Terms, seed: str
) -> tuple[GroupHistory, int, PlayedPlan]:
    contender = ConsumerContender("past", state, plan, terms)
    play, marks, done_ms, rest_ms, failed = play_consumer_plan(contender, seed)
    return play.history(), marks[0], cost_of_consumers(play, marks, done_ms, rest_ms, failed)


def _owners_of_workers(state: ConnectState) -> dict[str, str]:
    return {str(task): name for name, (_, jobs) in state.episode.workers.items() for task in jobs.tasks}


def _owners_of_consumers(state: ConsumerState) -> dict[str, str]:
    return {
        f"{topic}-{number}": name
        for name, held in (state.episode.present or {}).items()
        for topic, numbers in held.items()
        for number in numbers
    }


def _session_of_consumers(state: ConsumerState) -> int:
    timings = state.episode.timings
    return timings.session_timeout_ms if state.protocol == "classic" else timings.group_session_timeout_ms


_WORKERS: _Kind[ConnectState] = _Kind(
    _as_rounds,
    connect_state,
    lambda state: state.episode.timings.session_timeout_ms,
    _owners_of_workers,
    _played_workers,
    connect_calibrated,
)
_CONSUMERS: _Kind[ConsumerState] = _Kind(
    lambda scenario: [scenario],
    consumer_state,
    _session_of_consumers,
    _owners_of_consumers,
    _played_consumers,
    lambda made: made,
)
