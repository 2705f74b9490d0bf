"""Timelines of sources with pasts of groups: members that joined and left, and moves, decision by decision."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from assignor_lab.capture.edges.decision_input import protocol_of
from assignor_lab.capture.edges.decisions import moment_of
from assignor_lab.capture.edges.moments import DecisionMoment
from assignor_lab.capture.histories.assigned_tasks import assigned_tasks
from assignor_lab.capture.histories.connect_rounds import recorded_rounds
from assignor_lab.capture.histories.group_histories import (
    ReaderEvent,
    history_of_moments,
    history_of_partitions,
    history_of_rounds,
)
from assignor_lab.capture.histories.timeline import GroupTimeline
from assignor_lab.capture.recorded.partition_states import PartitionDecision, partition_decision
from assignor_lab.model.events import GroupEvent
from assignor_lab.model.pictures import Gantt
from assignor_lab.model.run_summary import PastTimeline, TimelineDecision, TimelineEvent
from assignor_lab.scenarios import ConnectHistory, Scenario

__all__ = ["SourceTimeline"]

#: Most decisions of a source with a timeline: more would give no overview.
_MOST = 500


@attrs.define
class SourceTimeline:
    """The timelines of one source, collected while its scenarios are read."""

    _moments: dict[str, list[DecisionMoment]] = attrs.field(init=False, factory=dict)
    _count: int = attrs.field(init=False, default=0)
    _connect: dict[str, list[ConnectHistory]] = attrs.field(init=False, factory=dict)
    _partitions: dict[str, list[PartitionDecision]] = attrs.field(init=False, factory=dict)
    _rounds: int = attrs.field(init=False, default=0)

    def add(self, scenario: Scenario) -> None:
        """Adds the next scenario; ignores one that is not a recorded decision with a time."""
        document = scenario.document
        if (past := recorded_rounds(scenario.content)) is not None:
            self._rounds += len(past.rounds)
            if self._rounds <= _MOST:
                self._connect.setdefault((scenario.source or {}).get("group") or scenario.id, []).append(past)
            return
        if (decision := partition_decision(document)) is not None:
            self._count += 1
            if self._count <= _MOST:
                self._partitions.setdefault(decision.group, []).append(decision)
            return
        source = document.get("source") or {}
        if protocol_of(document) is None or "observed" not in document or "time_ms" not in source:
            return
        self._count += 1
        if self._count <= _MOST:
            # Drop the large document: the moment has everything that a timeline needs.
            moment = moment_of(document).without_input()
            self._moments.setdefault(source.get("group", ""), []).append(moment)

    @property
    def decisions(self) -> int:
        return self._count

    def timelines(
        self, events: Sequence[ReaderEvent] = (), earlier: Sequence[Scenario] = ()
    ) -> tuple[PastTimeline, ...]:
        """A timeline for each group with more than one decision, by their beginnings; none if there are too many.

        Args:
            events: Of the readers. An event without a group belongs to the only group.
            earlier: Decisions under an earlier protocol of a group.
        """

        def own(group: str, groups: Collection[str]) -> list[GroupEvent]:
            return [event for of, event in events if of == group or (of is None and len(groups) == 1)]

        if self._rounds <= _MOST and self._connect:
            rounds = [
                history_of_rounds(group, parts, own(group, self._connect)) for group, parts in self._connect.items()
            ]
            rounds.sort(key=lambda history: history.decisions[0].at.latest_ms)
            return tuple(_timeline(GroupTimeline.of(each)) for each in rounds if len(each.decisions) > 1)
        if self._count > _MOST:
            return ()
        before: dict[str, list[DecisionMoment]] = {}
        for scenario in earlier[:_MOST]:
            before.setdefault((scenario.source or {}).get("group", ""), []).append(moment_of(scenario.document))
        histories = [
            history_of_moments(group, [*before.get(group, ()), *moments], own(group, self._moments))
            for group, moments in self._moments.items()
            if len(moments) > 1
        ]
        for group, decided in self._partitions.items():
            if len(decided) > 1:
                histories.append(history_of_partitions(group, decided, own(group, self._partitions)))
        histories.sort(key=lambda history: history.decisions[0].at.latest_ms)
        return tuple(_timeline(GroupTimeline.of(each), assigned_tasks(each)) for each in histories)


def _timeline(past: GroupTimeline, given: Gantt | None = None) -> PastTimeline:
    decisions = tuple(TimelineDecision(**attrs.asdict(entry, recurse=False)) for entry in past.entries)
    events = tuple(
        TimelineEvent(time_ms=each.at.latest_ms, type=each.type, sentence=each.sentence) for each in past.own_events
    )
    return PastTimeline(
        group=past.group, protocol=past.protocol, moves=past.moves, decisions=decisions, given=given,
        events=events or None,
    )  # fmt: skip
