"""The past of a group in a sentence and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs

from assignor_lab.capture.histories.reasons import membership_words
from assignor_lab.capture.histories.timeline import ACTIVE_TASKS
from assignor_lab.documents.wording import figure, listed, plural, shortened, without_uuids
from assignor_lab.model.pictures import Gantt, GanttChange, SnapshotPlacement
from assignor_lab.model.run_summary import PastTimeline, Results
from assignor_lab.report.drawings.gantt import GanttDrawing, drawing
from assignor_lab.report.sections.causes import cause_words

__all__ = ["PastPicture", "event_words", "pasts", "past_words", "recorded_changes"]

_REBALANCES = "rebalances"
#: Most characters of a reason in the name of an event.
MOST_REASON = 60


class PictureDecision(Protocol):
    """A decision of a past."""

    @property
    def time_ms(self) -> int: ...

    @property
    def joined(self) -> Sequence[str]: ...

    @property
    def gone(self) -> Sequence[str]: ...

    @property
    def restarted(self) -> Sequence[str]: ...

    @property
    def active_moved(self) -> int:
        """Active tasks that move away from an instance that is still present."""

    @property
    def active_taken_over(self) -> int:
        """Active tasks of instances that left."""

    @property
    def copies_made(self) -> int: ...

    @property
    def followup(self) -> str:
        """``none`` or ``probing``."""

    @property
    def reason(self) -> str: ...

    @property
    def inferred_reason(self) -> str:
        """Reason inferred from the decisions if the source has none; empty if they do not show it."""


@attrs.frozen
class PastPicture:
    """A past: its text, its assignments over time, and the number of rebalances in its plays.

    ``folded``: True if a picture of the same past's play exists, which shows more; the recorded one is one click away.
    """

    timeline: PastTimeline
    words: str
    played: str
    drawing: GanttDrawing | None
    folded: bool = False


def pasts(results: Results, names: Mapping[str, str]) -> tuple[PastPicture, ...]:
    played = _played(results, names) if len(results.timelines) == 1 and results.states == 1 else ""
    drawn = []
    for each in results.timelines:
        play = _play(results, each)
        picture = None if each.given is None else _drawn(each.given, each.decisions, play)
        drawn.append(PastPicture(each, past_words(each.decisions, each.moves), played, picture, play is not None))
    return tuple(drawn)


def _play(results: Results, timeline: PastTimeline) -> tuple[int, int] | None:
    for group in results.groups if results.played else ():
        if len(results.timelines) == 1 or group.scenario == timeline.group:
            for answer in group.answers:
                if answer.gantt is not None and answer.down is not None and answer.down.begun_ms is not None:
                    return answer.down.begun_ms, answer.gantt.until_ms
    return None


def recorded_changes(decisions: Sequence[PictureDecision], begun_ms: int) -> tuple[GanttChange, ...]:
    """Changes of instances at the decisions that show them, in milliseconds since ``begun_ms``."""
    return tuple(
        GanttChange(each.time_ms - begun_ms, change, name)
        for each in decisions
        for change, names in (("joined", each.joined), ("gone", each.gone), ("restarted", each.restarted))
        for name in names
    )


def event_words(placement: SnapshotPlacement, timelines: Sequence[PastTimeline]) -> str:
    """The event before a recorded decision: changed instances, or else the reason; empty if unknown."""
    source = placement.source
    if source is None or placement.time_ms is None:
        return ""
    decision = next(
        (
            each
            for past in timelines
            if past.group == (source.group or "")
            for each in past.decisions
            if each.time_ms == source.time_ms and source.generation in (None, each.generation)
        ),
        None,
    )
    changed, reason = [], source.reason or ""
    if decision is not None:
        changed = membership_words(decision.joined, decision.restarted, decision.gone)
        reason = decision.reason or decision.inferred_reason
    # The client's own reason is more precise than the coordinator's activity.
    return "; ".join(changed) or shortened(without_uuids(reason.rpartition("client reason: ")[2]), MOST_REASON)


def _drawn(given: Gantt, decisions: Sequence[PictureDecision], play: tuple[int, int] | None) -> GanttDrawing:
    first_ms = decisions[0].time_ms
    if play is None or play[0] > first_ms:
        return drawing(attrs.evolve(given, changes=recorded_changes(decisions, first_ms)), begun_ms=first_ms)
    begun_ms, until_ms = play
    later = first_ms - begun_ms

    def moved(stretches: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
        return tuple((begin + later, to + later, owner) for begin, to, owner in stretches)

    shown = attrs.evolve(
        given,
        until_ms=max(given.until_ms + later, until_ms),
        rows=tuple(attrs.evolve(row, runs=moved(row.runs), waits=moved(row.waits)) for row in given.rows),
        marks=tuple(mark + later for mark in given.marks),
        changes=recorded_changes(decisions, begun_ms),
    )
    return drawing(shown, begun_ms=begun_ms)


def _played(results: Results, names: Mapping[str, str]) -> str:
    ranking = next((each for each in results.ranking.by_metric if each.metric == _REBALANCES), None)
    if not results.played or ranking is None:
        return ""
    means = {place.assignor: place.mean for place in ranking.places}
    counts = [
        f"{figure(means[name])} under {shortened(names.get(name, name), 40)}"
        for name in dict.fromkeys((results.baseline or "", *sorted(means, key=lambda name: (means[name], name))))
        if name in means
    ]
    recorded = len(results.timelines[0].decisions)
    words = (
        f"{plural(recorded, 'rebalance is', 'rebalances are')} recorded; played, the same past has {listed(counts)}. "
        "A play has the events of the group and their times, but not the speed of each machine at the time: its "
        "differences between assignors are surer than its times."
    )
    first = results.baseline or ("" if results.headline is None else results.headline.baseline or "")
    own = means.get(first)
    if own is None or own == recorded:
        return words
    owner = shortened(names.get(first, first), 40)
    return (
        f"{words} If the group ran under {owner}, the play is {figure(abs(recorded - own))} off: "
        "a smaller difference between two plays means little."
    )


def past_words(decisions: Sequence[PictureDecision], moves: str = ACTIVE_TASKS) -> str:
    """Number of decisions and their time span, their causes, and their moves.

    A probing rebalance has probing as its own reason.
    """
    seconds = (decisions[-1].time_ms - decisions[0].time_ms) / 1_000
    span = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    span = span if seconds < 7_200 else f"{seconds / 3_600:.1f} h"
    came = sum(bool(each.joined or each.gone or each.restarted) for each in decisions)
    probing = sum(each.followup == "probing" for each in decisions)
    causes, why = [], cause_words([each.reason or each.inferred_reason for each in decisions])
    if came:
        causes.append(f"in {came:,} of them instances had come, gone or begun anew")
    if probing:
        causes.append(f"{probing:,} of them requested a probing rebalance")
    reason = f" {why}" if why else ""
    reason += f" {listed(causes)[:1].upper()}{listed(causes)[1:]}." if causes else ""
    moved = sum(each.active_moved for each in decisions)
    copies = sum(each.copies_made for each in decisions)
    taken = sum(each.active_taken_over for each in decisions)
    over = f", {figure(taken)} were taken over from instances that had gone" if taken else ""
    begin = f"{plural(len(decisions), 'decision')} in {span}.{reason} {moves[:1].upper()}{moves[1:]} moved"
    if moves != ACTIVE_TASKS:
        return f"{begin} {plural(moved, 'time')}."
    made = plural(copies, "copy of state was", "copies of state were")
    return f"{begin} {plural(moved, 'time')}{over}, and {made} made."
