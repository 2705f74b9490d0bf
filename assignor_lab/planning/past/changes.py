"""The changes of a recorded past, each with the state before it and its downtime."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

import attrs

from assignor_lab.documents.wording import listed
from assignor_lab.model.streams_episodes import EpisodePast, EventDetails, StreamsEvent
from assignor_lab.planning.measured import GRACE_MS
from assignor_lab.planning.past_record import RecordedAway, RecordedBounds
from assignor_lab.planning.plans import Action, Plan, Starts, Step
from assignor_lab.scenarios import Scenario

__all__ = ["PastChange", "past_changes"]

#: A change that begins this soon after the end of another belongs to it: the steps of a roll.
_TOGETHER_MS = 10_000
#: A process that is back within this time is restarted in place.
_RESTART_MS = 30_000
_ENDS = ("stop", "crash")
#: Events of instances that a plan can have.
_KNOWN = (*_ENDS, "start", "lose_disk")
#: Facts of a start that a plan knows, too. The process id is drawn.
_OF_PLAN = ("threads", "rack", "tags", "host", "instance_id")


@attrs.frozen(eq=False)
class PastChange:
    """A change of a recorded past.

    Args:
        at_ms: Time of its first event.
        kind: ``roll``, ``scale``, ``kill`` or ``script``.
        state: The last decision before it.
        window_ms: Time until the next change, or until the end of the recording.
        shows_restoring: True if the recorded time includes restoring.
        is_over: False if it is the last one, and a probing rebalance is still to come.
        within_ms: The earliest and latest beginning of each step, as :attr:`~assignor_lab.planning.plans.Step.at_ms`.
    """

    at_ms: int
    kind: str
    instances: tuple[str, ...]
    state: Scenario
    plan: Plan
    away: RecordedAway
    window_ms: int
    shows_restoring: bool
    is_over: bool
    within_ms: Sequence[tuple[int, int]] = ()

    def drawn_plan(self, seed: str) -> Plan:
        """The plan with the moment of each step inside its recorded bounds; steps keep their order."""
        drawn = random.Random(f"moments {seed}")  # noqa: S311 - a simulation, not a secret
        steps, at_ms = [], 0
        for step, bounds in zip(self.plan.steps, self.within_ms, strict=True):
            at_ms = max(at_ms, drawn.randint(*bounds))
            steps.append(attrs.evolve(step, at_ms=at_ms))
        return attrs.evolve(self.plan, steps=tuple(steps))


@attrs.frozen
class _Event:
    time_ms: int
    earliest_ms: int
    latest_ms: int
    type: str
    name: str
    details: EventDetails


def past_changes(
    past: EpisodePast | None, decisions: Sequence[Scenario], start_ms: int | None, starts: Starts | None
) -> tuple[list[PastChange], list[str]]:
    """The changes of a past, the newest first, and a reason for each one that no plan can have.

    Args:
        past: ``None``: its source does not show when tasks were without an owner.
        decisions: Its decisions.
        start_ms: As in :class:`~assignor_lab.planning.plans.Plan`.
    """
    if past is None:
        return [], ["the source does not show when tasks were without an owner"]
    # Other metadata of topics change no instance; their rebalance is no step of a plan.
    events = [_event(each) for each in past.events if each.type != "metadata_changes"]
    clusters = _clusters(events, past.away)
    found: list[PastChange] = []
    reasons: list[str] = []
    for place, cluster in enumerate(clusters):
        first_ms = min(each.earliest_ms for each in cluster)
        last = place + 1 == len(clusters)
        end_ms = past.until_ms if last else min(each.earliest_ms for each in clusters[place + 1])
        state = _state_before(decisions, past.begin_ms + first_ms)
        if state is None:
            # The first start of a group is no change of it.
            continue
        if unknown := [each.type for each in cluster if each.type not in _KNOWN]:
            reasons.append(f"it has other events ({listed(sorted(set(unknown)))})")
            continue
        away = _away(past.away, cluster, first_ms, end_ms, past.until_ms)
        if away is None:
            reasons.append("it was not over at the end of the recording")
            continue
        kind, steps, within_ms = _steps(cluster)
        window_ms = max(1_000, end_ms - first_ms)
        plan = Plan(kind, steps, 0, start_ms, 0, (), goes_on=True, rest_within_ms=window_ms, starts=starts)
        names = tuple(dict.fromkeys(each.name for each in cluster))
        at_ms, is_over = past.begin_ms + first_ms, not last or past.is_settled
        found.append(
            PastChange(at_ms, kind, names, state, plan, away, window_ms, past.shows_restoring, is_over, within_ms)
        )
    return found[::-1], reasons


def _event(event: StreamsEvent) -> _Event:
    at_ms = event.at_ms
    earliest, latest = event.within_ms or (at_ms, at_ms)
    return _Event(at_ms, min(earliest, at_ms), max(latest, at_ms), event.type, event.client, event.details)


def _clusters(events: Iterable[_Event], away: Mapping[str, Sequence[tuple[int, int]]]) -> list[list[_Event]]:
    """Events that belong together: each begins while the change before it goes on, or shortly after that."""
    absences = sorted((begin, end) for intervals in away.values() for begin, end in intervals)
    found: list[list[_Event]] = []
    over_ms = 0
    for each in events:
        if not found or each.time_ms > over_ms + _TOGETHER_MS:
            found.append([])
            over_ms = each.time_ms
        found[-1].append(each)
        ends = [end for begin, end in absences if each.earliest_ms - GRACE_MS <= begin <= each.time_ms + _TOGETHER_MS]
        over_ms = max([over_ms, each.time_ms, *ends])
    return found


def _state_before(decisions: Sequence[Scenario], time_ms: int) -> Scenario | None:
    before = [
        each
        for each in decisions
        if each.observed is not None and (each.source or {}).get("time_ms", time_ms) < time_ms
    ]
    return before[-1] if before else None


def _away(
    tasks: Mapping[str, Sequence[tuple[int, int]]],
    cluster: Sequence[_Event],
    first_ms: int,
    end_ms: int,
    until_ms: int,
) -> RecordedAway | None:
    """``None`` if a task was still away at the end of the recording."""
    bounds = {each.time_ms: (each.earliest_ms, each.latest_ms) for each in cluster if each.type in _ENDS}
    lengths: list[tuple[int, int]] = []
    for intervals in tasks.values():
        for begin, end in intervals:
            if not first_ms - GRACE_MS <= begin < end_ms:
                continue
            if end >= until_ms:
                return None
            earliest, latest = bounds.get(begin, (begin, begin))
            lengths.append((end - min(latest, end), end - earliest))
    low, high = ([each[place] / 1000 for each in lengths] for place in (0, 1))
    return RecordedAway(
        RecordedBounds(max(low, default=0.0), max(high, default=0.0)), RecordedBounds(sum(low), sum(high))
    )


def _steps(cluster: Sequence[_Event]) -> tuple[str, tuple[Step, ...], tuple[tuple[int, int], ...]]:
    """The kind of a change, its steps at the recorded times, and the bounds of these times."""
    first_ms, steps, kinds = cluster[0].time_ms, [], set()
    earliest_ms, within_ms = min(each.earliest_ms for each in cluster), []
    lost = {each.name for each in cluster if each.type == "lose_disk"}
    events = [each for each in cluster if each.type != "lose_disk"]
    place = 0
    while place < len(events):
        each = events[place]
        following = events[place + 1] if place + 1 < len(events) else None
        back_ms = None if following is None else following.time_ms - each.time_ms
        comes_back = following is not None and following.type == "start" and following.name == each.name
        leave = each.details.leave
        if each.type == "start":
            kinds.add("scale")
            details = EventDetails(**{name: getattr(each.details, name) for name in _OF_PLAN})
            action = Action("add", each.name, details)
        elif comes_back and each.type == "stop" and back_ms is not None and back_ms <= _RESTART_MS:
            kinds.add("roll")
            action = Action("restart", each.name, leave=leave, replace=each.name in lost)
            place += 1
        elif comes_back and each.type == "crash":
            kinds.add("kill")
            action = Action("kill", each.name, replace=each.name in lost, back_after_ms=back_ms)
            place += 1
        elif following is None:
            kinds.add("kill" if each.type == "crash" else "scale")
            action = Action("kill" if each.type == "crash" else "remove", each.name, leave=leave)
        else:
            kinds.add("kill" if each.type == "crash" else "scale")
            action = Action("event", each.name, event=each.type)
        steps.append(Step(each.name, (action,), at_ms=each.time_ms - first_ms))
        within_ms.append((each.earliest_ms - earliest_ms, each.latest_ms - earliest_ms))
        place += 1
    return kinds.pop() if len(kinds) == 1 else "script", tuple(steps), tuple(within_ms)
