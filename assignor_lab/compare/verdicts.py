"""The verdict over several contenders, from their figures: score, replay and the page state it through this module.

One state or one play is deterministic: its verdict is the plain difference. Over several, a finding says in how many of
them a contender does better or worse than the baseline, where chance is no explanation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from assignor_lab.documents.wording import figure, listed, mean, plural, signed

__all__ = [
    "ComparedFigure",
    "ComparedValue",
    "best_of",
    "findings",
    "how_often",
    "verdict_of_one",
    "verdict_of_several",
]

#: Share of the largest value by which two have to differ, so that one of them is better.
_NEARLY = 0.01
_MANY = {"history": "histories"}
#: Most findings in a verdict; the figures have all of them.
_MOST_FINDINGS = 6


class ComparedValue(Protocol):
    """One contender in one figure."""

    @property
    def assignor(self) -> str:
        """The contender."""

    @property
    def mean(self) -> float:
        """Its mean over all states, or its value in the one state."""

    @property
    def tells(self) -> str | None:
        """What its difference from the baseline's tells: ``better``, ``worse`` and others; ``None``: nothing."""

    @property
    def lower(self) -> int | None:
        """Histories (or single states) in which its figure is lower than the baseline's; ``None``: unknown."""

    @property
    def equal(self) -> int | None:
        """Those in which both are equal."""

    @property
    def higher(self) -> int | None:
        """Those in which its figure is higher."""


class ComparedFigure(Protocol):
    """One figure of all contenders."""

    @property
    def title(self) -> str:
        """Its title."""

    @property
    def unit(self) -> str | None:
        """The unit of its values."""

    @property
    def direction(self) -> str | None:
        """``lower`` or ``higher``: which way is better."""

    @property
    def of(self) -> Sequence[ComparedValue]:
        """The contenders."""


def best_of(values: Mapping[str, float], direction: str | None) -> tuple[str, ...]:
    """The contenders with the best value, or one nearly as good; none where all are alike.

    Args:
        values: Contender to its value.
        direction: ``lower`` or ``higher``: which way is better.
    """
    if len(set(values.values())) < 2 or direction not in ("lower", "higher"):
        return ()
    best = min(values.values()) if direction == "lower" else max(values.values())
    # Of megabytes, some bytes more or less make no contender better.
    nearly = _NEARLY * max(abs(value) for value in values.values())
    found = tuple(name for name, value in values.items() if abs(value - best) <= nearly)
    return found if len(found) < len(values) else ()


def verdict_of_one(
    figures: Sequence[ComparedFigure],
    names: Mapping[str, str],
    baseline: str,
    unit: str,
    settings: Mapping[str, str] | None = None,
) -> str:
    """The verdict over one state or play: the best contender in each figure, with the plain difference.

    Args:
        figures: The figures.
        names: Contender to the name that is shown.
        baseline: The contender that the others are compared with.
        unit: What was compared, such as ``history`` or ``decision``.
        settings: Contender to settings of its own, in words.
    """
    told, best = [], []
    for each in figures:
        values = {value.assignor: value.mean for value in each.of if value.assignor in names}
        found = best_of(values, each.direction)
        if not found:
            continue
        best.append(frozenset(found))
        told.append(f"{_small(each.title)}: {_best_words(each, values, found, names, baseline, settings or {})}")
    if not told:
        return f"All do the same in this {unit}, as far as the figures below go."
    everywhere = frozenset.intersection(*best)
    if everywhere:
        begin = f"{listed([names[name] for name in names if name in everywhere])} did best in this {unit}"
    else:
        begin = f"No contender did best in every figure of this {unit}"
    return f"{begin}. Best in {'; best in '.join(told)}."


