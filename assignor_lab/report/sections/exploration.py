"""The parts of the page with a filter for family and size: histograms, differences, worst cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from assignor_lab.documents.wording import figure, plural
from assignor_lab.model.comparisons import SizeClass, SummaryDifference, SummarySlices, WorstState
from assignor_lab.model.run_summary import Results, SummaryMetric, metrics_by_group
from assignor_lab.report import words
from assignor_lab.report.drawings.charts import Forest, Histogram, forests, histogram
from assignor_lab.report.sections.headline import folded

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

#: Most listed worst cases; the worst of each kind, assignor and metric come first.
MOST_CASES = 1_000
NOT_GENERATED = "not generated"


@attrs.frozen
class Choices:
    """Filters of the page: value and words of each choice, families and sizes."""

    families: tuple[tuple[int, str], ...]
    sizes: tuple[tuple[int, str], ...]
    combined: bool


def choices(slices: SummarySlices | None) -> Choices | None:
    """The choices; ``None`` if there is nothing to choose from."""
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
    """For each assignor and metric the position of its figures among those of the parts, and the drawing for all."""
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
        verdict: The interval's verdict: ``better``, ``worse``, ``lower``, ``higher``, ``equal`` or ``unclear``;
            ``none`` if a reason replaces it.
        place: Its position among the differences in parts of the run, or ``None``.
    """

    name: str
    difference: SummaryDifference
    drawing: Forest | None
    verdict: str
    better: int
    worse: int
    place: int | None


@attrs.frozen
class DifferenceTable:
    """One metric."""

    metric: SummaryMetric
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
    """All differences, by kind of metric; metrics without comparable assignors are left out."""
    of_metric: dict[str, list[SummaryDifference]] = {}
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
    metric: SummaryMetric,
    differences: list[SummaryDifference],
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


def _verdict(difference: SummaryDifference, direction: str) -> str:
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
    """A worst state of an assignor.

    Args:
        why: Reason for its listing, in words.
    """

    name: str
    case: WorstState
    why: str
    family: int | None


@attrs.frozen
class CaseTable:
    """Worst cases in one metric."""

    metric: SummaryMetric
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
    """The worst cases by kind of metric, at most ``MOST_CASES``: the worst of each assignor first, then second ones."""
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


# --- time by step ---------------------------------------------------------------------------------

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
