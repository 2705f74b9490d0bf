"""The timeline of a history: time of each decision, changed members, reason, and moved tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from assignor_lab.capture.edges.moments import CLASSIC
from assignor_lab.capture.histories.reasons import inferred_reason
from assignor_lab.model.decision import Decision
from assignor_lab.model.events import (
    DecisionFailed,
    GroupEmptied,
    GroupEvent,
    GroupRefilled,
    InstanceRestartedInSession,
    RebalanceCompleted,
)
from assignor_lab.model.evidence import InferenceRule
from assignor_lab.model.history import ACTIVE_TASKS, JOBS, GroupHistory

__all__ = ["ACTIVE_TASKS", "JOBS", "GroupTimeline", "TimelineEntry", "event_document", "timeline_of"]

#: A decision's own entry shows the events that these rules infer from it.
_SHOWN_BY_DECISION = frozenset(
    {
        InferenceRule.ABSENT,
        InferenceRule.NEW,
        InferenceRule.NEW_MEMBERS,
        InferenceRule.THREADS,
        InferenceRule.TASKS,
        InferenceRule.INTERVAL_OVER,
        InferenceRule.CONNECTORS,
    }
)


@attrs.frozen
class TimelineEntry:
    """One decision of a history.

    Args:
        waited_ms: From the start of the rebalance to the decision.
        joined: None in the first decision.
        restarted: Instances whose members all have new ids.
        active_moved: Active tasks that move between two present instances.
        copies_made: New copies, except of tasks that were active there.
        reason: In the source; empty without one.
        active_taken_over: Active tasks of missing instances that others receive.
        inferred_reason: From this and the previous decision and the events between; empty if the source has one.
        missing: First and last missing generation before this one.
    """

    time_ms: int
    generation: int | None
    waited_ms: int | None
    instances: int
    members: int
    joined: tuple[str, ...]
    gone: tuple[str, ...]
    restarted: tuple[str, ...]
    active_moved: int
    copies_made: int
    followup: str
    reason: str
    missing: tuple[int, int] | None
    inferred_reason: str = ""
    active_taken_over: int = 0

    def document(self) -> dict[str, Any]:
        fields = attrs.asdict(self, recurse=False)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


@attrs.frozen
class GroupTimeline:
    """The past of a group of any kind, as views show it.

    Args:
        protocol: The latest one.
        protocols: All, by time.
        moves: ``active tasks``, or ``jobs``.
        events: All, by time.
    """

    group: str
    protocol: str
    moves: str
    entries: tuple[TimelineEntry, ...]
    events: tuple[GroupEvent, ...] = ()
    protocols: tuple[str, ...] = ()

    @classmethod
    def of(cls, history: GroupHistory) -> GroupTimeline:
        protocol = history.protocols[-1] if history.protocols else ""
        return cls(
            history.group, protocol, history.moves, tuple(timeline_of(history)), history.events, history.protocols
        )

    @property
    def own_events(self) -> tuple[GroupEvent, ...]:
        """Events that no decision's entry shows."""
        return tuple(each for each in self.events if each.evidence.rule not in _SHOWN_BY_DECISION)

    @property
    def rows(self) -> Sequence[TimelineEntry | GroupEvent]:
        """Decisions, and the events that none of them shows, by time."""
        rows: list[TimelineEntry | GroupEvent] = [*self.own_events, *self.entries]
        return sorted(rows, key=_order)

    def document(self) -> dict[str, Any]:
        decisions = [entry.document() for entry in self.entries]
        return {"group": self.group, "protocol": self.protocol, "moves": self.moves, "decisions": decisions}


def _order(row: TimelineEntry | GroupEvent) -> tuple[int, bool]:
    return (row.at.latest_ms, False) if isinstance(row, GroupEvent) else (row.time_ms, True)


def event_document(event: GroupEvent) -> dict[str, Any]:
    """Its type, its time as an interval, its evidence, and its own fields."""
    own = {key: value for key, value in attrs.asdict(event, recurse=False).items() if key not in ("at", "evidence")}
    evidence, place = event.evidence, event.evidence.place
    return {
        "type": event.type,
        "earliest_ms": event.at.earliest_ms,
        "latest_ms": event.at.latest_ms,
        **{key: list(value) if isinstance(value, tuple) else value for key, value in own.items()},
        "sentence": event.sentence,
        "evidence": {
            "kind": evidence.kind.value,
            "file": None if place is None else place.file,
            "line": None if place is None else place.line,
            "rule": None if evidence.rule is None else evidence.rule.name.lower(),
            "text": evidence.text,
        },
    }


def timeline_of(history: GroupHistory) -> list[TimelineEntry]:
    entries = []
    before: Decision | None = None
    for decision in history.decisions:
        entries.append(_entry(decision, before, tuple(history.between(before, decision)), history.moves))
        before = decision
    return entries


def _entry(decision: Decision, before: Decision | None, between: Sequence[GroupEvent], moves: str) -> TimelineEntry:
    here = decision.shares
    there = here if before is None else before.shares
    if any(isinstance(each, GroupRefilled) for each in between):
        # After an outage every instance is new to the group.
        there = {} if before is not None else there
    kept = {each.instance for each in between if isinstance(each, InstanceRestartedInSession)}
    ran, had = _held(before or decision)
    runs, has = _held(decision)
    processes = {each.process_id for each in here.values()}
    reason = "; ".join(each for each in (decision.reason, *decision.notes) if each)
    return TimelineEntry(
        time_ms=decision.at.latest_ms,
        generation=decision.number,
        waited_ms=None if decision.begun_ms is None else max(0, decision.at.latest_ms - decision.begun_ms),
        instances=len(here),
        members=decision.members,
        joined=tuple(sorted(here.keys() - there.keys())),
        gone=tuple(sorted(there.keys() - here.keys())),
        restarted=tuple(
            sorted(name for name in here.keys() & there.keys() - kept if not here[name].continues(there[name]))
        ),
        active_moved=decision.moved,
        copies_made=len(has - had - {(task, process) for task, process in ran.items()}),
        followup=decision.followup,
        reason=reason,
        missing=_missing(decision, before, between),
        inferred_reason="" if decision.reason else inferred_reason(decision, before, between, moves),
        active_taken_over=0 if moves == JOBS else sum(task in ran and ran[task] not in processes for task in runs),
    )


def _held(decision: Decision) -> tuple[dict[str, str | None], set[tuple[str, str | None]]]:
    """Process of each active task, and pairs of task and process for copies."""
    runs = {task: each.process_id for each in decision.shares.values() for task in each.active}
    return runs, {(task, each.process_id) for each in decision.shares.values() for task in each.copies}


def _missing(decision: Decision, before: Decision | None, between: Sequence[GroupEvent]) -> tuple[int, int] | None:
    """Epochs of the streams protocol without a decision are no gap, and neither are generations of events."""
    if before is None or decision.number is None or before.number is None:
        return None
    if not decision.protocol == before.protocol == CLASSIC:
        return None
    shown = {each.number for each in between if isinstance(each, GroupEmptied | DecisionFailed | RebalanceCompleted)}
    first, last = before.number + 1, decision.number - 1
    while first in shown:
        first += 1
    while last in shown:
        last -= 1
    return (first, last) if first <= last else None
