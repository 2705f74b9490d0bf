"""The verdict over several contenders, from their figures: shared by score, replay and the page.

One state or one play is deterministic: its verdict is the plain difference. Over several, a finding counts the states
in which a contender does better or worse than the baseline, if chance does not explain it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assignor_lab.compare.figures import best_of
from assignor_lab.documents.wording import figure, listed, mean, plural, shortened, signed
from assignor_lab.model.comparisons import FigureCompared, ValueCompared

__all__ = [
    "NOT_COMPARABLE",
    "NOT_RANKED",
    "TOO_MANY",
    "alone",
    "best_everywhere",
    "findings",
    "how_often",
    "missing_cost",
    "settings_words",
    "verdict_of_one",
    "verdict_of_several",
]

_NAME_LIMIT = 40
_MANY = {"history": "histories"}
_MOST_FINDINGS = 6


#: Verdicts without a remaining contender.
NOT_COMPARABLE = "No assignor can be compared with another one."
NOT_RANKED = "Nothing could be ranked: no assignor has an answer with a figure that is better low or high."
TOO_MANY = "Too many assignors are compared to put them in an order: each is compared with the baseline below."


def alone(name: str) -> str:
    return f"{name} is alone: there is no other contender to compare it with."


def settings_words(settings: Mapping[str, str]) -> str:
    """The settings of a contender as the command line takes them."""
    return listed([f"{shortened(key, 60)}={shortened(value, _NAME_LIMIT)}" for key, value in settings.items()])


def best_everywhere(best: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The contenders that are best in each figure that differs; none if no figure differs, or no contender is."""
    named = [found for found in best if found]
    return tuple(name for name in named[0] if all(name in found for found in named)) if named else ()


def verdict_of_one(
    figures: Sequence[FigureCompared],
    names: Mapping[str, str],
    baseline: str,
    unit: str,
    settings: Mapping[str, str] | None = None,
) -> str:
    """The verdict over one state or play: the best contender in each figure, with the plain difference."""
    parts = [
        f"{_small(each.title)}: {_best_words(each, found, names, baseline, settings or {})}"
        for each in figures
        if (found := _best(each))
    ]
    unknown = missing_cost(figures)
    if not parts:
        return " ".join([_no_difference(figures, names, unit), *filter(None, [unknown])])
    best = best_everywhere(map(_best, figures))
    if unknown is not None:
        begin = f"There is no best contender. {unknown} Known is this much"
    elif best:
        begin = f"{listed([names[name] for name in best])} did best in this {unit}"
    else:
        begin = f"No contender did best in every figure of this {unit}"
    end = "." if unknown is None else ""
    begin = f"{begin}{end}" if unknown is None else f"{begin}:"
    shown = (
        f"{begin} Best in {'; best in '.join(parts)}." if unknown is None else f"{begin} best in {'; '.join(parts)}."
    )
    alike = _within_error(figures, names)
    return f"{shown} {alike}" if alike else shown


def missing_cost(figures: Sequence[FigureCompared]) -> str | None:
    """A sentence on a cost that may decide and is unknown; ``None``: all such costs are known."""
    for each in figures:
        if each.not_measured is not None and each.remedy is not None:
            return f"A cost that may decide is unknown: {each.not_measured}. To include it, {each.remedy}."
    return None


def _no_difference(figures: Sequence[FigureCompared], names: Mapping[str, str], unit: str) -> str:
    alike = _within_error(figures, names)
    if alike:
        return alike
    differing = [each for each in figures if len(set(_values(each).values())) > 1]
    if differing:
        return f"All are closer than 1 % in this {unit}: {listed([_small(each.title) for each in differing])}."
    return f"All do the same in this {unit}, as far as the figures below go."


def _within_error(figures: Sequence[FigureCompared], names: Mapping[str, str]) -> str:
    """A sentence on the figures whose differences are within the error of the plays."""
    found = []
    for each in figures:
        values = _values(each)
        if _best(each) or len(set(values.values())) < 2 or not any(value.band for value in each.of):
            continue
        shown = listed([f"{names[value.assignor]} {_with_band(value, each.unit or '')}" for value in each.of])
        off = "" if not each.error else f", which is {100 * each.error:.0f} % off the recording"
        found.append(f"{_small(each.title)} ({shown}{off})")
    return f"No difference beyond the play's error in {'; '.join(found)}." if found else ""


