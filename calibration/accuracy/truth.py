"""Recorded absence of tasks, from a probe, by task and by step of a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs

from assignor_lab.capture.timelines.timeline import RecordedTimeline

__all__ = ["GRACE_MS", "SHORTEST_MS", "Absences", "RecordedStep", "arrival_gaps", "recorded_steps"]

#: A shorter gap does not count as absence.
SHORTEST_MS = 500
#: An absence may begin this much before its step: the probe's clock is coarse.
GRACE_MS = 500


class Absences:
    """Figures of a step from the absences of its tasks."""

    #: Task to its absences: first moment and length, in milliseconds.
    away: Mapping[str, tuple[tuple[int, int], ...]]

    @property
    def task_seconds(self) -> float:
        return sum(length for gaps in self.away.values() for _, length in gaps) / 1000

    @property
    def worst_task_seconds(self) -> float:
        return max((length for gaps in self.away.values() for _, length in gaps), default=0) / 1000


@attrs.frozen
class RecordedStep(Absences):
    """One step of a recorded change.

    Args:
        away: Task to its absences: first moment (epoch milliseconds) and length.
        rebalances: Generations or target epochs.
        restored_bytes: Bytes of restorations and of loads of standbys and warm-ups.
        calm_ms: Time until the group was at rest; ``None``: the next step came before.
    """

    phase: str
    begin_ms: int
    end_ms: int
    away: Mapping[str, tuple[tuple[int, int], ...]]
    rebalances: int
    restored_bytes: int
    calm_ms: int | None

    @property
    def tasks(self) -> int:
        return len(self.away)


def recorded_steps(timeline: RecordedTimeline) -> dict[str, RecordedStep]:
    """Phase to its step, in their order, including the first start."""
    found, last = {}, 0
    for window in timeline.document["probe"] if timeline.probe else ():
        numbers = window.get("rebalances", ())
        # Generations without an assignment have a number, too. Not every target epoch has a target.
        count = max(numbers, default=last) - last if timeline.kind == "streams-classic" else len(numbers)
        last = max(numbers, default=last)
        found[window["phase"]] = _step(window, count)
    return found


def _step(window: Mapping[str, Any], rebalances: int) -> RecordedStep:
    begin = window["t"]
    restored = window.get("restored") or {}
    away = {
        task: tuple((begin + after, length) for after, length in seen["interruptions"] if length >= SHORTEST_MS)
        for task, seen in window["tasks"].items()
    }
    return RecordedStep(
        window["phase"],
        begin,
        window["end_t"],
        {task: gaps for task, gaps in away.items() if gaps},
        rebalances,
        restored.get("restored_bytes", 0) + restored.get("standby_bytes", 0),
        window["calm_after_ms"] if window.get("calm") == "calm" else None,
    )


def arrival_gaps(
    lines: Sequence[Mapping[str, Any]], begin_ms: int, end_ms: int
) -> dict[str, tuple[tuple[int, int], ...]]:
    """Gaps in the probe's buckets of arrivals: a second way to :attr:`RecordedStep.away`.

    Args:
        lines: Lines of ``arrivals.jsonl``; the first one has the beginning and the bucket's width.

    Returns:
        Task to empty stretches of at least :data:`SHORTEST_MS` that begin in the step: first moment and length. One
            bucket at each end is unknown.
    """
    first, width = lines[0]["t0"], lines[0]["bucket_ms"]
    filled: dict[str, list[int]] = {}
    for line in lines[1:]:
        counts = enumerate(line["n"])
        filled.setdefault(line["task"], []).extend(first + line["t"] + at * width for at, count in counts if count)
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for task, moments in filled.items():
        gaps = [
            (before + width, after - before - width)
            for before, after in pairwise(moments)
            if begin_ms - GRACE_MS <= before + width < end_ms - GRACE_MS and after - before - width >= SHORTEST_MS
        ]
        if gaps:
            found[task] = tuple(gaps)
    return found
