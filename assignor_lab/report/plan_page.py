"""The page of a plan: the sentence, the figures by step, other settings, and a timeline of the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import attrs

from assignor_lab.documents.durable import write_durably
from assignor_lab.documents.wording import natural_order
from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.words import (
    Answer,
    causes,
    columns_of,
    doubts,
    failures,
    step_rows,
    the_sentence,
    variant_columns_of,
    variant_rows,
)
from assignor_lab.report.html import render_page

__all__ = ["PlayTimeline", "TimelineRow", "render_plan_page", "timeline_of", "write_plan_page"]

LEFT, WIDTH, ROW = 90.0, 710.0, 14.0
MOST_TASKS = 200


@attrs.frozen
class TimelineRow:
    """A task of the timeline."""

    task: str
    y: float
    bars: tuple[tuple[float, float, str], ...]


@attrs.frozen
class PlayTimeline:
    """The timeline of one play."""

    rows: tuple[TimelineRow, ...]
    steps: tuple[tuple[float, str], ...]
    seconds: float
    height: float
    left_out: int


def timeline_of(answer: Answer) -> PlayTimeline:
    """The timeline of the play with task-seconds next to the median."""
    total = answer.prediction.total.task_seconds.median
    play: PlayedPlan = min(answer.prediction.plays, key=lambda each: abs(each.total.task_seconds - total))
    ends = [end for stretches in play.absences.values() for _, end in stretches]
    seconds = max([play.duration_seconds, *ends, 1.0])
    longest = sorted(play.absences, key=lambda task: -sum(end - begin for begin, end in play.absences[task]))
    shown = sorted(longest[:MOST_TASKS], key=natural_order)
    rows = tuple(
        TimelineRow(task, ROW * (place + 2), tuple(_bar(each, seconds) for each in play.absences[task]))
        for place, task in enumerate(shown)
    )
    names = [step.name for step in answer.prediction.steps]
    steps = tuple((_x(at, seconds), name) for at, name in zip(play.at_seconds, names, strict=False))
    return PlayTimeline(rows, steps, seconds, ROW * (len(rows) + 4), len(longest) - len(shown))


def _x(second: float, seconds: float) -> float:
    return round(LEFT + WIDTH * max(0.0, second) / seconds, 2)


def _bar(absence: tuple[float, float], seconds: float) -> tuple[float, float, str]:
    begin, end = absence
    left = _x(begin, seconds)
    return left, round(_x(end, seconds) - left, 2), f"away from {begin:.1f} s to {end:.1f} s"


def render_plan_page(answer: Answer, verified: Sequence[str]) -> str:
    prediction = answer.prediction
    return render_page(
        "plan.html.j2",
        answer=answer,
        verified=verified,
        sentence=the_sentence(answer),
        remarks=[*failures(prediction), *doubts(prediction), *([causes(prediction)] if causes(prediction) else [])],
        columns=columns_of(prediction),
        rows=step_rows(prediction),
        variant_columns=variant_columns_of(prediction),
        variants=variant_rows(answer) if answer.variants else [],
        timeline=timeline_of(answer),
        left=LEFT,
        width=LEFT + WIDTH,
        row=ROW,
    )


def write_plan_page(answer: Answer, verified: Sequence[str], path: str | PathLike[str]) -> None:
    """Writes the page; an older file is replaced only by a complete one.

    Raises:
        OutputFileError: if it cannot be written.
    """
    write_durably(path, render_plan_page(answer, verified).encode())
