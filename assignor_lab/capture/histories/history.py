"""A history: recorded decisions of one group by time, from any source."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import pairwise

import attrs

from assignor_lab.capture.edges.decision_input import protocol_of
from assignor_lab.capture.edges.decisions import moment_of
from assignor_lab.capture.edges.moments import CLASSIC, DecisionMoment
from assignor_lab.capture.errors import HistoryError
from assignor_lab.documents.errors import Place
from assignor_lab.scenarios import Scenario

__all__ = ["DecisionHistory", "is_complete", "part_name", "read_histories"]

#: Decisions with one number within this time are the same.
_AT_ONCE_MS = 60_000


@attrs.frozen(eq=False)
class DecisionHistory:
    """Decisions of one group."""

    group: str
    protocol: str
    moments: tuple[DecisionMoment, ...]
    place: Place

    @property
    def gaps(self) -> list[tuple[int, int]]:
        """First and last generation of each: classic generations count up by one."""
        if self.protocol != CLASSIC:
            return []  # an epoch without a change of targets leaves no decision
        numbers = [moment.generation for moment in self.moments]
        return [
            (before + 1, after - 1)
            for before, after in pairwise(numbers)
            if before is not None and after is not None and after > before + 1
        ]


def part_name(group: str, protocol: str | None, several: Container[str]) -> str:
    """The group's name, with the protocol if the group is among those that changed it."""
    return f"{group} ({protocol})" if group in several else group


def is_complete(scenario: Scenario) -> bool:
    """Kafka's decision and its time are known."""
    document = scenario.document
    has_time = "time_ms" in (document.get("source") or {})
    return protocol_of(document) is not None and "observed" in document and has_time


def read_histories(scenarios: Iterable[Scenario]) -> list[DecisionHistory]:
    """One for each group, by start."""
    found: dict[tuple[str, str], list[tuple[Scenario, DecisionMoment]]] = {}
    for scenario in scenarios:
        _check(scenario)
        moment = moment_of(scenario.document)
        found.setdefault(
            (protocol_of(scenario.document) or "", scenario.document["source"].get("group", "")), []
        ).append((scenario, moment))
    made = []
    for (protocol, group), decisions in found.items():
        decisions.sort(key=lambda each: each[1].time_ms)
        _refuse_repeated(decisions)
        made.append(DecisionHistory(group, protocol, tuple(moment for _, moment in decisions), decisions[0][0].place))
    return sorted(made, key=lambda history: history.moments[0].time_ms)


def _refuse_repeated(decisions: Sequence[tuple[Scenario, DecisionMoment]]) -> None:
    """A group that was deleted and created again counts from 1, with other members."""
    seen: dict[int, tuple[Scenario, DecisionMoment]] = {}
    for scenario, moment in decisions:
        if moment.generation is None:
            continue
        before = seen.get(moment.generation)
        is_near = before is not None and moment.time_ms - before[1].time_ms < _AT_ONCE_MS
        if before is not None and is_near and _has_members_of(moment, before[1]):
            raise HistoryError(
                f"{scenario.place}: generation {moment.generation} is there already, at {before[0].place}: give each "
                "part of the past once"
            )
        seen[moment.generation] = scenario, moment


def _has_members_of(moment: DecisionMoment, other: DecisionMoment) -> bool:
    """True if unknown."""
    here, there = (
        frozenset().union(*(each.members for each in either.participants.values())) for either in (moment, other)
    )
    return not here or not there or not here.isdisjoint(there)


def _check(scenario: Scenario) -> None:
    document, place = scenario.document, scenario.place
    if protocol_of(document) is None:
        raise HistoryError(
            f"{place}: scenario {scenario.id!r:.80} is of kind {scenario.kind!r}: histories are made of decisions of "
            "Streams groups (kinds streams and streams-group)"
        )
    if "observed" not in document:
        raise HistoryError(
            f"{place}: scenario {scenario.id!r:.80} has no decision of Kafka (observed): it is a state, not a "
            "part of a history. assignor import and record make histories"
        )
    if "time_ms" not in document.get("source", {}):
        raise HistoryError(
            f"{place}: scenario {scenario.id!r:.80} has no time (source.time_ms), and a replay needs one. Use "
            "logs whose layout puts date and time before each message"
        )
