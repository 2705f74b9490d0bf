"""The past of a group as one thing: its decisions by time, what each changed, and who was given what when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.capture.histories.connect_timeline import connect_lanes, connect_timelines, is_connect_past
from assignor_lab.capture.histories.given import given_tasks
from assignor_lab.capture.histories.history import History
from assignor_lab.capture.histories.moments import Moment, moment_of, protocol_of
from assignor_lab.capture.histories.timeline import ACTIVE_TASKS, TimelineEntry, timeline_of
from assignor_lab.documents.errors import Place
from assignor_lab.documents.values import value_of
from assignor_lab.report.pictures import Gantt
from assignor_lab.scenarios import Scenario

__all__ = ["Decision", "Past", "pasts_of"]

#: Decisions of which a past is made: of more, the states alone are listed.
MOST_DECISIONS = 1_000
_HINT = "this is a mistake of the page: say how it came about"


@attrs.frozen
class Decision:
    """One decision of a past.

    Args:
        state: Number of its state in the source, from 0.
        round: Its round in that state; ``None``: the state is the decision.
        entry: When it was, who had come and gone, why, and what moved.
    """

    state: int
    round: int | None
    entry: TimelineEntry


@attrs.frozen(eq=False)
class Past:
    """The recorded decisions of one group, by time.

    Args:
        group: The group; empty if the source does not tell.
        moves: What moves: ``active tasks``, or ``jobs``, which have no copies.
        decisions: Its decisions, at least two.
        gantt: Who was given which task, from one decision to the next; times count from the first one.
        members: When each worker was a member, likewise; ``None``: that is not drawn.
        can_be_played: Whether it can be played again: a group of Connect is asked round by round.
    """

    group: str
    moves: str
    decisions: tuple[Decision, ...]
    gantt: Gantt
    members: Gantt | None = None
    can_be_played: bool = True

    def position(self, state: int, round_: int | None = None) -> int | None:
        """Which of the decisions a state is, from 0; ``None``: none of them."""
        found = (at for at, each in enumerate(self.decisions) if each.state == state and each.round in (None, round_))
        return next(found, None)


def pasts_of(scenarios: Sequence[Scenario]) -> tuple[Past, ...]:
    """The pasts of the groups whose recorded decisions are among some states, in the order of their beginnings."""
    return tuple(
        sorted((*_of_streams(scenarios), *_of_connect(scenarios)), key=lambda past: past.decisions[0].entry.time_ms)
    )


def _of_streams(scenarios: Sequence[Scenario]) -> Iterator[Past]:
    found: dict[tuple[str, str], list[tuple[Moment, int]]] = {}
    for state, scenario in enumerate(scenarios):
        document = scenario.document
        protocol, source = protocol_of(document), document.get("source") or {}
        if protocol is not None and "observed" in document and "time_ms" in source:
            found.setdefault((protocol, source.get("group", "")), []).append((moment_of(document), state))
    if sum(map(len, found.values())) > MOST_DECISIONS:
        return
    for (protocol, group), decisions in found.items():
        if len(decisions) > 1:
            decisions.sort(key=lambda each: each[0].time_ms)
            history = History(group, protocol, tuple(moment for moment, _ in decisions), Place(group))
            entries = zip(decisions, timeline_of(history), strict=True)
            told = tuple(Decision(state, None, entry) for (_, state), entry in entries)
            yield Past(group, ACTIVE_TASKS, told, _gantt(given_tasks(history.moments)))


def _of_connect(scenarios: Sequence[Scenario]) -> Iterator[Past]:
    found: dict[str, list[tuple[Mapping[str, Any], int]]] = {}
    rounds = 0
    for state, scenario in enumerate(scenarios):
        document = scenario.document
        if is_connect_past(document):
            rounds += len(document["rounds"])
            found.setdefault((document.get("source") or {}).get("group") or document["id"], []).append(
                (document, state)
            )
    if rounds > MOST_DECISIONS:
        return
    for of in found.values():
        of.sort(key=lambda each: each[0]["rounds"][0]["time_ms"])
        documents = [document for document, _ in of]
        (timeline,) = connect_timelines(documents)
        places = [
            (state, number)
            for document, state in of
            for number, _ in enumerate(zip(document["rounds"], document["observed"]["rounds"], strict=False))
        ]
        if len(places) > 1:
            told = tuple(
                Decision(state, number, entry) for (state, number), entry in zip(places, timeline.entries, strict=True)
            )
            members, jobs = map(_gantt, connect_lanes(documents))
            yield Past(timeline.group, timeline.moves, told, jobs, members, can_be_played=False)


def _gantt(drawn: Mapping[str, Any]) -> Gantt:
    made: Gantt = value_of(Gantt, _HINT)(drawn)
    return made