def _with_band(value: ValueCompared, unit: str) -> str:
    text = mean(value.mean, unit)
    if value.band is None or value.band[0] == value.band[1]:
        return text
    return f"{text}, {mean(value.band[0], unit)} to {mean(value.band[1], unit)}"


def _best(each: FigureCompared) -> tuple[str, ...]:
    """The best contenders; without several plays, the plain difference decides."""
    return each.best if any(value.band for value in each.of) else best_of(_values(each), each.direction)


def _values(each: FigureCompared) -> dict[str, float]:
    return {value.assignor: value.mean for value in each.of}


def _best_words(
    each: FigureCompared,
    found: Sequence[str],
    names: Mapping[str, str],
    baseline: str,
    settings: Mapping[str, str],
) -> str:
    values = _values(each)
    best = [
        f"{names[name]} with {settings[name]}" if settings.get(name, names[name]) != names[name] else names[name]
        for name in found
    ]
    unit, lower = each.unit or "", each.direction == "lower"
    bound = (max if lower else min)(values[name] for name in found)
    is_exact = len({values[name] for name in found}) == 1
    value = mean(bound, unit) if is_exact else f"{'at most' if lower else 'at least'} {mean(bound, unit)}"
    other = baseline
    if baseline in found or baseline not in values:
        # If the baseline is the best, compare it with the next one.
        other = (min if lower else max)((name for name in values if name not in found), key=lambda name: values[name])
    if len(found) == 1:
        value = _with_band(next(value for value in each.of if value.assignor in found), unit)
    beside = f"{names[other]} {_with_band(next(value for value in each.of if value.assignor == other), unit)}"
    plain = f", {signed(values[other] - bound, unit)}" if is_exact else ""
    return f"{listed(best)} ({value}; {beside}{plain})"


def verdict_of_several(
    figures: Sequence[FigureCompared],
    names: Mapping[str, str],
    baseline: str | None,
    first: Sequence[str],
    unit: str,
) -> str:
    """The verdict over several states: the contenders that are behind in none, and the findings."""
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


def _without_findings(figures: Sequence[FigureCompared]) -> str:
    tells = {value.tells for each in figures for value in each.of}
    if "none" in tells:
        return "No contender is best: no figure has an interval (too few states differ, or too unevenly)."
    if "unclear" in tells:
        return "No contender is best: no difference is beyond chance."
    return "All do the same, as far as the figures below go."


def findings(figures: Sequence[FigureCompared], names: Mapping[str, str], baseline: str | None, unit: str) -> list[str]:
    """The differences from the baseline beyond chance: contender, figure, and number of states.

    The first one names the baseline, and consecutive ones of one contender name it once.
    """
    other = "" if baseline is None else f" than {names.get(baseline, baseline)}"
    beyond = [
        (each, value)
        for each in figures
        for value in each.of
        if value.assignor in names and value.tells in ("better", "worse")
    ]
    sentences = []
    for number, (each, value) in enumerate(beyond):
        is_same = number and beyond[number - 1][1].assignor == value.assignor
        prefix, than = "" if is_same else f"{names[value.assignor]}: ", "" if number else other
        sentences.append(f"{prefix}{_small(each.title)} {value.tells}{than} {how_often(value, each.direction, unit)}")
    return sentences


def how_often(value: ValueCompared, direction: str | None, unit: str) -> str:
    """In how many states the contender is better or worse, such as ``in 31 of 33 decisions, better in none``."""
    if value.lower is None or value.equal is None or value.higher is None:
        return "on average"
    better, worse = (value.lower, value.higher) if direction == "lower" else (value.higher, value.lower)
    states = plural(value.lower + value.equal + value.higher, unit, _MANY.get(unit))
    if value.tells == "better":
        return f"in {figure(better)} of {states}, worse in {figure(worse) if worse else 'none'}"
    if value.tells == "worse":
        return f"in {figure(worse)} of {states}, better in {figure(better) if better else 'none'}"
    if value.tells == "none":
        # Without an interval the direction is counted, not judged.
        more, word = (value.lower, "lower") if value.lower >= value.higher else (value.higher, "higher")
        return f"{word} in {figure(more)} of {states}"
    return f"better in {figure(better)} of {states}, worse in {figure(worse) if worse else 'none'}"


def _small(title: str) -> str:
    return f"{title[:1].lower()}{title[1:]}"
