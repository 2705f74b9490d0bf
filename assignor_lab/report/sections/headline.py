"""The headline of the page: the five figures as cards, each with every mean and the verdict of its difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

import attrs

from assignor_lab.compare.verdicts import how_often
from assignor_lab.documents.wording import mean, shortened, signed
from assignor_lab.model.comparisons import FigureCompared, ValueCompared
from assignor_lab.model.run_summary import Results, SummaryHeadline, SummaryMetric

__all__ = ["HeadlineCard", "HeadlineRow", "NotMeasured", "equal_sentence", "folded", "headline_cards", "not_measured"]

#: Groups of nearly equivalent measures: one of each is shown, and the others are one click away.
FOLDED = frozenset({"balance"})
NAME_LIMIT = 40


@attrs.frozen
class HeadlineRow:
    """One assignor.

    Args:
        length: Of its bar, in hundredths of the longest.
        tells: The same as a word of the format, or ``baseline``.
    """

    name: str
    value: str
    length: float
    words: str
    tells: str


@attrs.frozen
class HeadlineCard:
    """One measured figure and its rows, the baseline's first."""

    title: str
    summary: str
    unit: str
    better: str
    states: int
    rows: tuple[HeadlineRow, ...]

    @property
    def is_equal(self) -> bool:
        """True if all of several assignors have this figure, in every state."""
        return len(self.rows) > 1 and all(row.tells in ("baseline", "equal") for row in self.rows)


@attrs.frozen
class NotMeasured:
    """A figure that was not measured, and the reason."""

    title: str
    why: str


def headline_cards(results: Results, names: Mapping[str, str]) -> tuple[HeadlineCard, ...]:
    found = results.headline
    return () if found is None else tuple(_card(found, each, names) for each in found.figures if each.of)


def equal_sentence(cards: Sequence[HeadlineCard], states: int) -> str:
    """The figures that are equal for all, in one line; empty without one."""
    if not cards:
        return ""
    count = len(cards[0].rows)
    where = " everywhere" if states > 1 else ""
    figures = "; ".join(f"{shortened(each.title, NAME_LIMIT).lower()} {each.rows[0].value}" for each in cards)
    return f"The same for {'both' if count == 2 else f'all {count}'}{where}: {figures}."


def not_measured(results: Results) -> tuple[NotMeasured, ...]:
    figures = () if results.headline is None else results.headline.figures
    return tuple(NotMeasured(each.title, each.not_measured or "") for each in figures if not each.of)


class _OfMetric(Protocol):
    """A table about one metric."""

    @property
    def metric(self) -> SummaryMetric: ...


T = TypeVar("T", bound=_OfMetric)


def folded(group: str, tables: tuple[T, ...], results: Results) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """The shown tables of a group, and those that are one click away.

    Of a group of nearly equivalent measures only the headline's one is shown, or else the first.
    """
    if group not in FOLDED or len(tables) < 2:
        return tables, ()
    figures = () if results.headline is None else results.headline.figures
    asked_for = {each.metric for each in figures}
    shown = next((table for table in tables if table.metric.name in asked_for), tables[0])
    return (shown,), tuple(table for table in tables if table is not shown)


def _card(headline: SummaryHeadline, figure: FigureCompared, names: Mapping[str, str]) -> HeadlineCard:
    unit = figure.unit or ""
    most = max(abs(each.mean) for each in figure.of)
    rows = [
        HeadlineRow(
            names.get(each.assignor, each.assignor),
            mean(each.mean, unit),
            round(100 * max(each.mean, 0.0) / most, 1) if most else 0.0,
            _words_of(headline, figure, each, names),
            each.tells or "baseline",
        )
        for each in sorted(figure.of, key=lambda each: each.assignor != headline.baseline)
    ]
    better = {"lower": "less is better", "higher": "more is better"}.get(figure.direction or "", "")
    return HeadlineCard(figure.title, figure.summary or "", unit, better, figure.states, tuple(rows))


def _words_of(headline: SummaryHeadline, figure: FigureCompared, value: ValueCompared, names: Mapping[str, str]) -> str:
    if value.tells is None or headline.baseline is None:
        return ""
    other, unit = shortened(names.get(headline.baseline, headline.baseline), NAME_LIMIT), figure.unit or ""
    by = signed(value.difference, unit)
    if value.tells == "equal":
        return f"the same as {other}" if headline.states == 1 else f"the same as {other} everywhere"
    if headline.states == 1:
        return by
    often = how_often(value, figure.direction, headline.unit)
    if value.tells == "none":
        return f"{often}; {by} on average, without an interval"
    words = (
        f"{value.tells} than {other}" if value.tells in ("better", "worse") else f"not distinguishable from {other},"
    )
    interval = "" if value.low is None else f" ({signed(value.low, unit)} to {signed(value.high, unit)})"
    return f"{words} {often}: {by}{interval}"
