"""Timeline of a simulated episode as text: rows of tasks, columns of time."""

from __future__ import annotations

from assignor_lab.documents.wording import plural
from assignor_lab.model.history import GroupHistory
from assignor_lab.simulation.streams.processing import NOBODY, NOT_NOTICED, REBALANCE, RESTORING, REVOKED

__all__ = ["LEGEND", "timeline"]

_SIGNS = {NOT_NOTICED: "x", REBALANCE: "-", RESTORING: "r", REVOKED: "~", NOBODY: " "}
LEGEND = (
    "letters: the instance that runs it; x its owner is gone, unnoticed by the group, - the group rebalances, "
    "~ revoked and not yet assigned, r assigned and restoring, blank: the group has no members; rebalances: | one has "
    "ended, # several have"
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def timeline(history: GroupHistory, width: int = 100, most_tasks: int = 60) -> list[str]:
    """Rows of a timeline of a history with courses.

    A column of a task shows an interruption's cause, otherwise the owner. The last row has ``|`` for a generation in
    the stretch, ``#`` for several.
    """
    first, end = history.begin_ms or 0, history.until_ms or 0
    step = max(1, -(-(end - first) // width))
    columns = max(1, -(-(end - first) // step))
    letter = {each.name: _LETTERS[index % len(_LETTERS)] for index, each in enumerate(history.instances)}
    shown = history.tasks_by_downtime[:most_tasks]
    label = max([len(task) for task in shown] + [len("rebalances")])
    rows = [f"{letter[name]} = {name}" for name in letter]
    for task, course in history.courses.items():
        if task not in shown:
            continue
        cells = [" "] * columns
        for run in course.runs:
            _paint(cells, run.begin_ms - first, run.end_ms - first, step, letter[run.instance])
        for wait in course.waits:
            _paint(cells, wait.begin_ms - first, wait.end_ms - first, step, _SIGNS.get(wait.cause, "?"))
        rows.append(f"{task:<{label}}  {''.join(cells)}".rstrip())
    left_out = len(history.courses) - len(shown)
    if left_out:
        rows.append(f"({plural(left_out, 'task')} with less downtime not shown)")
    marks = [0] * columns
    for decision in history.decisions:
        column = (decision.at.latest_ms - first) // step
        if 0 <= column < columns:
            marks[column] += 1
    signs = "".join(" " if not count else "|" if count == 1 else "#" for count in marks)
    rows.append(f"{'rebalances':<{label}}  {signs}".rstrip())
    rows.append(f"{'':<{label}}  one column = {step / 1000:g} s; {LEGEND}")
    return rows


def _paint(cells: list[str], begin: int, end: int, step: int, sign: str) -> None:
    for column in range(max(0, begin // step), min(len(cells), -(-end // step))):
        cells[column] = sign
