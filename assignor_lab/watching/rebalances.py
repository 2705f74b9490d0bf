"""Recorded rebalances and events of a group of any kind, in the form that the rules read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

import attrs

from assignor_lab.capture.edges.moments import LEAST_PROBING_MS
from assignor_lab.capture.histories.timeline import TimelineEntry, timeline_of
from assignor_lab.model.decision import Decision
from assignor_lab.model.events import GroupEvent
from assignor_lab.model.history import ACTIVE_TASKS, JOBS, PARTITIONS, GroupHistory

__all__ = ["WatchedGroup", "WatchedRebalance", "watched_groups"]


@attrs.frozen(eq=False)
class WatchedRebalance:
    """One rebalance.

    Args:
        is_same_group: True if members, tasks and instances are those of the previous rebalance.
        since_ms: Time since the previous rebalance; 0 for the first one.
        decision: ``None`` in tests of rules that do not read it.
    """

    entry: TimelineEntry
    owners: Mapping[str, str]
    copies: frozenset[tuple[str, str]]
    unowned: frozenset[str]
    is_same_group: bool
    since_ms: int
    decision: Decision | None = None

    @property
    def is_late(self) -> bool:
        """Kafka's smallest probing interval or longer."""
        return self.since_ms >= LEAST_PROBING_MS

    @property
    def allowed_ms(self) -> int:
        """Announced time without owners."""
        return 0 if self.decision is None else self.decision.allowed_ms


@attrs.frozen(eq=False)
class WatchedGroup:
    """A group's past: its rebalances and its events, each by time; at least one of them.

    Args:
        is_empty: True if the latest sign of the group shows no members.
        moves: ``active tasks``, ``jobs`` or ``partitions``.
    """

    group: str
    protocol: str
    rebalances: tuple[WatchedRebalance, ...]
    events: tuple[GroupEvent, ...] = ()
    is_empty: bool = False
    moves: str = ACTIVE_TASKS

    @property
    def latest_ms(self) -> int:
        """Time of the latest rebalance or event."""
        times = [each.entry.time_ms for each in self.rebalances[-1:]]
        return max([*times, *(each.at.latest_ms for each in self.events[-1:])])


def watched_groups(histories: Iterable[GroupHistory]) -> list[WatchedGroup]:
    """In the order of the histories, without empty ones."""
    return [_watched(history) for history in histories if history.decisions or history.events]


def _watched(history: GroupHistory) -> WatchedGroup:
    made = []
    before: Decision | None = None
    for decision, entry in zip(history.decisions, timeline_of(history), strict=True):
        owners = decision.owners
        made.append(
            WatchedRebalance(
                entry,
                owners,
                decision.copies,
                frozenset((decision.tasks or frozenset()) - owners.keys()),
                before is not None and _is_same(before, decision, entry, history.moves),
                0 if before is None else decision.at.latest_ms - before.at.latest_ms,
                decision,
            )
        )
        before = decision
    protocol = history.protocols[-1] if history.protocols else ""
    return WatchedGroup(history.group, protocol, tuple(made), history.events, history.is_empty_now, history.moves)


def _is_same(before: Decision, decision: Decision, entry: TimelineEntry, moves: str) -> bool:
    if entry.joined or entry.gone or entry.restarted:
        return False
    if moves == JOBS:
        return before.tasks == decision.tasks
    if moves == PARTITIONS:
        # A partition that moves has no owner in every second cooperative decision.
        return _members(before) == _members(decision) and before.tasks == decision.tasks
    return _members(before) == _members(decision) and before.owners.keys() == decision.owners.keys()


def _members(decision: Decision) -> frozenset[str]:
    members = (each.members or {each.process_id or name} for name, each in decision.shares.items())
    return frozenset(chain.from_iterable(members))
