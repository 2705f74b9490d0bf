"""The same results as tables in a terminal.

Foreign text is shown as rich's ``Text``, never as markup, and after :func:`~assignor_lab.report.wording.plain`, so that
brackets and terminal codes in a name have no effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from assignor_lab.documents.wording import figure, mean, plain, plural, shortened, unit_words
from assignor_lab.model.run_summary import Assignor, FailedRows, MetricRanking, RunSummary
from assignor_lab.report import words
from assignor_lab.report.sections.headline import HeadlineCard
from assignor_lab.report.view import Page, page

__all__ = ["print_summary"]

#: Least width of a measure and one assignor, in columns of text; a wider table would be cropped.
MEASURE_WIDTH, VALUE_WIDTH = 28, 13
MOST_ASSIGNORS = 12
#: Columns of the longest bar.
BAR_WIDTH = 16
NAME_LIMIT = 32
MOST_FAILURES = 20
MOST_ASSUMPTIONS = 5


def print_summary(summary: RunSummary, console: Console | None = None, *, is_brief: bool = False) -> None:
    """Prints the results.

    Args:
        is_brief: The verification, the verdict and the figures that differ, and no table.
    """
    target = console or Console()
    for view in _brief(page(summary)) if is_brief else _views(page(summary), target.width):
        target.print(view)


def _brief(shown: Page) -> list[RenderableType]:
    views: list[RenderableType] = [Text(plain(sentence), style="bold") for sentence in shown.banner]
    views += [Text(plain(sentence)) for sentence in shown.verified]
    views += [Text(plain(sentence), style="bold") for sentence in shown.not_comparable]
    views.append(Text(plain(shown.verdict or shown.opening), style="bold"))
    for card in shown.cards:
        views.append(_card(card))
    if shown.equal:
        views.append(Text(plain(shown.equal), style="dim"))
    return views


def _views(shown: Page, width: int) -> list[RenderableType]:
    views: list[RenderableType] = [Text(plain(sentence), style="bold") for sentence in shown.banner]
    views += [Text(plain(sentence)) for sentence in shown.verified]
    views += [Text(plain(sentence), style="bold") for sentence in shown.not_comparable]
    views.append(Text(plain(shown.opening)))
    if shown.verdict:
        views.append(Text(plain(shown.verdict), style="bold"))
    views.append(Text(""))
    views += [Text(plain(sentence)) for sentence in (*shown.reading, shown.variants) if sentence]
    views += [Text(""), *_headline(shown)] if shown.cards else []
    side_by_side = max(1, (width - MEASURE_WIDTH) // VALUE_WIDTH)
    ranked = shown.ranked[:MOST_ASSIGNORS]
    views += [_measures(shown, ranked[at : at + side_by_side]) for at in range(0, len(ranked), side_by_side)]
    views += _more(len(shown.ranked) - MOST_ASSIGNORS, "more assignor")
    if shown.results.failures or any(each.status == "not_loaded" for each in shown.results.assignors):
        views.append(_failures(shown))
    views += [
        Text(shortened(f"- metric {each.metric} failed in {plural(each.rows, 'row')}: {each.message}", 300))
        for each in shown.results.metric_failures[:MOST_FAILURES]
    ]
    views += _more(len(shown.results.metric_failures) - MOST_FAILURES, "more failure")
    if shown.summary.run_metrics.probes:
        views.append(_probes(shown))
    views += _agreement(shown)
    views += [Text(f"- {plain(remark)}") for remark in shown.remarks]
    if shown.results.assumptions:
        views += [Text(f"- assumed: {plain(each.text)}") for each in shown.results.assumptions[:MOST_ASSUMPTIONS]]
        views += _more(len(shown.results.assumptions) - MOST_ASSUMPTIONS, "more assumption")
    return views


def _more(count: int, counted: str) -> list[RenderableType]:
    return [Text(f"- {plural(count, counted)}: in the report")] if count > 0 else []


def _table(title: str) -> Table:
    return Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)


def _headline(shown: Page) -> list[RenderableType]:
    views: list[RenderableType] = []
    for card in shown.cards:
        unit = unit_words(card.unit).lower()
        views += [
            _card(card),
            Text(f"{plain(card.summary)} Means for one {shown.results.unit}, {unit}.", style="dim"),
            Text(""),
        ]
    if shown.equal:
        views += [Text(plain(shown.equal)), Text("")]
    if shown.not_measured:
        unmeasured = "; ".join(f"{each.title} ({each.why})" for each in shown.not_measured)
        views += [Text(plain(f"Not measured here: {unmeasured}.")), Text("")]
    return views


def _card(card: HeadlineCard) -> Table:
    """A figure with a bar for each assignor, in proportion to the longest."""
    table = Table(title=Text(plain(card.title), style="bold"), title_justify="left", box=None, pad_edge=False)
    table.show_header = False
    table.add_column(overflow="fold")
    table.add_column(justify="right")
    table.add_column()
    table.add_column(overflow="fold", style="dim")
    for row in card.rows:
        bar = "█" * round(row.length * BAR_WIDTH / 100) if len(card.rows) > 1 else ""
        name, value = Text(shortened(row.name, NAME_LIMIT)), Text(row.value, style="bold")
        table.add_row(name, value, Text(bar), Text(plain(row.words)))
    return table


def _measures(shown: Page, assignors: Sequence[Assignor]) -> Table:
    table = _table(f"Means for one {shown.results.unit}: ↓ lower is better, ↑ higher is better")
    table.add_column("Measure", overflow="fold")
    for assignor in assignors:
        name = Text(shortened(shown.names[assignor.name], NAME_LIMIT))
        table.add_column(name, justify="right", overflow="fold", min_width=VALUE_WIDTH - 3)
    for group in shown.groups:
        for each in group.tables:
            if each.ranking is None:
                continue
            arrow = "↓" if each.metric.direction == "lower" else "↑"
            unit, counted = shortened(each.metric.unit, 16), each.counted and f", {each.counted}"
            table.add_row(
                Text.assemble(f"{shortened(each.metric.name, 48)} {arrow} ", (f"({unit}{counted})", "dim")),
                *(_value(each.ranking, assignor.name, each.metric.unit) for assignor in assignors),
            )
    return table


def _value(ranking: MetricRanking, assignor: str, unit: str) -> Text:
    place = next((each for each in ranking.places if each.assignor == assignor), None)
    return Text("–" if place is None else mean(place.mean, unit))


def _agreement(shown: Page) -> list[RenderableType]:
    views: list[RenderableType] = [Text(f"- {plain(sentence)}") for sentence in shown.agreement]
    more = sum(len(group.folded) for group in shown.groups)
    if more:
        views.append(Text(f"- {plural(more, 'more measure')} of balance: in the report and the tables"))
    if shown.without_value:
        views.append(
            Text(f"- {plural(len(shown.without_value), 'measure')} left out: no {shown.results.unit} has a value")
        )
    return views


def _probes(shown: Page) -> Table:
    table = _table("Cost of a call, and dependencies of its answer besides the input")
    for name in ("Assignor", "Median ms", "p99 ms", "By the clock", "Peak memory", "Depends on"):
        table.add_column(name, overflow="fold", justify="left" if name in ("Assignor", "Depends on") else "right")
    times = {each.assignor: each for each in shown.summary.run_metrics.assign_ms}
    for probe in shown.summary.run_metrics.probes:
        took = times.get(probe.assignor)
        table.add_row(
            Text(shortened(shown.names.get(probe.assignor, probe.assignor), NAME_LIMIT)),
            Text("–" if took is None or took.median is None else f"{took.median:,.2f}"),
            Text("–" if took is None or took.p99 is None else f"{took.p99:,.2f}"),
            Text("–" if took is None or took.wall_median is None else f"{took.wall_median:,.2f}"),
            Text("–" if probe.peak_memory_max is None else f"{probe.peak_memory_max / 1_024:,.0f} KiB"),
            Text(words.dependence(probe)),
        )
    return table


def _failing(failure: FailedRows, shown: Page) -> str:
    if failure.type is None:
        return "all others"
    if failure.assignor is None:
        return "the scenarios" if failure.family is None else f"family {failure.family}"
    return shown.names.get(failure.assignor, failure.assignor)


def _failures(shown: Page) -> Table:
    table = _table("Failures")
    table.add_column("Cause", overflow="fold")
    table.add_column("Decisions", justify="right")
    table.add_column("Reason", overflow="fold")
    for failure in shown.results.failures[:MOST_FAILURES]:
        failing = _failing(failure, shown)
        reason = ": ".join(part for part in (failure.type, failure.message) if part) or "–"
        if failure.traceback:
            # The last frame is the most informative; the report has all of them.
            reason = f"{shortened(reason, 180)} (at {failure.traceback.splitlines()[-1]})"
        table.add_row(Text(shortened(failing, NAME_LIMIT)), Text(figure(failure.rows)), Text(shortened(reason, 300)))
    more = len(shown.results.failures) - MOST_FAILURES
    if more > 0:
        table.add_row(Text(""), Text(""), Text(f"and {plural(more, 'more reason')}, in the report"))
    for assignor in shown.results.assignors:
        if assignor.status == "not_loaded":
            failing = shortened(words.display_name(assignor), NAME_LIMIT)
            reason = shortened(f"not loaded: {assignor.reason or 'no reason given'}", 300)
            table.add_row(Text(failing), Text("0"), Text(reason))
    return table
