"""Timeline of a simulated group as text: rows of workers, columns of time."""

from __future__ import annotations

from collections.abc import Sequence

from assignor_lab.model.history import GroupHistory

__all__ = ["timeline"]

#: Share of the largest number of jobs, from few to all.
_LEVELS = "▁▂▃▄▅▆▇█"


def timeline(history: GroupHistory, width: int = 100) -> list[str]:
    """Rows of a timeline of a history with courses.

    A worker's row shows its jobs at the end of each stretch: a bar from ``▁`` to ``█`` (the most that any worker ever
    ran), ``·`` for none, a blank while its process was down. The last row has ``|`` for a rebalance that ended in the
    stretch, ``#`` for several.
    """
    start_ms, end_ms = history.begin_ms or 0, history.until_ms or 0
    lives = history.lives
    step = max(1, -(-(end_ms - start_ms) // width))
    columns = -(-(end_ms - start_ms) // step)
    counts = {name: [0] * columns for name in lives}
    for course in (*history.courses.values(), *history.connectors.values()):
        for run in course.runs:
            first = max(0, -(-(run.begin_ms - start_ms) // step) - 1)
            last = columns if run.lasts else min(columns, -(-(run.end_ms - start_ms) // step) - 1)
            row = counts[run.instance]
            for column in range(first, last):
                row[column] += 1
    most = max((count for row in counts.values() for count in row), default=0)
    label = max((len(name) for name in (*counts, "rebalances")), default=0)
    rows = []
    for name, row in counts.items():
        signs = "".join(
            _sign(count, most, up=_is_up(lives[name], start_ms + (column + 1) * step))
            for column, count in enumerate(row)
        )
        rows.append(f"{name:<{label}}  {signs}")
    rows.append(f"{'rebalances':<{label}}  {_marks(history.joined_ms, start_ms, step, columns)}".rstrip())
    seconds = (end_ms - start_ms) / 1000
    rows.append(f"{'':<{label}}  one column = {step / 1000:g} s, {seconds:g} s in all; █ = {most} jobs")
    return rows


def _sign(count: int, most: int, *, up: bool) -> str:
    if count:
        return _LEVELS[max(0, -(-count * len(_LEVELS) // most) - 1)]
    return "·" if up else " "


def _is_up(lives: Sequence[tuple[int, int | None]], time_ms: int) -> bool:
    return any(begin < time_ms and (end is None or time_ms <= end) for begin, end in lives)


def _marks(times_ms: Sequence[int], start_ms: int, step: int, columns: int) -> str:
    marks = [0] * columns
    for at_ms in times_ms:
        column = (at_ms - start_ms) // step
        if 0 <= column < columns:
            marks[column] += 1
    return "".join(" " if not count else "|" if count == 1 else "#" for count in marks)
