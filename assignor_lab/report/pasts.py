"""The past of a group in a sentence and a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import attrs

from assignor_lab.capture.histories.timeline import ACTIVE_TASKS
from assignor_lab.documents.wording import listed, plural
from assignor_lab.report.gantt import GanttDrawing, drawing
from assignor_lab.report.summary import Timeline

__all__ = ["PastDrawn", "pasts", "past_words"]


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
        """Active tasks on another instance than before."""

    @property
    def copies_made(self) -> int:
        """Copies of state where none was."""

    @property
    def followup(self) -> str:
        """``none`` or ``probing``."""


@attrs.frozen
class PastDrawn:
    """A past: what is told of it, and who was given which task when."""

    timeline: Timeline
    words: str
    drawing: GanttDrawing | None


def pasts(timelines: Iterable[Timeline]) -> tuple[PastDrawn, ...]:
    """The pasts of a run."""
    return tuple(
        PastDrawn(each, past_words(each.decisions, each.moves), None if each.given is None else drawing(each.given))
        for each in timelines
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
    # The group rebalances once more by itself where the decision before asked for it.
    probing = sum(each.followup == "probing" for each in decisions[:-1])
    causes = []
    if came:
        causes.append(f"in {came:,} of them instances had come, gone or begun anew")
    if probing:
        causes.append(f"after {probing:,} of them a probing rebalance was to follow")
    told = f" {listed(causes)[:1].upper()}{listed(causes)[1:]}." if causes else ""
    moved = sum(each.active_moved for each in decisions)
    copies = sum(each.copies_made for each in decisions)
    begin = f"{plural(len(decisions), 'decision')} in {span}.{told} {moves[:1].upper()}{moves[1:]} moved"
    if moves != ACTIVE_TASKS:
        return f"{begin} {plural(moved, 'time')}."
    return f"{begin} {plural(moved, 'time')}, and {plural(copies, 'copy of state was', 'copies of state were')} made."
