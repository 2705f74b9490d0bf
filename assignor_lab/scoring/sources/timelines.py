"""Timelines of sources with pasts of groups: members that joined and left, and moves, decision by decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignor_lab.capture.histories.assigned_tasks import assigned_tasks
from assignor_lab.capture.histories.connect_timeline import connect_timelines, is_connect_past
from assignor_lab.capture.histories.history import DecisionHistory
from assignor_lab.capture.histories.moments import DecisionMoment, moment_of, protocol_of
from assignor_lab.capture.histories.timeline import GroupTimeline
from assignor_lab.documents.errors import Place
from assignor_lab.scenarios import Scenario

__all__ = ["SourceTimeline"]

#: Most decisions of a source with a timeline: more would give no overview.
_MOST = 500


@attrs.define
class SourceTimeline:
    """The timelines of one source, collected while its scenarios are read."""

    _moments: dict[tuple[str, str], list[DecisionMoment]] = attrs.field(init=False, factory=dict)
    _count: int = attrs.field(init=False, default=0)
    _connect: list[Mapping[str, Any]] = attrs.field(init=False, factory=list)
    _rounds: int = attrs.field(init=False, default=0)

    def add(self, scenario: Scenario) -> None:
        """Adds the next scenario; ignores one that is not a recorded decision with a time."""
        document = scenario.document
        if is_connect_past(document):
            self._rounds += len(document["rounds"])
            if self._rounds <= _MOST:
                self._connect.append(document)
            return
        protocol, source = protocol_of(document), document.get("source") or {}
        if protocol is None or "observed" not in document or "time_ms" not in source:
            return
        self._count += 1
        if self._count <= _MOST:
            # Drop the large document: the moment has everything that a timeline needs.
            moment = attrs.evolve(moment_of(document), document={})
            self._moments.setdefault((protocol, source.get("group", "")), []).append(moment)

    @property
    def decisions(self) -> int:
        return self._count

    def documents(self) -> tuple[dict[str, Any], ...]:
        """A timeline for each group with more than one decision, by their beginnings; none if there are too many."""
        if self._rounds <= _MOST and self._connect:
            return tuple(each.document() for each in connect_timelines(self._connect) if len(each.entries) > 1)
        if self._count > _MOST:
            return ()
        histories = [
            DecisionHistory(group, protocol, tuple(sorted(moments, key=lambda each: each.time_ms)), Place(group))
            for (protocol, group), moments in self._moments.items()
            if len(moments) > 1
        ]
        histories.sort(key=lambda history: history.moments[0].time_ms)
        return tuple(
            {**GroupTimeline.of(history).document(), "given": assigned_tasks(history.moments)} for history in histories
        )
