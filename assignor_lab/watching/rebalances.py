"""Recorded rebalances of a group of any kind, in the form that the rules read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import Any

import attrs

from assignor_lab.capture.histories.connect_timeline import connect_timelines, held_jobs, is_connect_past
from assignor_lab.capture.histories.evidence import LEAST_PROBING_MS
from assignor_lab.capture.histories.history import DecisionHistory, read_histories
from assignor_lab.capture.histories.moments import DecisionMoment, protocol_of
from assignor_lab.capture.histories.presence import instance_names
from assignor_lab.capture.histories.timeline import GroupTimeline, TimelineEntry
from assignor_lab.scenarios import Scenario

__all__ = ["WatchedRebalance", "WatchedGroup", "watched_groups"]


@attrs.frozen(eq=False)
class WatchedRebalance:
    """One rebalance.

    Args:
        is_same_group: True if members, tasks and instances are those of the previous rebalance.
        since_ms: Time since the previous rebalance; 0 for the first one.
        allowed_ms: Announced time without owners.
        document: The scenario of the decision; empty for Connect.
    """

    entry: TimelineEntry
    owners: Mapping[str, str]
    copies: frozenset[tuple[str, str]]
    unowned: frozenset[str]
    is_same_group: bool
    since_ms: int
    allowed_ms: int = 0
    document: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def is_late(self) -> bool:
        """Kafka's smallest probing interval or longer."""
        return self.since_ms >= LEAST_PROBING_MS


@attrs.frozen(eq=False)
class WatchedGroup:
    """A group's past; its rebalances by time, at least one."""

    group: str
    protocol: str
    rebalances: tuple[WatchedRebalance, ...]


def watched_groups(scenarios: Iterable[Scenario]) -> list[WatchedGroup]:
    streams, connect = [], []
    for each in scenarios:
        if protocol_of(each.document) is not None:
            streams.append(each)
        elif is_connect_past(each.document):
            connect.append(each.document)
    found = [*map(_of_streams, read_histories(streams)), *_of_connect(connect)]
    return sorted(found, key=lambda group: group.rebalances[0].entry.time_ms)


def _of_streams(history: DecisionHistory) -> WatchedGroup:
    names = instance_names(history.moments, ())
    made = []
    before: DecisionMoment | None = None
    for moment, entry in zip(history.moments, GroupTimeline.of(history).entries, strict=True):
        owners = {task: names[process] for process, (active, _) in moment.placed.items() for task in active}
        copies = {(task, names[process]) for process, (_, held) in moment.placed.items() for task in held}
        made.append(
            WatchedRebalance(
                entry,
                owners,
                frozenset(copies),
                frozenset((moment.evidence.tasks or frozenset()) - owners.keys()),
                before is not None and _members(before) == _members(moment) and _tasks(before) == _tasks(moment),
                0 if before is None else moment.time_ms - before.time_ms,
                document=moment.document,
            )
        )
        before = moment
    return WatchedGroup(history.group, history.protocol, tuple(made))


def _members(moment: DecisionMoment) -> frozenset[str]:
    return frozenset(chain.from_iterable(each.members or {each.process_id} for each in moment.participants.values()))


def _tasks(moment: DecisionMoment) -> frozenset[str]:
    return frozenset(task for active, _ in moment.placed.values() for task in active)


def _of_connect(documents: list[Mapping[str, Any]]) -> Iterator[WatchedGroup]:
    for timeline in connect_timelines(documents):
        own = [each for each in documents if timeline.group in (each.get("source", {}).get("group"), each["id"])]
        rounds = list(held_jobs(own))
        times = [each.time_ms for each in rounds]
        since = [0, *(after - before for before, after in pairwise(times))]
        made = []
        for number, (each, entry) in enumerate(zip(rounds, timeline.entries, strict=True)):
            owners = {job: worker for worker, jobs in each.held.items() for job in jobs}
            is_same = number > 0 and not (entry.joined or entry.gone or entry.restarted)
            is_same = is_same and each.wanted == rounds[number - 1].wanted
            unowned = frozenset(each.wanted - owners.keys())
            made.append(WatchedRebalance(entry, owners, frozenset(), unowned, is_same, since[number], each.delay_ms))
        yield WatchedGroup(timeline.group, timeline.protocol, tuple(made))
