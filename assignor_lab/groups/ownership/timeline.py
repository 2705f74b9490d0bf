"""Holders over time, from one decision to the next: rows of spans of time for a picture."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from assignor_lab.model.pictures import Gantt, GanttRow

__all__ = ["MOST_ROWS", "assigned_rows", "last_moment"]

MOST_ROWS = 60
#: Drawn length of the last decision, as a part of the time before it: its real end is unknown.
_LAST = 0.02

_Runs = list[tuple[int, int, int]]


def last_moment(times: Sequence[int]) -> int:
    """The end of a picture of decisions, a little after the last of them."""
    return max(times[-1] + max(int(times[-1] * _LAST), 1), 1)


def assigned_rows(
    times: Sequence[int],
    until_ms: int,
    instances: Sequence[str],
    given: Iterable[Mapping[str, Iterable[str]]],
    order: Callable[[str], Any],
    wanted: Iterable[Collection[str]] | None = None,
) -> Gantt:
    """Owners over time as in a play: a decision is valid until the next one.

    Args:
        order: Sort key of the rows.
        wanted: For each decision everything that needs a holder; ``None``: everything always.
    """
    place = {name: number for number, name in enumerate(instances)}
    stretches = list(zip(times, [*times[1:], until_ms], strict=True))
    runs: dict[str, _Runs] = {}
    for held, (at, end) in zip(given, stretches, strict=True):
        for name, tasks in held.items():
            for task in tasks:
                _add(runs.setdefault(task, []), at, end, place[name])
    missing = None if wanted is None else [(*span, names) for span, names in zip(stretches, wanted, strict=True)]
    kept = sorted(sorted(runs, key=lambda task: -len(runs[task]))[:MOST_ROWS], key=order)
    rows = []
    for task in kept:
        spans = (
            [(times[0], until_ms)] if missing is None else [(at, end) for at, end, names in missing if task in names]
        )
        waits = _gaps(runs[task], spans)
        rows.append(GanttRow(task, tuple(runs[task]), waits))
    return Gantt(until_ms, tuple(instances), tuple(rows), len(runs) - len(kept), tuple(times))


def _add(runs: _Runs, at: int, end: int, instance: int) -> None:
    if runs and runs[-1][1] == at and runs[-1][2] == instance:
        at = runs.pop()[0]
    runs.append((at, end, instance))


def _gaps(runs: Sequence[tuple[int, int, int]], spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    gaps: list[tuple[int, int, int]] = []
    for begin, until in spans:
        reached = begin
        for start, end, _ in (run for run in runs if run[1] > begin and run[0] < until):
            if start > reached:
                _missed(gaps, reached, start)
            reached = max(reached, end)
        if reached < until:
            _missed(gaps, reached, until)
    return tuple(gaps)


def _missed(gaps: _Runs, begin: int, until: int) -> None:
    if gaps and gaps[-1][1] == begin:
        begin = gaps.pop()[0]
    gaps.append((begin, until, 0))
