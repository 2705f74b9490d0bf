"""The past of a group in a sentence and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs

from assignor_lab.capture.histories.timeline import ACTIVE_TASKS
from assignor_lab.documents.wording import figure, listed, plural, shortened
from assignor_lab.report.causes import cause_words
from assignor_lab.report.gantt import GanttDrawing, drawing
from assignor_lab.report.pictures import Gantt
from assignor_lab.report.summary import Results, Timeline

__all__ = ["PastDrawn", "pasts", "past_words"]

#: The measure of an episode that a past has, too: its decisions.
_REBALANCES = "rebalances"


class Decided(Protocol):
    """A decision of a past."""

    @property
    def time_ms(self) -> int:
        """When, in epoch milliseconds."""

    @property
    def joined(self) -> Sequence[str]:
        """Instances that were not there before."""

    @property
    def gone(self) -> Sequence[str]:
        """Instances that are not there any more."""

    @property
    def restarted(self) -> Sequence[str]:
        """Instances that began anew."""

    @property
    def active_moved(self) -> int:
        """Active tasks of an instance that is still there, which another one is given."""

    @property
    def active_taken_over(self) -> int:
        """Active tasks of instances that are gone."""

    @property
    def copies_made(self) -> int:
        """Copies of state where none was."""

    @property
    def followup(self) -> str:
        """``none`` or ``probing``."""

    @property
    def reason(self) -> str:
        """Why the group rebalanced; empty if the source does not tell."""


@attrs.frozen
class PastDrawn:
    """A past: what is told of it, who was given which task when, and how often it rebalances when it is played.

    ``folded``: a picture of the same past as it is played says more, and the recorded one is one click away.
    """

    timeline: Timeline
    words: str
    played: str
    drawing: GanttDrawing | None
    folded: bool = False


def pasts(results: Results, names: Mapping[str, str]) -> tuple[PastDrawn, ...]:
    """The pasts of a run.

    Args:
        results: The run.
        names: Name of each assignor, for people.
    """
    played = _played(results, names) if len(results.timelines) == 1 and results.states == 1 else ""
    drawn = []
    for each in results.timelines:
        play = _play(results, each)
        picture = None if each.given is None else _drawn(each.given, each.decisions[0].time_ms, play)
        drawn.append(PastDrawn(each, past_words(each.decisions, each.moves), played, picture, play is not None))
    return tuple(drawn)


def _play(results: Results, timeline: Timeline) -> tuple[int, int] | None:
    """When plays of a past begin, in epoch milliseconds, and how long they are; ``None``: nothing is drawn."""
    for group in results.groups if results.played else ():
        if len(results.timelines) == 1 or group.scenario == timeline.group:
            for answer in group.answers:
                if answer.gantt is not None and answer.down is not None and answer.down.begun_ms is not None:
                    return answer.down.begun_ms, answer.gantt.until_ms
    return None


def _drawn(given: Gantt, first_ms: int, play: tuple[int, int] | None) -> GanttDrawing:
    """What was given when; beside a play of the same past both count from the same moment, to the same end."""
    if play is None or play[0] > first_ms:
        return drawing(given, begun_ms=first_ms)
    begun_ms, until_ms = play
    later = first_ms - begun_ms

    def moved(stretches: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
        return tuple((begin + later, to + later, what) for begin, to, what in stretches)

    shown = attrs.evolve(
        given,
        until_ms=max(given.until_ms + later, until_ms),
        rows=tuple(attrs.evolve(row, runs=moved(row.runs), waits=moved(row.waits)) for row in given.rows),
        marks=tuple(mark + later for mark in given.marks),
    )
    return drawing(shown, begun_ms=begun_ms)


def _played(results: Results, names: Mapping[str, str]) -> str:
    """How often each assignor rebalances where Kafka did as often as is recorded: how near the play comes, too."""
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
        "A play knows what was done to the group and when, not how fast each machine was just then: trust its "
        "differences between assignors more than its moments."
    )
    first = results.baseline or ("" if results.headline is None else results.headline.baseline or "")
    own = means.get(first)
    if own is None or own == recorded:
        return words
    who = shortened(names.get(first, first), 40)
    return (
        f"{words} If the group ran under {who}, the play is {figure(abs(recorded - own))} off: "
        "a smaller difference between two plays says little."
    )


def past_words(decisions: Sequence[Decided], moves: str = ACTIVE_TASKS) -> str:
    """How many decisions there were in which time, how often because of whom, and what they moved.

    Args:
        decisions: The decisions, at least one.
        moves: What moves.
    """
    seconds = (decisions[-1].time_ms - decisions[0].time_ms) / 1_000
    span = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    span = span if seconds < 7_200 else f"{seconds / 3_600:.1f} h"
    came = sum(bool(each.joined or each.gone or each.restarted) for each in decisions)
    probing = sum(each.followup == "probing" for each in decisions)
    causes, why = [], cause_words([each.reason for each in decisions])
    if came:
        causes.append(f"in {came:,} of them instances had come, gone or begun anew")
    if probing and not why:
        causes.append(f"{probing:,} of them asked for a probing rebalance")
    told = f" {why}" if why else ""
    told += f" {listed(causes)[:1].upper()}{listed(causes)[1:]}." if causes else ""
    moved = sum(each.active_moved for each in decisions)
    copies = sum(each.copies_made for each in decisions)
    taken = sum(each.active_taken_over for each in decisions)
    over = f", {figure(taken)} were taken over from instances that had gone" if taken else ""
    begin = f"{plural(len(decisions), 'decision')} in {span}.{told} {moves[:1].upper()}{moves[1:]} moved"
    if moves != ACTIVE_TASKS:
        return f"{begin} {plural(moved, 'time')}."
    made = plural(copies, "copy of state was", "copies of state were")
    return f"{begin} {plural(moved, 'time')}{over}, and {made} made."
