"""The past of a group: its decisions over time, their changes, and the assigned tasks of each instance."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import attrs

from assignor_lab.capture.edges.decision_input import protocol_of
from assignor_lab.capture.edges.decisions import moment_of
from assignor_lab.capture.edges.moments import DecisionMoment
from assignor_lab.capture.histories.assigned_tasks import assigned_tasks
from assignor_lab.capture.histories.connect_rounds import connect_lanes, recorded_rounds
from assignor_lab.capture.histories.group_histories import (
    ReaderEvent,
    history_of_moments,
    history_of_partitions,
    history_of_rounds,
)
from assignor_lab.capture.histories.timeline import GroupTimeline, TimelineEntry, timeline_of
from assignor_lab.capture.recorded.partition_states import PartitionDecision, partition_decision
from assignor_lab.model.events import GroupEvent
from assignor_lab.model.history import GroupHistory
from assignor_lab.model.pictures import Gantt
from assignor_lab.scenarios import ConnectHistory, Scenario

__all__ = ["PastDecision", "PastView", "pasts_of"]

MOST_DECISIONS = 1_000


@attrs.frozen
class PastDecision:
    """One decision of a past; ``state`` is ``None`` under an earlier protocol of the group."""

    state: int | None
    round: int | None
    entry: TimelineEntry


@attrs.frozen(eq=False)
class PastView:
    """The recorded decisions of one group, by time.

    Args:
        can_be_played: False for a group of Connect, which is decided round by round.
        events: Those that no decision shows, by time.
    """

    group: str
    moves: str
    decisions: tuple[PastDecision, ...]
    gantt: Gantt
    members: Gantt | None = None
    can_be_played: bool = True
    events: tuple[GroupEvent, ...] = ()

    def position(self, state: int, round_: int | None = None) -> int | None:
        """Number of a state's decision among those with a state, from 0; ``None``: it is none of them."""
        own = [each for each in self.decisions if each.state is not None]
        found = (at for at, each in enumerate(own) if each.state == state and each.round in (None, round_))
        return next(found, None)


def pasts_of(
    scenarios: Sequence[Scenario], events: Sequence[ReaderEvent] = (), earlier: Sequence[Scenario] = ()
) -> tuple[PastView, ...]:
    """The pasts of the groups with recorded decisions among some states, in the order of their beginnings.

    Args:
        events: Of the readers. An event without a group belongs to the only past.
        earlier: Decisions under an earlier protocol of a group; they are no states of the source.
    """
    found = [
        *_of_streams(scenarios, events, earlier),
        *_of_connect(scenarios, events),
        *_of_partitions(scenarios, events),
    ]
    return tuple(sorted(found, key=lambda past: past.decisions[0].entry.time_ms))


def _own(group: str, groups: Collection[str], events: Sequence[ReaderEvent]) -> list[GroupEvent]:
    return [event for of, event in events if of == group or (of is None and len(groups) == 1)]


def _of_streams(
    scenarios: Sequence[Scenario], events: Sequence[ReaderEvent], earlier: Sequence[Scenario]
) -> Iterator[PastView]:
    found: dict[str, list[tuple[DecisionMoment, int | None]]] = {}
    for state, scenario in [*enumerate(scenarios), *((None, each) for each in earlier)]:
        document = scenario.document
        source = document.get("source") or {}
        if protocol_of(document) is not None and "observed" in document and "time_ms" in source:
            found.setdefault(source.get("group", ""), []).append((moment_of(document), state))
    if sum(map(len, found.values())) > MOST_DECISIONS:
        return
    for group, decisions in found.items():
        if len(decisions) > 1:
            decisions.sort(key=lambda each: each[0].time_ms)
            history = history_of_moments(group, [moment for moment, _ in decisions], _own(group, found, events))
            yield _view(history, [state for _, state in decisions])


def _of_partitions(scenarios: Sequence[Scenario], events: Sequence[ReaderEvent]) -> Iterator[PastView]:
    found: dict[str, list[tuple[PartitionDecision, int]]] = {}
    for state, scenario in enumerate(scenarios):
        if (decision := partition_decision(scenario.document)) is not None:
            found.setdefault(decision.group, []).append((decision, state))
    if sum(map(len, found.values())) > MOST_DECISIONS:
        return
    for group, decisions in found.items():
        if len(decisions) > 1:
            decisions.sort(key=lambda each: each[0].time_ms)
            history = history_of_partitions(group, [each for each, _ in decisions], _own(group, found, events))
            yield _view(history, [state for _, state in decisions])


def _view(history: GroupHistory, states: Sequence[int | None]) -> PastView:
    """A group's past with the number of the state of each decision; ``None``: the state is not shown."""
    entries = zip(states, timeline_of(history), strict=True)
    made = tuple(PastDecision(state, None, entry) for state, entry in entries)
    shown = GroupTimeline.of(history).own_events
    return PastView(history.group, history.moves, made, assigned_tasks(history), events=shown)


def _of_connect(scenarios: Sequence[Scenario], events: Sequence[ReaderEvent]) -> Iterator[PastView]:
    found: dict[str, list[tuple[ConnectHistory, int]]] = {}
    rounds = 0
    for state, scenario in enumerate(scenarios):
        past = recorded_rounds(scenario.content)
        if past is not None:
            rounds += len(past.rounds)
            found.setdefault((scenario.source or {}).get("group") or scenario.id, []).append((past, state))
    if rounds > MOST_DECISIONS:
        return
    for group, of in found.items():
        of.sort(key=lambda each: each[0].rounds[0].time_ms)
        history = history_of_rounds(group, [past for past, _ in of], _own(group, found, events))
        places = [(state, number) for past, state in of for number in range(min(len(past.rounds), len(past.recorded)))]
        if len(places) > 1:
            made = tuple(
                PastDecision(state, number, entry)
                for (state, number), entry in zip(places, timeline_of(history), strict=True)
            )
            members, jobs = connect_lanes(history.decisions)
            yield PastView(
                history.group, history.moves, made, jobs, members, False, GroupTimeline.of(history).own_events
            )
