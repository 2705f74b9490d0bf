"""The past of a group as one thing: its decisions by time, what each changed, and who was given which task when."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignor_lab.capture.histories.given import given_tasks
from assignor_lab.capture.histories.history import History
from assignor_lab.capture.histories.moments import Moment, moment_of, protocol_of
from assignor_lab.capture.histories.timeline import TimelineEntry, timeline_of
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
        entry: When it was, who had come and gone, why, and what moved.
    """

    state: int
    entry: TimelineEntry


@attrs.frozen(eq=False)
class Past:
    """The recorded decisions of one group, by time.

    Args:
        group: The group; empty if the source does not tell.
        decisions: Its decisions, at least two.
        gantt: Who was given which task, from one decision to the next; times count from the first one.
    """

    group: str
    decisions: tuple[Decision, ...]
    gantt: Gantt

    def position(self, state: int) -> int | None:
        """Which of the decisions a state is, from 0; ``None``: none of them."""
        return next((at for at, each in enumerate(self.decisions) if each.state == state), None)


def pasts_of(scenarios: Sequence[Scenario]) -> tuple[Past, ...]:
    """The pasts of the groups whose recorded decisions are among some states, in the order of their beginnings."""
    found: dict[tuple[str, str], list[tuple[Moment, int]]] = {}
    for state, scenario in enumerate(scenarios):
        document = scenario.document
        protocol, source = protocol_of(document), document.get("source") or {}
        if protocol is not None and "observed" in document and "time_ms" in source:
            found.setdefault((protocol, source.get("group", "")), []).append((moment_of(document), state))
    if sum(map(len, found.values())) > MOST_DECISIONS:
        return ()
    made = []
    for (protocol, group), decisions in found.items():
        if len(decisions) > 1:
            decisions.sort(key=lambda each: each[0].time_ms)
            history = History(group, protocol, tuple(moment for moment, _ in decisions), Place(group))
            entries = zip(decisions, timeline_of(history), strict=True)
            told = tuple(Decision(state, entry) for (_, state), entry in entries)
            made.append(Past(group, told, value_of(Gantt, _HINT)(given_tasks(history.moments))))
    return tuple(sorted(made, key=lambda past: past.decisions[0].entry.time_ms))
