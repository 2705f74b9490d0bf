"""The Gantt picture of an episode as paths of SVG: a row for each task, by sub-topology, and marks for rebalances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from assignor_lab.documents.wording import figure, natural_order, plural
from assignor_lab.model.pictures import DownTimes, Gantt
from assignor_lab.report.drawings.changes import HEAD, ChangeSign, change_signs
from assignor_lab.report.summary.down_times import CAUSES, clock

__all__ = ["COLOURS", "GanttBar", "GanttDrawing", "GanttLabel", "drawing"]

#: Colours of the style sheet, in the order of use for instances.
COLOURS = 8
#: In units of the drawing: left margin for labels, width of the plot, height of a row and of its bar.
LEFT, WIDTH, ROW, BAR = 64.0, 736.0, 12.0, 9.0
#: Steps between labelled times in milliseconds, and the most labels.
_STEPS_MS = tuple(
    unit * number
    for unit in (1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000, 86_400_000, 864_000_000)
    for number in (1, 2, 5)
)
_MOST_TICKS = 9
LABEL = 12
MOST_TITLES = 2_000
#: Gap between two sub-topologies, height of the axis below the rows, and of the clock axis below that.
GAP, FOOT, CLOCK = 6.0, 18.0, 10.0


@attrs.frozen
class GanttLabel:
    """A text at a position of the drawing."""

    x: float
    y: float
    text: str


@attrs.frozen
class GanttBar:
    """One bar: its class in the style sheet, its path, and its tooltip."""

    kind: str
    path: str
    title: str


@attrs.frozen
class GanttDrawing:
    """A picture in its own units.

    Args:
        until_ms: End of the time axis.
        bars: All bars individually with their titles; empty if there are too many.
        reasons: The marks individually, each with its moment and its reason; empty if no reason is known.
        changes: Starts, stops and crashes of instances, by kind.
    """

    height: float
    owners: tuple[tuple[str, int, str], ...]
    restoring: str
    unowned: str
    marks: str
    tasks: tuple[GanttLabel, ...]
    times: tuple[GanttLabel, ...]
    words: str
    until_ms: int
    bars: tuple[GanttBar, ...] = ()
    reasons: tuple[GanttBar, ...] = ()
    clock: tuple[GanttLabel, ...] = ()
    changes: tuple[ChangeSign, ...] = ()

    def x(self, moment_ms: int) -> float:
        return _x(moment_ms, self.until_ms)


def drawing(
    gantt: Gantt, down: DownTimes | None = None, reasons: Sequence[str] = (), begun_ms: int | None = None
) -> GanttDrawing:
    """The drawing of a Gantt picture.

    Args:
        begun_ms: Clock time at the start of the picture, in epoch milliseconds, if ``down`` has none.
    """
    end = max(1, gantt.until_ms)
    begun = begun_ms if begun_ms is not None or down is None else down.begun_ms
    tops: list[float] = []
    top, before = 2.0 + (HEAD if gantt.changes else 0.0), None
    for row in gantt.rows:
        subtopology = row.task.rpartition("_")[0]
        top += GAP if before not in (None, subtopology) else 0.0
        tops.append(top)
        top, before = top + ROW, subtopology
    owners: list[list[str]] = [[] for _ in gantt.instances]
    waiting: tuple[list[str], list[str]] = ([], [])
    for row, at in zip(gantt.rows, tops, strict=True):
        for begin, to, owner in (stretch for stretch in row.runs if len(stretch) == 3):
            if 0 <= owner < len(owners):
                owners[owner].append(_bar(begin, to, at, end))
        for begin, to, restores in (stretch for stretch in row.waits if len(stretch) == 3):
            waiting[bool(restores)].append(_bar(begin, to, at, end))
    has_clock = bool(clock(begun, 0))
    signs = change_signs(gantt.changes or (), end, top, lambda at: _x(at, end), begun)
    return GanttDrawing(
        height=top + FOOT + (CLOCK if has_clock else 0.0),
        owners=tuple(
            (gantt.instances[place], number % COLOURS, "".join(owners[place]))
            for number, place in enumerate(_by_name(gantt))
        ),
        restoring="".join(waiting[True]),
        unowned="".join(waiting[False]),
        marks="".join(f"M{_x(mark, end):.1f} 0V{top:.1f}" for mark in gantt.marks if 0 <= mark <= end),
        tasks=tuple(
            GanttLabel(LEFT - 6, at + BAR - 1, _end_of(row.task)) for row, at in zip(gantt.rows, tops, strict=True)
        ),
        times=tuple(GanttLabel(_x(at, end), top + FOOT - 4, f"{figure(at / 1_000)} s") for at in _ticks(end)),
        words=_words(gantt, signs),
        until_ms=end,
        bars=_bars(gantt, tops, end, down, begun),
        reasons=tuple(
            GanttBar("reason", f"M{_x(mark, end):.1f} 0V{top:.1f}", _reason_title(mark, reason, begun))
            for mark, reason in zip(gantt.marks, reasons, strict=False)
            if 0 <= mark <= end
        ),
        clock=tuple(
            GanttLabel(_x(at, end), top + FOOT + CLOCK - 4, clock(begun, at).partition(".")[0])
            for at in (_ticks(end) if has_clock else ())
        ),
        changes=signs,
    )


def _bars(
    gantt: Gantt, tops: Sequence[float], end: int, down: DownTimes | None, begun: int | None
) -> tuple[GanttBar, ...]:
    if sum(len(row.runs) + len(row.waits) for row in gantt.rows) > MOST_TITLES:
        return ()
    causes = {} if down is None else {
        (task.task, *each[:2]): CAUSES.get(down.causes[each[2]], down.causes[each[2]])
        for task in down.tasks
        for each in task.intervals
        if len(each) == 5 and 0 <= each[2] < len(down.causes)
    }  # fmt: skip
    colours = {owner: number % COLOURS for number, owner in enumerate(_by_name(gantt))}
    ran, waited = [], []
    for row, at in zip(gantt.rows, tops, strict=True):
        for begin, to, owner in (stretch for stretch in row.runs if len(stretch) == 3):
            if owner in colours:
                title = _title(row.task, gantt.instances[owner], begin, to, begun)
                ran.append(GanttBar(f"owner c{colours[owner]}", _bar(begin, to, at, end), title))
        for begin, to, restores in (stretch for stretch in row.waits if len(stretch) == 3):
            why = causes.get((row.task, begin, to), "state comes back" if restores else "no owner")
            title = _title(row.task, why if restores else f"down, {why}" if causes else why, begin, to, begun)
            waited.append(GanttBar("restoring" if restores else "unowned", _bar(begin, to, at, end), title))
    return (*ran, *waited)


def _end_of(name: str) -> str:
    """The end of a long name, which distinguishes a connector's tasks."""
    return name if len(name) <= LABEL else f"…{name[1 - LABEL :]}"


