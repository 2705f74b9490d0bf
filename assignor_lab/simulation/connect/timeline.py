"""Timeline of a simulated group as text: rows of workers, columns of time."""

from __future__ import annotations

from assignor_lab.simulation.connect.cluster import SimulatedCluster

__all__ = ["timeline"]

#: Share of the largest number of jobs, from few to all.
_LEVELS = "▁▂▃▄▅▆▇█"


def timeline(cluster: SimulatedCluster, start_ms: int, end_ms: int, width: int = 100) -> list[str]:
    """Rows of a timeline.

    A worker's row shows its jobs at the end of each stretch: a bar from ``▁`` to ``█`` (the most that any worker ever
    ran), ``·`` for none, a blank while its process was down. The last row has ``|`` for a rebalance that ended in the
    stretch, ``#`` for several.
    """
    step = max(1, -(-(end_ms - start_ms) // width))
    columns = -(-(end_ms - start_ms) // step)
    counts = {name: [0] * columns for name in cluster.lives}
    for runs in cluster.runs.runs.values():
        for run in runs:
            end = end_ms if run.end_ms is None else run.end_ms
            first = max(0, -(-(run.start_ms - start_ms) // step) - 1)
            last = min(columns, -(-(end - start_ms) // step) - 1) if run.end_ms is not None else columns
            row = counts[run.worker]
            for column in range(first, last):
                row[column] += 1
    most = max((count for row in counts.values() for count in row), default=0)
    label = max((len(name) for name in (*counts, "rebalances")), default=0)
    rows = []
    for name, row in counts.items():
        signs = "".join(
            _sign(count, most, up=_is_up(cluster, name, start_ms + (column + 1) * step))
            for column, count in enumerate(row)
        )
        rows.append(f"{name:<{label}}  {signs}")
    rows.append(f"{'rebalances':<{label}}  {_marks(cluster, start_ms, step, columns)}".rstrip())
    seconds = (end_ms - start_ms) / 1000
    rows.append(f"{'':<{label}}  one column = {step / 1000:g} s, {seconds:g} s in all; █ = {most} jobs")
    return rows


def _sign(count: int, most: int, *, up: bool) -> str:
    if count:
        return _LEVELS[max(0, -(-count * len(_LEVELS) // most) - 1)]
    return "·" if up else " "


def _is_up(cluster: SimulatedCluster, name: str, time_ms: int) -> bool:
    return any(begin < time_ms and (end is None or time_ms <= end) for begin, end in cluster.lives[name])


def _marks(cluster: SimulatedCluster, start_ms: int, step: int, columns: int) -> str:
    marks = [0] * columns
    for each in cluster.rounds:
        column = (each.joined_ms - start_ms) // step
        if 0 <= column < columns:
            marks[column] += 1
    return "".join(" " if not count else "|" if count == 1 else "#" for count in marks)
