"""Timeline of a simulated episode as text: rows of tasks, columns of time."""

from __future__ import annotations

from assignor_lab.documents.wording import plural
from assignor_lab.simulation.streams.processing import NOBODY, NOT_NOTICED, REBALANCE, RESTORING, REVOKED
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["LEGEND", "timeline"]

_SIGNS = {NOT_NOTICED: "x", REBALANCE: "-", RESTORING: "r", REVOKED: "~", NOBODY: " "}
LEGEND = (
    "letters: the instance that runs it; x its owner is gone, unnoticed by the group, - the group rebalances, "
    "~ revoked and not yet assigned, r assigned and restoring, blank: the group has no members; rebalances: | one has "
    "ended, # several have"
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def timeline(played: PlayedStreamsEpisode, width: int = 100, most_tasks: int = 60) -> list[str]:
    """Rows of a timeline.

    A column of a task shows an interruption's cause, otherwise the owner. The last row has ``|`` for a generation in
    the stretch, ``#`` for several.
    """
    first, end = played.first_ms, played.world.begin_ms + played.episode.until_ms
    step = max(1, -(-(end - first) // width))
    columns = max(1, -(-(end - first) // step))
    names = list(played.world.instances)
    letter = {name: _LETTERS[index % len(_LETTERS)] for index, name in enumerate(names)}
    ledger = played.world.ledger
    away = [sum(to - begin for begin, to, _ in intervals) for intervals in ledger.intervals]
    shown = sorted(sorted(range(len(away)), key=lambda task: -away[task])[:most_tasks])
    label = max([len(str(played.world.tasks[task])) for task in shown] + [len("rebalances")])
    rows = [f"{letter[name]} = {name}" for name in names]
    for task in shown:
        cells = [" "] * columns
        for begin, to, owner in ledger.runs[task]:
            _paint(cells, begin - first, (end if to is None else to) - first, step, letter[owner])
        for begin, to, cause in ledger.intervals[task]:
            _paint(cells, begin - first, to - first, step, _SIGNS[cause])
        rows.append(f"{played.world.tasks[task]!s:<{label}}  {''.join(cells)}".rstrip())
    if len(shown) < len(away):
        rows.append(f"({plural(len(away) - len(shown), 'task')} with less downtime not shown)")
    marks = [0] * columns
    for generation in played.generations:
        column = (generation.assigned_ms - first) // step
        if 0 <= column < columns:
            marks[column] += 1
    signs = "".join(" " if not count else "|" if count == 1 else "#" for count in marks)
    rows.append(f"{'rebalances':<{label}}  {signs}".rstrip())
    rows.append(f"{'':<{label}}  one column = {step / 1000:g} s; {LEGEND}")
    return rows


def _paint(cells: list[str], begin: int, end: int, step: int, sign: str) -> None:
    for column in range(max(0, begin // step), min(len(cells), -(-end // step))):
        cells[column] = sign
