"""The page of an advice: the sentence, the change, the figures, the front of two objectives, the configurations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike

import attrs

from assignor_lab.advising.advice import Advice
from assignor_lab.advising.choice import RacedContender
from assignor_lab.advising.configurations import name_of
from assignor_lab.advising.figures import OBJECTIVES
from assignor_lab.advising.words import (
    EVENT_COLUMNS,
    change_lines,
    event_rows,
    figure_columns,
    figure_rows,
    remarks,
    the_answer,
    tried_columns,
    tried_rows,
    warnings,
)
from assignor_lab.documents.durable import write_durably
from assignor_lab.report.html import render_page

__all__ = ["Front", "FrontPoint", "front_of", "render_advice_page", "write_advice_page"]

#: In units of the drawing: margin for labels, width and height of the plot.
LEFT, WIDTH, HEIGHT = 70.0, 640.0, 320.0
#: The second axis if there is a single objective.
_SECOND = "rebalances"


@attrs.frozen
class FrontPoint:
    """A configuration in the drawing.

    Args:
        x: Position on the first objective's axis.
        y: Position on the second one's.
        kind: ``present``, ``advised``, ``front`` or ``other``.
    """

    x: float
    y: float
    name: str
    title: str
    kind: str


@attrs.frozen
class Front:
    """The configurations with all days, by two figures.

    Args:
        most: Largest values of both axes.
    """

    points: tuple[FrontPoint, ...]
    horizontal: str
    vertical: str
    most: tuple[str, str]


def front_of(advice: Advice) -> Front:
    """The drawing of the first two objectives; with a single one, rebalances are the second figure."""
    first, second = (*advice.aims.objectives, _SECOND if advice.aims.first != _SECOND else "task_seconds")[:2]
    present = advice.race.present
    drawn = [
        each
        for each in advice.race.contenders
        if (each is present or len(each.days) >= advice.race.days)
        and math.isfinite(each.mean(first))
        and math.isfinite(each.mean(second))
    ]
    most = [max((each.mean(name) for each in drawn), default=0.0) or 1.0 for name in (first, second)]

    def point(each: RacedContender) -> FrontPoint:
        values = [each.mean(first), each.mean(second)]
        title = ", ".join(
            f"{OBJECTIVES[name].words} {value:.4g}" for name, value in zip((first, second), values, strict=True)
        )
        return FrontPoint(
            round(LEFT + WIDTH * values[0] / most[0], 2),
            round(HEIGHT - (HEIGHT - 20) * values[1] / most[1], 2),
            name_of(each.configuration, present.configuration),
            title,
            _kind(each, advice),
        )

    order = {"other": 0, "front": 1, "advised": 2, "present": 3}
    points = sorted(map(point, drawn), key=lambda each: order[each.kind])
    words = [f"{OBJECTIVES[name].words} ({OBJECTIVES[name].unit})" for name in (first, second)]
    return Front(tuple(points), words[0], words[1], (f"{most[0]:.4g}", f"{most[1]:.4g}"))


def _kind(each: RacedContender, advice: Advice) -> str:
    if each is advice.race.present:
        return "present"
    if advice.changes and each is advice.race.winner:
        return "advised"
    return "front" if each in advice.front else "other"


def render_advice_page(
    advice: Advice, source: str, group: str, verified: Sequence[str], assumptions: Sequence[str]
) -> str:
    """The page as HTML.

    Args:
        verified: Sentences of the check against the group's recorded decisions.
    """
    return render_page(
        "advice.html.j2",
        advice=advice,
        source=source,
        group=group,
        verified=verified,
        sentence=the_answer(advice),
        remarks=[*warnings(advice), *remarks(advice)],
        lines=change_lines(advice, group),
        figure_columns=figure_columns(advice),
        figures=figure_rows(advice),
        event_columns=EVENT_COLUMNS,
        events=event_rows(advice),
        tried_columns=tried_columns(advice),
        tried=tried_rows(advice, advice.race.contenders),
        front=front_of(advice),
        assumptions=assumptions,
        left=LEFT,
        width=LEFT + WIDTH + 20,
        height=HEIGHT + 40,
        bottom=HEIGHT,
    )


def write_advice_page(
    advice: Advice,
    source: str,
    group: str,
    verified: Sequence[str],
    assumptions: Sequence[str],
    path: str | PathLike[str],
) -> None:
    """Writes the page; an older file is replaced only by a complete one.

    Raises:
        OutputFileError: if it cannot be written.
    """
    write_durably(path, render_advice_page(advice, source, group, verified, assumptions).encode())