def _best_words(
    each: ComparedFigure,
    values: Mapping[str, float],
    found: Sequence[str],
    names: Mapping[str, str],
    baseline: str,
    settings: Mapping[str, str],
) -> str:
    who = [
        f"{names[name]} with {settings[name]}" if settings.get(name, names[name]) != names[name] else names[name]
        for name in found
    ]
    unit, lower = each.unit or "", each.direction == "lower"
    bound = (max if lower else min)(values[name] for name in found)
    is_exact = len({values[name] for name in found}) == 1
    value = mean(bound, unit) if is_exact else f"{'at most' if lower else 'at least'} {mean(bound, unit)}"
    other = baseline
    if baseline in found or baseline not in values:
        # The best is better than the next one, where the best is the baseline.
        other = (min if lower else max)((name for name in values if name not in found), key=lambda name: values[name])
    beside = f"{names[other]} {mean(values[other], unit)}"
    plain = f", {signed(values[other] - bound, unit)}" if is_exact else ""
    return f"{listed(who)} ({value}; {beside}{plain})"


def verdict_of_several(
    figures: Sequence[ComparedFigure],
    names: Mapping[str, str],
    baseline: str | None,
    first: Sequence[str],
    unit: str,
) -> str:
    """The verdict over several states: the contenders that are behind in none, and what the figures show.

    Args:
        figures: The figures.
        names: Contender to the name that is shown.
        baseline: The contender that the others are compared with, or ``None``.
        first: The contenders in the first place, one at least.
        unit: What was compared, such as ``decision``.
    """
    found = findings(figures, names, baseline, unit)
    if len(first) == 1:
        begin = f"{names[first[0]]} is best: better in one figure beyond chance, and behind in none."
    elif len(first) == len(names):
        begin = "No contender is best: each one is behind in some figure." if found else _without_findings(figures)
    else:
        behind = [name for key, name in names.items() if key not in first]
        leading = listed([names[name] for name in first])
        begin = f"{listed(behind)} {'is' if len(behind) == 1 else 'are'} behind {leading}."
    more = [f"{plural(len(found) - _MOST_FINDINGS, 'more finding')} in the figures below"]
    shown = found[:_MOST_FINDINGS] + (more if len(found) > _MOST_FINDINGS else [])
    return " ".join([begin, f"{'; '.join(shown)}."]) if shown else begin


def _without_findings(figures: Sequence[ComparedFigure]) -> str:
    told = {value.tells for each in figures for value in each.of}
    if "none" in told:
        return "No contender is best: too few of the states differ to be sure."
    if "unclear" in told:
        return "No contender is best: no difference is beyond chance."
    return "All do the same, as far as the figures below go."


def findings(figures: Sequence[ComparedFigure], names: Mapping[str, str], baseline: str | None, unit: str) -> list[str]:
    """The differences from the baseline beyond chance: contender, figure, and in how many states it is so."""
    other = "" if baseline is None else f" than {names.get(baseline, baseline)}"
    return [
        f"{names[value.assignor]}: {_small(each.title)} {value.tells}{other} {how_often(value, each.direction, unit)}"
        for each in figures
        for value in each.of
        if value.assignor in names and value.tells in ("better", "worse")
    ]


def how_often(value: ComparedValue, direction: str | None, unit: str) -> str:
    """In how many states the contender is better or worse, such as ``in 31 of 33 decisions, better in none``."""
    if value.lower is None or value.equal is None or value.higher is None:
        return "on average"
    better, worse = (value.lower, value.higher) if direction == "lower" else (value.higher, value.lower)
    states = plural(value.lower + value.equal + value.higher, unit, _MANY.get(unit))
    if value.tells == "better":
        return f"in {figure(better)} of {states}, worse in {figure(worse) if worse else 'none'}"
    if value.tells == "worse":
        return f"in {figure(worse)} of {states}, better in {figure(better) if better else 'none'}"
    return f"better in {figure(better)} of {states}, worse in {figure(worse) if worse else 'none'}"


def _small(title: str) -> str:
    return f"{title[:1].lower()}{title[1:]}"
