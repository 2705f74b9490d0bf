"""The table of replica counts as sentences, rows and a JSON document."""

from __future__ import annotations

from collections.abc import Sequence

from assignor_lab.documents.wording import listed, plural
from assignor_lab.planning.predicted import Range
from assignor_lab.planning.range_words import interval_words, range_document, seconds_words
from assignor_lab.planning.scaling.table import (
    BEHIND,
    NO_GAIN,
    PRESENT,
    UNKNOWN,
    USEFUL,
    WASTED,
    WORSE,
    ScalingRow,
    ScalingTable,
)

__all__ = ["columns", "row_cells", "table_document", "the_sentences"]

_MOST_NAMED = 12


def the_sentences(table: ScalingTable, remedies: Sequence[str] = ()) -> list[str]:
    """The answer: the count to choose and its reason, counts that are worse, counts that are wasted.

    Args:
        remedies: Options that give the unknown facts of the lag.
    """
    found = []
    if table.useless is not None:
        found.append(f"No larger count of the table helps: {table.useless}.")
    found.append(_recommendation(table, remedies))
    worse = [row for row in table.rows if row.verdict == WORSE]
    if worse:
        found.append(f"{_counts(worse, table.unit)} make{_s(worse)} the lag worse than no scaling.")
    late = [row for row in table.rows if row.verdict == BEHIND]
    if late:
        found.append(f"{_counts(late, table.unit)} cannot keep up with the input.")
    wasted = [row for row in table.rows if row.verdict == WASTED]
    if wasted:
        found.append(
            f"Wasted, with the busiest {table.thread} of a smaller count{_and_lag(table)}: "
            f"{listed([f'{row.count} (as {row.same_as})' for row in wasted[:_MOST_NAMED]])}"
            f"{'' if len(wasted) <= _MOST_NAMED else f' and {len(wasted) - _MOST_NAMED} more'}."
        )
    idle = [row for row in table.rows if row.placement.idle]
    if idle:
        found.append(
            f"Idle {table.unit}s: {listed([f'{row.placement.idle} of {row.count}' for row in idle[:_MOST_NAMED]])}."
        )
    return found


def _recommendation(table: ScalingTable, remedies: Sequence[str]) -> str:
    present, unit = table.present, table.unit
    if not table.is_forecast:
        useful = [str(row.count) for row in table.rows if row.verdict == USEFUL]
        which = f" Counts whose busiest {table.thread} has less work: {listed(useful[:_MOST_NAMED])}." if useful else ""
        return f"No count can be recommended, as the lag is unknown: give {listed(list(remedies))}.{which}"
    needed = f"the input is {_rate(table.needed, table)} at most"
    row = present if table.recommended is None else table.row(table.recommended)
    fits = (row.throughput or 0) >= (table.needed or 0)
    count, most = plural(row.count, unit), f"the busiest {table.thread} allows {_rate(row.throughput, table)}"
    if row is present:
        reason = "" if fits else ", and no other count of the table is better"
        return f"Stay at {count}: {most}, and {needed}{reason}."
    if row.count < present.count and row.break_even_s is None:
        return f"Scale in to {count}: {most}, and {needed}."
    when = "" if row.break_even_s is None else _when(row.break_even_s)
    reason = "" if fits else ": no count of the table keeps up, and this one is the smallest with the most throughput"
    return f"Scale to {count}{when}; {most}, and {needed}{reason}."


def _when(after: Range) -> str:
    return f": the lag is lower than without scaling after {seconds_words(after.median)} s"


def _rate(value: float | None, table: ScalingTable) -> str:
    if value is None:
        return "unknown"
    if table.rates_unit == "bytes":
        return f"{value / 1024 / 1024:,.2f} MiB/s"
    return f"{value:,.0f} records/s" if value >= 10 else f"{value:,.1f} records/s"


