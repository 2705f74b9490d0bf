"""The history of a group: its decisions and the events between them, recorded or played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from assignor_lab.model.decision import Decision
from assignor_lab.model.events import GroupDeleted, GroupEmptied, GroupEvent, GroupRefilled
from assignor_lab.model.identity import GroupInstance

__all__ = ["ACTIVE_TASKS", "JOBS", "PLAYED", "RECORDED", "GroupHistory", "GroupName", "HistoryEntry", "Outage"]

RECORDED, PLAYED = "recorded", "played"
#: Jobs have no copies.
ACTIVE_TASKS, JOBS = "active tasks", "jobs"

#: One row of a history.
HistoryEntry = Decision | GroupEvent


@attrs.frozen
class GroupName:
    """A group; it stays one over a change of protocol. ``cluster`` is ``None`` if unknown."""

    group: str
    cluster: str | None = None


@attrs.frozen
class Outage:
    """A time without members; ``until_ms`` is ``None`` while it lasts."""

    since_ms: int
    until_ms: int | None


@attrs.frozen
class GroupHistory:
    """The past of one group.

    Args:
        origin: ``recorded`` or ``played``.
        decisions: By time.
        events: By time; inferred ones by their latest possible time.
        instances: In the order of their first appearance.
        moves: ``active tasks``, or ``jobs`` of Connect workers.
    """

    name: GroupName
    origin: str
    decisions: tuple[Decision, ...]
    events: tuple[GroupEvent, ...] = ()
    instances: tuple[GroupInstance, ...] = ()
    moves: str = ACTIVE_TASKS

    @property
    def group(self) -> str:
        return self.name.group

    @property
    def protocols(self) -> tuple[str, ...]:
        """Without repetitions, by time."""
        return tuple(dict.fromkeys(each.protocol for each in self.decisions))

    def between(self, after: Decision | None, until: Decision) -> Iterator[GroupEvent]:
        """Events after a decision and until another; ``None``: from the beginning."""
        begin = None if after is None else after.at.latest_ms
        for each in self.events:
            if (begin is None or each.at.latest_ms > begin) and each.at.latest_ms <= until.at.latest_ms:
                yield each

    @property
    def entries(self) -> Sequence[HistoryEntry]:
        """Decisions and events by their latest time; an event precedes a decision of the same time."""
        rows: list[HistoryEntry] = [*self.events, *self.decisions]
        return sorted(rows, key=lambda each: (each.at.latest_ms, isinstance(each, Decision)))

    @property
    def outages(self) -> Iterator[Outage]:
        """Times without members, by start."""
        since: int | None = None
        for each in self.events:
            if isinstance(each, GroupEmptied | GroupDeleted):
                since = each.at.earliest_ms if since is None else since
            elif isinstance(each, GroupRefilled) and since is not None:
                yield Outage(since, each.at.latest_ms)
                since = None
        if since is not None:
            yield Outage(since, None)

    @property
    def is_empty_now(self) -> bool:
        """True if the latest sign of the group shows no members."""
        return any(each.until_ms is None for each in self.outages)
