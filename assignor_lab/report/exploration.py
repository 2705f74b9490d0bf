"""The parts of the page that can be narrowed to a family and a size: histograms, differences, worst cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from assignor_lab.documents.wording import figure, plural
from assignor_lab.report import words
from assignor_lab.report.charts import Forest, Histogram, forests, histogram
from assignor_lab.report.comparison import Difference, SizeClass, Slices, WorstState
from assignor_lab.report.headline import folded
from assignor_lab.report.summary import Metric, Results, metrics_by_group

__all__ = [
    "CaseGroup",
    "CaseRow",
    "CaseTable",
    "Choices",
    "DifferenceGroup",
    "DifferenceRow",
    "DifferenceTable",
    "case_groups",
    "choices",
    "difference_groups",
    "histograms",
    "share_rows",
]

#: Worst cases that are listed; of each kind, assignor and metric the worst come first.
MOST_CASES = 1_000
#: What the states are called that no family made.
NOT_GENERATED = "not generated"


@attrs.frozen
class Choices:
    """What the page can be narrowed to: value and words of each choice, families and sizes.

    Args:
        families: Families.
        sizes: Size classes.
        combined: Whether a family and a size can be chosen together.
    """

    families: tuple[tuple[int, str], ...]
    sizes: tuple[tuple[int, str], ...]
    combined: bool


def choices(slices: Slices | None) -> Choices | None:
    """The choices; ``None`` where there is nothing to choose from."""
    if slices is None or len(slices.of) < 2:
        return None
    families = tuple(
        (place, NOT_GENERATED if name is None else name.replace("_", " ")) for place, name in enumerate(slices.families)
    )
    sizes = tuple((place, size_words(size)) for place, size in enumerate(slices.sizes))
    combined = any(part.family is not None and part.size is not None for part in slices.of)
    return Choices(families if len(families) > 1 else (), sizes if len(sizes) > 1 else (), combined)


def size_words(size: SizeClass) -> str:
    """``4 to 8 clients``."""
    if size.high is None:
        return f"{figure(size.low)} clients or more"
    return plural(size.low, "client") if size.high == size.low else f"{figure(size.low)} to {figure(size.high)} clients"


def histograms(results: Results) -> dict[tuple[str, str], tuple[int, Histogram | None]]:
    """For each assignor and metric the place of its figures among those of the parts, and the drawing for all."""
    slices = results.slices
    if slices is None:
        return {}
    bins = {each.metric: each for each in slices.bins}
    units = {metric.name: metric.unit for metric in results.metrics}
    return {
        (each.assignor, each.metric): (
            place,
            histogram(bins[each.metric], each.counts[0], each.mean[0], units.get(each.metric, "")),
        )
        for place, each in enumerate(slices.figures)
        if each.metric in bins and each.counts
    }


# --- differences ----------------------------------------------------------------------------------


@attrs.frozen
class DifferenceRow:
    """One assignor against the baseline in one metric.

    Args:
        name: The assignor.
        difference: The figures.
        drawing: Where the interval lies; ``None`` without one.
        verdict: What the interval tells: ``better``, ``worse``, ``lower``, ``higher``, ``equal`` or ``unclear``;
            ``none`` where a reason stands in its place.
        better: Histories in which it does better than the baseline.
        worse: Histories in which it does worse.
        place: Its place among the differences in parts of the run, or ``None``.
    """

    name: str
    difference: Difference
    drawing: Forest | None
    verdict: str
    better: int
    worse: int
    place: int | None


@attrs.frozen
class DifferenceTable:
    """One metric."""

    metric: Metric
    label: str
    better: str
    rows: tuple[DifferenceRow, ...]


@attrs.frozen
class DifferenceGroup:
    """Metrics of one kind; those of ``folded`` are one click away."""

    name: str
    tables: tuple[DifferenceTable, ...]
    folded: tuple[DifferenceTable, ...] = ()


def difference_groups(results: Results, names: Mapping[str, str]) -> tuple[DifferenceGroup, ...]:
    """All differences, by kind of metric; those in which nobody can be compared are left out."""
    of_metric: dict[str, list[Difference]] = {}
    for each in results.differences:
        if each.assignor in names and each.histories:
            of_metric.setdefault(each.metric, []).append(each)
    of_parts = results.slices.differences if results.slices is not None else ()
    places = {(each.assignor, each.metric): place for place, each in enumerate(of_parts)}
    groups = []
    for name, metrics in metrics_by_group(results):
        tables = tuple(
            _table(metric, of_metric[metric.name], names, places) for metric in metrics if metric.name in of_metric
        )
        if tables:
            groups.append(DifferenceGroup(name, *folded(name, tables, results)))
    return tuple(groups)


def _table(
    metric: Metric,
    differences: list[Difference],
    names: Mapping[str, str],
    places: Mapping[tuple[str, str], int],
) -> DifferenceTable:
    rows = []
    for each, drawing in zip(differences, forests(differences), strict=True):
        ahead, behind = (each.higher, each.lower) if metric.direction == "higher" else (each.lower, each.higher)
        verdict = _verdict(each, metric.direction)
        place = places.get((each.assignor, each.metric))
        rows.append(DifferenceRow(names[each.assignor], each, drawing, verdict, ahead, behind, place))
    return DifferenceTable(metric, words.label(metric), words.better(metric), tuple(rows))


def _verdict(difference: Difference, direction: str) -> str:
    low, high, why = difference.low, difference.high, difference.no_interval
    if difference.lower == difference.higher == 0 and (why is None or why.code == "same"):
        return "equal"
    if why is not None:
        return "none"
    if low is None or high is None or low <= 0 <= high:
        return "unclear"
    is_lower = high < 0
    if direction == "none":
        return "lower" if is_lower else "higher"
    return "better" if is_lower == (direction == "lower") else "worse"


# --- worst cases ----------------------------------------------------------------------------------


@attrs.frozen
class CaseRow:
    """A state in which an assignor does worst.

    Args:
        name: The assignor.
        case: The state.
        why: Why it is here, in words.
        family: Position of its family, or ``None``.
    """

    name: str
    case: WorstState
    why: str
    family: int | None


@attrs.frozen
class CaseTable:
    """Worst cases in one metric."""

    metric: Metric
    label: str
    rows: tuple[CaseRow, ...]


@attrs.frozen
class CaseGroup:
    """Worst cases in metrics of one kind."""

    name: str
    number: int
    tables: tuple[CaseTable, ...]


_WHY = {"value": "worst figure", "difference": "furthest behind the baseline"}


def case_groups(results: Results, names: Mapping[str, str]) -> tuple[CaseGroup, ...]:
    """The worst cases by kind of metric, at most ``MOST_CASES``: the worst of everybody come before second ones."""
    families = list(results.slices.families) if results.slices is not None else []
    of_metric: dict[str, dict[tuple[str, str, int], CaseRow]] = {}
    for case in _worst_first(case for case in results.worst_cases if case.assignor in names):
        rows = of_metric.setdefault(case.metric, {})
        state = case.assignor, case.scenario, case.round
        known, why = rows.get(state), _WHY.get(case.by, case.by)
        if known is not None:
            rows[state] = attrs.evolve(known, why=f"{known.why}, {why}")
        else:
            family = families.index(case.family) if case.family in families else None
            rows[state] = CaseRow(names[case.assignor], case, why, family)
    groups = []
    for name, metrics in metrics_by_group(results):
        tables = tuple(
            CaseTable(metric, words.label(metric), tuple(of_metric[metric.name].values()))
            for metric in metrics
            if metric.name in of_metric
        )
        if tables:
            groups.append(CaseGroup(name, sum(len(table.rows) for table in tables), tables))
    return tuple(groups)


def _worst_first(cases: Iterable[WorstState]) -> list[WorstState]:
    rank: dict[tuple[str, str, str], int] = {}
    ranked = []
    for position, case in enumerate(cases):
        key = case.assignor, case.metric, case.by
        rank[key] = rank.get(key, 0) + 1
        ranked.append((rank[key], position, case))
    kept = sorted(ranked, key=lambda entry: entry[:2])[:MOST_CASES]
    return [case for _, _, case in sorted(kept, key=lambda entry: entry[1])]


# --- where the time went --------------------------------------------------------------------------

_SHARES = {
    "build": "Making the states",
    "assign": "The assignors",
    "metrics": "Measuring the answers",
    "spark": "Spark and waiting",
}


def share_rows(shares: Mapping[str, float] | None) -> tuple[tuple[str, float], ...]:
    """Shares of the cores' time in words, the largest first."""
    known = [(_SHARES.get(name, name.replace("_", " ")), share) for name, share in (shares or {}).items() if share > 0]
    return tuple(sorted(known, key=lambda entry: -entry[1]))