def _counts(rows: Sequence[ScalingRow], unit: str) -> str:
    numbers = [str(row.count) for row in rows[:_MOST_NAMED]]
    if len(rows) > _MOST_NAMED:
        numbers.append(f"{len(rows) - _MOST_NAMED} more")
    return f"{listed(numbers)} {unit}{'' if len(rows) == 1 and rows[0].count == 1 else 's'}"


def _s(rows: Sequence[ScalingRow]) -> str:
    return "s" if len(rows) == 1 and rows[0].count == 1 else ""


def columns(table: ScalingTable) -> tuple[str, ...]:
    """The columns; those of the lag only if it is known."""
    lag = ("throughput", "lag lower after s") if table.is_forecast else ("speed",)
    return (
        f"{table.unit}s", f"{table.task}s of each", f"idle {table.thread}s", f"busiest {table.thread}", *lag,
        "away now", "away later", "ready s", "at rest s", "rebalances", "verdict",
    )  # fmt: skip


def row_cells(table: ScalingTable, row: ScalingRow) -> tuple[str, ...]:
    low, high = row.placement.tasks
    each = str(low) if low == high else f"{low} to {high}"
    lag: tuple[str, ...] = (f"{row.placement.speed / table.present.placement.speed:.2f} x",)
    if table.is_forecast:
        lag = (_rate(row.throughput, table), "" if row.break_even_s is None else interval_words(row.break_even_s))
    return (
        str(row.count),
        each,
        _idle(row, table),
        f"{row.placement.busiest:.0%}",
        *lag,
        _median(row.now),
        _median(row.later),
        _median(row.ready_s),
        "" if row.verdict == PRESENT else ("never" if row.rest_s is None else _median(row.rest_s)),
        "" if row.rebalances is None else str(round(row.rebalances.median)),
        _verdict(row),
    )


def _and_lag(table: ScalingTable) -> str:
    return " and no less lag" if table.is_forecast else ""


def _idle(row: ScalingRow, table: ScalingTable) -> str:
    if not row.placement.idle or table.unit == table.thread:
        return str(row.placement.idle_threads)
    return f"{row.placement.idle_threads} ({plural(row.placement.idle, table.unit)})"


def _median(of: Range | None) -> str:
    return "" if of is None else seconds_words(of.median)


def _verdict(row: ScalingRow) -> str:
    if row.verdict == WASTED:
        return f"wasted: as {row.same_as}"
    if row.verdict == USEFUL and row.same_as is not None:
        return f"less lag, busiest as {row.same_as}"
    return {PRESENT: "as it is", USEFUL: "", UNKNOWN: "", NO_GAIN: "no gain"}.get(row.verdict, row.verdict)


def table_document(table: ScalingTable, remedies: Sequence[str]) -> dict[str, object]:
    return {
        "sentences": the_sentences(table, remedies),
        "recommended": table.recommended,
        "useless": table.useless,
        "unit": table.unit,
        "input": {"needed": _rounded(table.needed), "unit": table.rates_unit, "unknown": list(remedies)},
        "present": _row(table.present),
        "counts": {str(row.count): _row(row) for row in table.rows},
        "not_played": {str(count): reason for count, reason in table.not_played.items()},
        "assumptions": list(table.assumptions),
    }


def _row(row: ScalingRow) -> dict[str, object]:
    return {
        "count": row.count,
        "verdict": row.verdict,
        "same_as": row.same_as,
        "tasks": list(row.placement.tasks),
        "idle": row.placement.idle,
        "idle_threads": row.placement.idle_threads,
        "busiest_share": round(row.placement.busiest, 6),
        "throughput": _rounded(row.throughput),
        "break_even_seconds": _range(row.break_even_s),
        "worst_lag": _rounded(row.worst_lag),
        "lag_seconds": _rounded(row.lag_seconds),
        "now_task_seconds": _range(row.now),
        "later_task_seconds": _range(row.later),
        "worst_task_seconds": _range(row.worst_task_s),
        "ready_seconds": _range(row.ready_s),
        "rest_seconds": _range(row.rest_s),
        "rebalances": _range(row.rebalances),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _range(of: Range | None) -> dict[str, float] | None:
    return None if of is None else range_document(of)