def _by_name(gantt: Gantt) -> list[int]:
    return sorted(range(len(gantt.instances)), key=lambda place: natural_order(gantt.instances[place]))


def _title(task: str, label: str, begin: int, to: int, begun: int | None) -> str:
    at, until = clock(begun, begin), clock(begun, to)
    times = f" ({at} to {until} UTC)" if at and until else ""
    return f"{task}: {label}, from {figure(begin / 1_000)} s to {figure(to / 1_000)} s{times}"


def _reason_title(mark: int, reason: str, begun: int | None) -> str:
    at = clock(begun, mark)
    return f"{figure(mark / 1_000)} s{f' ({at} UTC)' if at else ''}: {reason or 'unknown reason'}"


def _ticks(end: int) -> range:
    step = next((step for step in _STEPS_MS if end / step <= _MOST_TICKS), end // _MOST_TICKS)
    return range(0, end + 1, step)


def _x(moment_ms: int, end_ms: int) -> float:
    return LEFT + WIDTH * min(max(moment_ms, 0), end_ms) / end_ms


def _bar(begin: int, to: int, top: float, end: int) -> str:
    left = _x(begin, end)
    # Keep short bars visible.
    width = max(_x(to, end) - left, 0.6)
    return f"M{left:.1f} {top:.1f}h{width:.1f}v{BAR:g}h-{width:.1f}z"


def _words(gantt: Gantt, signs: Iterable[ChangeSign]) -> str:
    away = _seconds(stretch for row in gantt.rows for stretch in row.waits if stretch[2:] == (0,))
    restoring = _seconds(stretch for row in gantt.rows for stretch in row.waits if stretch[2:] == (1,))
    return (
        f"{plural(len(gantt.rows), 'task')} of {plural(len(gantt.instances), 'instance')} over "
        f"{figure(gantt.until_ms / 1000)} s: {figure(away)} task-seconds without an owner, {figure(restoring)} while "
        f"state came back, {plural(len(gantt.marks), 'rebalance')}"
        + "".join(f"; {each.words}: {figure(len(each.marks))}" for each in signs)
    )


def _seconds(stretches: Iterable[tuple[int, ...]]) -> float:
    return sum(stretch[1] - stretch[0] for stretch in stretches) / 1000
