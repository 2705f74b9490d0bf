"""Charts of a run: the headline, and two of its figures against each other."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from assignor_lab.documents.wording import mean, unit_words
from assignor_lab.notebook.drawing import COLOURS, PADDING, SummaryLike, altair, chart_text, name_text, results_of
from assignor_lab.notebook.errors import ChartError

if TYPE_CHECKING:
    from altair import LayerChart, VConcatChart

__all__ = ["plot_headline", "plot_pareto"]

#: Most contenders of a chart, in the order of the summary.
MOST_CONTENDERS = 24


def plot_headline(summary: SummaryLike) -> VConcatChart:
    """The measured figures: each contender's mean, and the interval of the difference from the baseline.

    Args:
        summary: Result of :func:`assignor_lab.scoring.summary`; a parsed ``summary.json``, its path, or its folder.

    Raises:
        ChartError: if no figure was measured.
        MissingExtraError: if altair is not installed.
        DocumentFormatError: if it is no summary.
    """
    alt = altair()
    # The report needs parts of altair, or its own extra.
    from assignor_lab.report.sections.headline import headline_cards

    results = results_of(summary)
    names = {each.name: name_text(each.name) for each in results.assignors}
    cards = {card.title: card for card in headline_cards(results, names)}
    charts = []
    baseline = "" if results.headline is None else results.headline.baseline or ""
    for each in () if results.headline is None else results.headline.figures:
        if not each.of:
            continue
        card = cards[each.title]
        words_by_name = {row.name: row.words for row in card.rows}
        base = next((value.mean for value in each.of if value.assignor == baseline), None)
        rows = [
            {
                "assignor": names.get(value.assignor, name_text(value.assignor)),
                "mean": value.mean,
                "from": None if base is None or value.low is None else base + value.low,
                "to": None if base is None or value.high is None else base + value.high,
                "value": mean(value.mean, each.unit or ""),
                "difference": chart_text(
                    words_by_name.get(names.get(value.assignor, value.assignor), "") or "the baseline"
                ),
            }
            for value in each.of[:MOST_CONTENDERS]
        ]
        shared = alt.Chart(alt.Data(values=rows)).encode(
            y=alt.Y("assignor:N", sort=[row["assignor"] for row in rows], title=None),
            tooltip=[
                alt.Tooltip("assignor:N", title="Assignor"),
                alt.Tooltip("value:N", title="Mean"),
                alt.Tooltip("difference:N", title="Difference"),
            ],
        )
        is_share = each.unit == "share"
        title_of_axis = "" if is_share else chart_text(unit_words(each.unit or "").removeprefix("In "))
        digits = ".0%" if is_share else "~s" if any(abs(value.mean) >= 1_000 for value in each.of) else ",.3~f"
        intervals = shared.mark_rule(strokeWidth=3, color=COLOURS[4]).encode(x=alt.X("from:Q"), x2="to:Q")
        means = shared.mark_point(filled=True, size=80, color=COLOURS[0]).encode(
            x=alt.X(
                "mean:Q", title=title_of_axis, scale=alt.Scale(zero=True), axis=alt.Axis(format=digits, tickCount=6)
            )
        )
        title = alt.Title(
            chart_text(card.title),
            subtitle=chart_text(f"{card.better}; line: interval of the difference from ")
            + names.get(baseline, "nobody")
            if any(row["from"] is not None for row in rows)
            else chart_text(card.better),
            anchor="start",
        )
        words = "; ".join(f"{row['assignor']} {row['value']}, {row['difference']}" for row in rows)
        charts.append((intervals + means).properties(title=title, width=460, description=f"{card.title}: {words}"))
    if not charts:
        raise ChartError("no figure of the headline was measured: nothing can be drawn")
    chart: VConcatChart = alt.vconcat(*charts).resolve_scale(x="independent").properties(padding=PADDING)
    return chart


def plot_pareto(summary: SummaryLike) -> LayerChart:
    """The first two figures in which contenders differ, with the undominated contenders marked.

    Raises:
        ChartError: if the contenders do not differ in two figures.
        MissingExtraError, DocumentFormatError: as of :func:`plot_headline`.
    """
    alt = altair()
    from assignor_lab.report.drawings.pareto import pareto

    results = results_of(summary)
    drawn = pareto(results, {each.name: name_text(each.name) for each in results.assignors})
    if drawn is None or results.headline is None:
        raise ChartError("the contenders do not differ in two figures of the headline: see plot_headline")
    by_title = {each.title: each for each in results.headline.figures}
    across, upright = by_title[drawn.across.title], by_title[drawn.upright.title]
    second = {value.assignor: value.mean for value in upright.of}
    rows = [
        {
            "assignor": point.name,
            "x": value.mean,
            "y": second[value.assignor],
            "standing": "behind no other" if point.is_first else "behind another contender in both",
            "across": point.values[0],
            "upright": point.values[1],
        }
        for point, value in zip(drawn.points, across.of, strict=True)
    ][:MOST_CONTENDERS]
    shared = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title=_axis(drawn.across), scale=alt.Scale(zero=False, padding=30), axis=alt.Axis(tickCount=5)),
        y=alt.Y("y:Q", title=_axis(drawn.upright), scale=alt.Scale(zero=False, padding=30)),
        tooltip=[
            alt.Tooltip("assignor:N", title="Assignor"),
            alt.Tooltip("across:N", title=chart_text(drawn.across.title)),
            alt.Tooltip("upright:N", title=chart_text(drawn.upright.title)),
        ],
    )
    standing = ["behind no other", "behind another contender in both"]
    dots = shared.mark_point(filled=True, size=120).encode(
        color=alt.Color("standing:N", scale=alt.Scale(domain=standing, range=[COLOURS[0], COLOURS[6]]), title=None),
        shape=alt.Shape("standing:N", scale=alt.Scale(domain=standing, range=["circle", "square"]), title=None),
    )
    names = shared.mark_text(dy=-14).encode(text="assignor:N")
    title = alt.Title(wrap(chart_text(drawn.words, 300), 72), anchor="start", fontSize=12)
    chart: LayerChart = (dots + names).properties(
        padding=PADDING, title=title, width=460, height=300, description=chart_text(drawn.words, 400)
    )
    return chart


def _axis(axis: Any) -> str:
    return chart_text(f"{axis.title} ({axis.unit.removeprefix('in ')}), {axis.better}", 100)
